//! The ray.io API.

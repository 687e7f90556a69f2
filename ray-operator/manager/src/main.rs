//! The ray-operator binary.

fn main() {}

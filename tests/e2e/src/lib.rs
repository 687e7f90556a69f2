//! Tests of ray-operator with real Ray on a real node; see `tests/e2e`.

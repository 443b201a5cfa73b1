//! Measurements: benchmarks, limits of memory and work, sizes, and long runs.

pub(crate) mod bench;
pub(crate) mod footprint;
pub(crate) mod limits;
pub(crate) mod peers;
pub(crate) mod queues;
pub(crate) mod soak;

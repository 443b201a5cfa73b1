//! The clients: hand-written baselines, and agcore.

pub(crate) mod baseline;
pub(crate) mod hyper;
pub(crate) mod minimal;
pub(crate) mod reqwest;
pub(crate) mod tools;
pub(crate) mod ours;

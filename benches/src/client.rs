//! The clients: hand-written baselines, and agcore.

pub mod minimal;
pub mod hyper;
pub mod reqwest;
pub mod baseline;
pub mod tools;
pub mod ours;

//! The clients: hand-written floors, and agcore's.

pub(crate) mod floor;
pub(crate) mod hyper;
pub(crate) mod minimal;
pub(crate) mod reqwest;
pub(crate) mod tools;
pub(crate) mod ours;

//! The pure state machine: a test for each rule, then random scripts that are compared with a model.

mod support;

mod endings;
mod json;
mod questions;
mod random;
mod results;
mod rounds;
mod saved;
mod turn_start;
mod usage;

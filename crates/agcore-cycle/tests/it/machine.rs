//! The pure state machine of the cycle: a test for each rule, then random scripts against a model of it.

mod support;

mod begin;
mod endings;
mod json;
mod questions;
mod random;
mod results;
mod rounds;
mod usage;

//! Typed output: modes, repairs, tools, streams, refusals.

mod apis;
mod modes;
mod partial;
mod repairs;
mod shapes;
mod support;
mod tools;
mod vendors;

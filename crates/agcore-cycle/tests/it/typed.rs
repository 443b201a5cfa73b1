//! Typed output: each way of asking, repairs, tools, streams, refusals.

mod modes;
mod partial;
mod repairs;
mod shapes;
mod support;
mod tools;
mod wires;

//! The data that templates read: [`Value`] trees, and flat snapshots of serializable values.

mod fingerprint;
mod map;
mod tree;
mod deep;
mod convert;
mod json;
mod data;
mod snapshot;
mod writer;
mod serialize;
mod print;

pub(crate) use data::{Data, Segment, View};
pub use map::Map;
pub(crate) use print::{TextSink, print, print_json};
pub(crate) use serialize::snapshot;
pub use tree::{Object, Value};

//! The data that templates read: [`Value`], and flat snapshots of anything serializable.

mod name;
mod map;
mod tree;
mod convert;
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

//! The data that templates read: [`Value`], and a flat [`Snapshot`] of anything serializable.

mod convert;
mod data;
mod map;
mod name;
mod print;
mod serialize;
mod snapshot;
mod tree;
mod writer;

pub(crate) use data::{Data, Segment, View};
pub use map::Map;
pub(crate) use print::{TextSink, print, print_json};
pub(crate) use serialize::snapshot;
pub use tree::{Object, Value};

//! Tool search: requests contain few tools, and the model loads others when it needs them.

mod settings;
mod catalog;
mod listing;
mod tool;
mod executor;
mod shelf;

pub use self::settings::ToolSearch;
pub(crate) use self::shelf::ToolShelves;

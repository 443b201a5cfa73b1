//! [`ToolRegistry`]: the tools of an application, and the views that its agents have of them.

mod stats;
mod registration;
mod entry;
mod snapshot;
mod handle;
mod view;

pub use self::{
    entry::RegisteredTool,
    handle::{RegistryChange, ToolRegistry},
    registration::{IntoRegistration, Registration},
    snapshot::ToolSnapshot,
    stats::ToolStatistics,
    view::ToolView,
};

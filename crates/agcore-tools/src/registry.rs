//! [`ToolRegistry`]: the tools of an application, and the views that its agents have of them.

mod stats;
mod entry;
mod snapshot;
mod handle;
mod view;

pub use self::{
    entry::{IntoRegistration, RegisteredTool, Registration},
    handle::{RegistryChange, ToolRegistry},
    snapshot::ToolSnapshot,
    stats::ToolStatistics,
    view::ToolView,
};

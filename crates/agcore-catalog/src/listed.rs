//! Snapshots of public price lists: models and prices of many vendors at one day.

mod check;
pub(crate) mod difference;
mod compose;
pub(crate) mod confirm;
mod entry;
pub(crate) mod format;
pub(crate) mod header;
pub(crate) mod import;
mod kept;
mod litellm;
mod members;
mod merge;
pub(crate) mod model;
mod models_dev;
mod names;
pub(crate) mod prices;
mod row;
pub(crate) mod snapshot;
mod unique;
pub(crate) mod vendor;

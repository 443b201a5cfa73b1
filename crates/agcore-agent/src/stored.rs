//! Sessions in a store, and the contexts of one user beside each other.

mod sessions;
mod context_manager;

pub use self::{
    context_manager::{ContextManager, ContextsState},
    sessions::{BranchSession, CONTEXT_METADATA, OpenSession, StoredSessions},
};

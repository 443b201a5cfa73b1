//! Sessions in a store, the contexts of one user beside each other, and the cooldowns that processes share.

mod sessions;
mod context_manager;
mod shared_cooldowns;

pub use self::{
    context_manager::{ContextManager, ContextsState},
    sessions::{BranchSession, CONTEXT_METADATA, OpenSession, StoredSessions},
    shared_cooldowns::SharedCooldowns,
};

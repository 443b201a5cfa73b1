//! [`SharedState`]: a JSON document that an agent shares with an application.

mod contract;
mod local;
mod show;
mod update;

use std::sync::Arc;

use agcore_cycle::Hook;
use agcore_tools::BaseTool;

pub use self::{
    contract::{SharedState, SharedStateError, StateChange, StateVersion},
    local::LocalState,
    update::UPDATE_STATE,
};
use self::{show::ShowState, update::UpdateState};

/// Returns the hook that shows a state to the model, and the tool with which the model changes it.
pub(crate) fn access(state: Arc<dyn SharedState>) -> (Arc<dyn Hook>, impl BaseTool + 'static) {
    (Arc::new(ShowState::new(Arc::clone(&state))), UpdateState::new(state))
}

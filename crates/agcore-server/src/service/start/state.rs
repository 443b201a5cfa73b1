//! [`NewState`]: the state that a client sends with a run.

use agcore_agui::RunAgentInput;
use agcore_session::DocumentChange;
use serde_json::Value;

use crate::{
    problem::{Problem, ProblemCode},
    service::{owned::OwnedThread, state::Service},
};

/// The state that a client sends with a run. It replaces that of the thread.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NewState {
    value: Value,
    /// The version that the client has seen, if it names one.
    base: Option<u64>,
}

impl NewState {
    /// Returns the state of an input. Clients without a state send `{}` or `null`; `{}` with a version
    /// is a state that was cleared.
    ///
    /// # Errors
    /// `body_too_large` or `invalid_request` if it is not acceptable.
    pub(super) fn of(input: &RunAgentInput) -> Result<Option<Self>, Problem> {
        let base = match input.forwarded("stateVersion") {
            None => None,
            Some(version) => Some(version.as_u64().ok_or_else(|| {
                Problem::invalid("`forwardedProps.stateVersion` must be the number of a version, such as 3")
            })?),
        };
        let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
        let Some(value) = input.state.clone().filter(|value| base.is_some() || !is_empty(value)) else {
            return Ok(None);
        };
        check_state("state", &DocumentChange::new(value.clone()))?;
        Ok(Some(Self { value, base }))
    }
}

impl Service {
    /// Returns the change of the document of a thread that a state leads to; `None` if there is none.
    ///
    /// # Errors
    /// `state_changed` if the client has seen an older version.
    pub(super) async fn document_of(
        &self,
        own: Option<&OwnedThread<'_>>,
        new: Option<NewState>,
    ) -> Result<Option<DocumentChange>, Problem> {
        let Some(NewState { value, base }) = new else {
            return Ok(None);
        };
        let known = match own {
            Some(own) if own.has_state() => own.document().await?,
            _ => None,
        };
        if known.as_ref().is_some_and(|known| known.value == value) {
            return Ok(None);
        }
        let found = known.map_or(0, |known| known.version);
        match base {
            Some(base) if base != found => Err(Problem::state_changed(found)),
            // An agent may change it at the same time.
            Some(base) => Ok(Some(DocumentChange::new(value).with_base(base))),
            None => Ok(Some(DocumentChange::new(value))),
        }
    }
}

/// Checks that a state can be stored.
///
/// # Errors
/// `body_too_large` or `invalid_request` if it cannot.
pub(crate) fn check_state(name: &str, change: &DocumentChange) -> Result<(), Problem> {
    change.check().map_err(|error| {
        let detail = format!("`{name}`: {}", error.message());
        match change.is_too_large() {
            true => Problem::new(ProblemCode::BodyTooLarge, detail),
            false => Problem::invalid(detail),
        }
    })
}

//! [`RunScope`] and [`CallScope`]: what all calls of a run share, and what one call has.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering, fence},
};

use agcore_chat::{Actor, Answer, Clock, StopCheck, Text};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    extensions::Extensions,
    filters::ProgressFilters,
    pause::Pause,
    run_state::RunState,
    waits::{CallObserver, ProgressSender, Waits},
};
use crate::session::ToolSession;

/// The part that all calls of a run share.
pub(super) struct RunScope {
    pub(super) session_id: Text,
    pub(super) key_scope: Option<Text>,
    pub(super) trace_id: Option<Text>,
    pub(super) agent: Option<Text>,
    pub(super) parent_call: Option<Text>,
    pub(super) actor: Option<Arc<Actor>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) cancellation: CancellationToken,
    pub(super) stop_check: Option<StopCheck>,
    pub(super) state: RunState,
    pub(super) extensions: Extensions,
    pub(super) progress: Option<ProgressSender>,
}

/// The part that belongs to one call.
pub(super) struct CallScope {
    pub(super) id: Text,
    pub(super) session: ToolSession,
    /// Created when it is first asked for, because most tools do not need it.
    pub(super) cancellation: OnceLock<CancellationToken>,
    pub(super) observer: Option<Arc<dyn CallObserver>>,
    pub(super) answer: Option<Box<InputAnswer>>,
    pub(super) pause: Pause,
    pub(super) filters: ProgressFilters,
    /// Whether the call has ended. The tool may still run then, if it blocks its thread.
    pub(super) has_ended: AtomicBool,
    pub(super) waits: Waits,
}

/// Cancels the token of a call on drop.
pub(crate) struct CallGuard(pub(super) Option<Arc<CallScope>>);

impl Drop for CallGuard {
    fn drop(&mut self) {
        if let Some(call) = &self.0 {
            call.has_ended.store(true, Ordering::Release);
            fence(Ordering::SeqCst);
            if let Some(token) = call.cancellation.get() {
                token.cancel();
            }
        }
    }
}

/// The answer to a question that the tool asked with
/// [`ToolOutput::awaiting_input`](crate::ToolOutput::awaiting_input).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InputAnswer {
    /// The answer of the person or agent.
    pub value: Value,
    /// The context that the tool attached to its question.
    pub context: Value,
}

impl InputAnswer {
    /// Returns the answer to a question that the tool has [passed on](crate::InputRequest::forwarding). `None` if the value is
    /// not such an answer.
    pub fn to_answer(&self) -> Option<Answer> {
        Answer::deserialize(&self.value).ok()
    }

    /// Creates an answer, with the context that the tool attached to its question.
    pub fn new(value: Value, context: Value) -> Self {
        Self { value, context }
    }
}

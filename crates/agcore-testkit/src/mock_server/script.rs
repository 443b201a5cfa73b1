//! A queue of replies.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::api_error::ApiError;
use super::behaviour::Behaviour;
use super::reply::Reply;
use super::request::RecordedRequest;
use super::verdict::Mismatch;

/// Replies played one after the other. When they are used up, every further request fails loudly with a 599 that
/// asks not to be retried, and [`Behaviour::verdict`] tells.
///
/// ```
/// use agcore_testkit::mock_server::{Reply, Script};
///
/// let script = Script::new([Reply::text("first")])
///     .then(Reply::text("second"))
///     .then_with(|request| Reply::text(request.prompt().last_user()));
/// assert_eq!(script.unused(), 3);
/// ```
pub struct Script {
    repeating: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    steps: VecDeque<Step>,
    overrun: usize,
}

type Step = Box<dyn Fn(&RecordedRequest) -> Reply + Send>;

/// The status of what is no reply of any model server: the script is used up, or the behaviour panicked.
pub(crate) const OUT_OF_PLAY: u16 = 599;

impl Script {
    /// A script of these replies.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        replies.into_iter().fold(
            Self {
                repeating: false,
                state: Mutex::default(),
            },
            Self::then,
        )
    }

    /// Adds a reply.
    #[must_use]
    pub fn then(self, reply: Reply) -> Self {
        self.then_with(move |_| reply.clone())
    }

    /// Adds a reply that is computed from its request.
    #[must_use]
    pub fn then_with(self, step: impl Fn(&RecordedRequest) -> Reply + Send + 'static) -> Self {
        self.state().steps.push_back(Box::new(step));
        self
    }

    /// Begins again when the replies are used up; such a script is never wrong.
    #[must_use]
    pub fn repeating(mut self) -> Self {
        self.repeating = true;
        self
    }

    /// How many replies were not asked for yet.
    pub fn unused(&self) -> usize {
        self.state().steps.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Behaviour for Script {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        let mut state = self.state();
        let Some(step) = state.steps.pop_front() else {
            state.overrun += 1;
            return out_of_play("the script has no reply left for this request");
        };
        let reply = step(request);
        if self.repeating {
            state.steps.push_back(step);
        }
        reply
    }

    fn verdict(&self) -> Result<(), Mismatch> {
        let state = self.state();
        match (state.steps.len(), state.overrun) {
            _ if self.repeating => Ok(()),
            (0, 0) => Ok(()),
            (unused, 0) => Err(Mismatch::Unused { count: unused }),
            (_, overrun) => Err(Mismatch::Overrun { count: overrun }),
        }
    }
}

/// A failure of the test itself, told to the client as loudly as HTTP can.
pub(crate) fn out_of_play(message: impl Into<String>) -> Reply {
    let error = ApiError::new(OUT_OF_PLAY)
        .with_kind("mock_server")
        .with_message(message);
    Reply::error(error.with_header("x-should-retry", "false"))
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("repeating", &self.repeating)
            .field("unused", &self.unused())
            .finish()
    }
}

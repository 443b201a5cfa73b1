//! [`Script`]: a queue of replies.

mod json;

pub use json::ScriptParseError;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::mock_server::{
    behavior::{Behavior, Mismatch, test_failure},
    reply::Reply,
    request::RecordedRequest,
};

/// A queue of replies, played one after another. Once it is empty, every further request receives status 599 with a
/// hint not to retry, and [`verify`](Behavior::verify) fails.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{Mismatch, MockServer, Reply, Script};
///
/// let script = Script::new([Reply::text("first")])
///     .then(Reply::text("second"))
///     .then_with(|request| Reply::text(request.prompt().last_user()));
/// assert_eq!(script.unused(), 3);
///
/// let server = MockServer::start(script).await.unwrap();
/// assert_eq!(server.verify(), Err(Mismatch::Unused { count: 3 }));
/// # });
/// ```
#[must_use]
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

impl Script {
    /// Creates a script from these replies.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        replies.into_iter().fold(
            Self {
                repeating: false,
                state: Mutex::default(),
            },
            Self::then,
        )
    }

    /// Parses a script from JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not valid JSON or does not match the script format.
    ///
    /// ```
    /// use agcore_testkit::mock_server::Script;
    ///
    /// let script = Script::from_json(
    ///     r#"{
    ///         "steps": [
    ///             {"tool_calls": [{"name": "weather", "arguments": {"city": "Lisbon"}}]},
    ///             {"reasoning": "Hm.", "text": "Sunny.", "usage": {"input": 9, "output": 3}, "pace_ms": 20},
    ///             {"error": {"status": 429, "retry_after": "2"}},
    ///             {"text": "truncated", "faults": [{"cut": {"at": {"after_events": 3}, "ending": "reset"}}]},
    ///             {"raw": {"status": 200, "headers": {"content-type": "text/html"}, "body": "<html>"}}
    ///         ],
    ///         "repeat": true
    ///     }"#,
    /// )
    /// .unwrap();
    /// assert_eq!(script.unused(), 5);
    ///
    /// let error = Script::from_json(r#"{"steps": [{}]}"#).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "step 0 of the script must contain exactly one of an answer, `error` or `raw`"
    /// );
    /// ```
    pub fn from_json(text: &str) -> Result<Self, ScriptParseError> {
        let (replies, repeat) = json::parse(text)?;
        let script = Self::new(replies);
        Ok(if repeat { script.repeating() } else { script })
    }

    /// Adds a reply.
    pub fn then(self, reply: Reply) -> Self {
        self.then_with(move |_| reply.clone())
    }

    /// Adds a reply that is computed from its request.
    pub fn then_with(self, step: impl Fn(&RecordedRequest) -> Reply + Send + 'static) -> Self {
        self.state().steps.push_back(Box::new(step));
        self
    }

    /// Starts over after the last reply. [`verify`](Behavior::verify) never fails for a repeating script.
    pub fn repeating(mut self) -> Self {
        self.repeating = true;
        self
    }

    /// Returns the number of replies that have not been requested yet.
    pub fn unused(&self) -> usize {
        self.state().steps.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Behavior for Script {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        let mut state = self.state();
        let Some(step) = state.steps.pop_front() else {
            state.overrun += 1;
            return test_failure("the script has no reply left for this request");
        };
        let reply = step(request);
        if self.repeating {
            state.steps.push_back(step);
        }
        reply
    }

    fn verify(&self) -> Result<(), Mismatch> {
        let state = self.state();
        match (state.steps.len(), state.overrun) {
            _ if self.repeating => Ok(()),
            (0, 0) => Ok(()),
            (unused, 0) => Err(Mismatch::Unused { count: unused }),
            (_, overrun) => Err(Mismatch::Overrun { count: overrun }),
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("repeating", &self.repeating)
            .field("unused", &self.unused())
            .finish()
    }
}

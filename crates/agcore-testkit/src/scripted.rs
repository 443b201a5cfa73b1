//! A provider that plays a script, without a network.
//!
//! ```
//! use agcore_chat::{ChatRequest, Message, ToolCall};
//! use agcore_llm::LlmProviderExt;
//! use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let provider = ScriptedProvider::new([
//!     ScriptStep::calls([ToolCall::function("call-1", "weather", r#"{"city":"Lisbon"}"#)]),
//!     ScriptStep::text("It is sunny in Lisbon."),
//! ]);
//! let request = || ChatRequest::new([Message::user("How is the weather in Lisbon?")]);
//! let first = provider.chat(request()).await.unwrap();
//! assert_eq!(first.message().unwrap().tool_calls().next().unwrap().name, "weather");
//! let second = provider.chat(request()).await.unwrap();
//! assert_eq!(second.text(), "It is sunny in Lisbon.");
//! provider.assert_done();
//! # });
//! ```

mod playback;
mod step;

pub use step::ScriptStep;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{ChatRequest, Clock};
use agcore_llm::{Call, LlmError, LlmErrorKind, LlmProvider, ProviderInfo, ReplyItem, ReplyStream};
use futures_util::stream::{self, StreamExt};

use self::playback::{Action, Playback};

/// A provider that answers each call with the next step of a script and records the requests. Clones share the script.
///
/// When the script is exhausted, calls fail with [`LlmErrorKind::InvalidRequest`].
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::LlmProviderExt;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let provider = ScriptedProvider::new([ScriptStep::text("Good day.")]);
/// let response = provider.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap();
/// assert_eq!(response.text(), "Good day.");
/// assert_eq!(provider.requests()[0].messages[0].text(), "Hello");
/// assert_eq!(provider.unused(), 0);
/// # });
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ScriptedProvider {
    info: ProviderInfo,
    clock: Option<Arc<dyn Clock>>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    steps: VecDeque<ScriptStep>,
    requests: Vec<Arc<ChatRequest>>,
}

impl ScriptedProvider {
    /// Creates a provider named `scripted` that plays these steps, one per call.
    pub fn new(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        let state = State {
            steps: steps.into_iter().collect(),
            requests: Vec::new(),
        };
        Self {
            info: ProviderInfo::new("scripted", "script-1"),
            clock: None,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Sets the provider's description of itself.
    pub fn with_info(mut self, info: ProviderInfo) -> Self {
        self.info = info;
        self
    }

    /// Sets the clock for the delays of steps. Without a clock, delays are skipped.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Appends a step to the script.
    pub fn push(&self, step: ScriptStep) {
        self.with_state(|state| state.steps.push_back(step));
    }

    /// Returns the requests received so far, in order.
    pub fn requests(&self) -> Vec<Arc<ChatRequest>> {
        self.with_state(|state| state.requests.clone())
    }

    /// Returns the number of steps that have not been played.
    pub fn unused(&self) -> usize {
        self.with_state(|state| state.steps.len())
    }

    /// Asserts that all steps have been played.
    ///
    /// # Panics
    ///
    /// Panics if steps are left.
    #[track_caller]
    pub fn assert_done(&self) {
        let unused = self.unused();
        assert!(unused == 0, "{unused} steps of the script were not played");
    }

    /// Starts the playback of the next step. A call that is cancelled before it is polled consumes no step.
    fn start(self, call: Call) -> Playback {
        let actions = if call.token.is_cancelled() {
            VecDeque::from([Action::Hang])
        } else {
            self.next_actions(&call)
        };
        Playback::new(actions, self.clock, call.token)
    }

    /// Takes the next step and returns its actions.
    fn next_actions(&self, call: &Call) -> VecDeque<Action> {
        let step = self.with_state(|state| {
            state.requests.push(Arc::clone(&call.request));
            state.steps.pop_front()
        });
        match step {
            Some(step) => step.actions(call),
            None => {
                let message = "the script has no step left for this call; add a step";
                let error = LlmError::new(LlmErrorKind::InvalidRequest, message);
                [Action::Item(ReplyItem::End(Err(error)))].into()
            }
        }
    }

    fn with_state<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl LlmProvider for ScriptedProvider {
    fn open(&self, call: Call) -> ReplyStream {
        let provider = self.clone();
        // A reply that is never polled consumes no step.
        let playback = stream::once(async move { provider.start(call) });
        ReplyStream::new(playback.flat_map(|playback| stream::unfold(playback, Playback::next)))
    }

    fn info(&self) -> &ProviderInfo {
        &self.info
    }
}

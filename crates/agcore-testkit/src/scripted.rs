//! [`ScriptedProvider`]: a provider that plays a script, without any network.

mod step;

pub use step::ScriptStep;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{ChatRequest, Clock};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider, ProviderInfo,
    reply::{ReplyItem, ReplyStream},
};
use futures_util::stream::{self, StreamExt};

use self::step::Action;

/// Answers each call with the next step of a script, and keeps the requests.
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
/// provider.assert_done();
/// # });
/// ```
#[derive(Debug, Clone)]
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
    /// A provider named `scripted` that plays these steps, one for each call.
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

    /// Sets what the provider says of itself.
    pub fn with_info(mut self, info: ProviderInfo) -> Self {
        self.info = info;
        self
    }

    /// Sets the clock on which delays wait; without one they do not wait at all.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Adds a step at the end.
    pub fn push(&self, step: ScriptStep) {
        self.with(|state| state.steps.push_back(step));
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<Arc<ChatRequest>> {
        self.with(|state| state.requests.clone())
    }

    /// How many steps were not played.
    pub fn unused(&self) -> usize {
        self.with(|state| state.steps.len())
    }

    /// Checks that all steps were played.
    ///
    /// # Panics
    /// When some were not.
    #[track_caller]
    pub fn assert_done(&self) {
        let unused = self.unused();
        assert!(unused == 0, "{unused} steps of the script were not played");
    }

    /// Takes the next step for a call.
    fn play(&self, call: &Call) -> VecDeque<Action> {
        let step = self.with(|state| {
            state.requests.push(Arc::clone(&call.request));
            state.steps.pop_front()
        });
        match step {
            Some(step) => step.actions(call),
            None => {
                let message = "the script has no step left for this call; add one";
                let error = LlmError::new(LlmErrorKind::InvalidRequest, message);
                [Action::Item(ReplyItem::End(Err(error)))].into()
            }
        }
    }

    fn with<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl LlmProvider for ScriptedProvider {
    fn open(&self, call: Call) -> ReplyStream {
        let this = self.clone();
        let actions = async move {
            // A call that is cancelled before it begins uses up no step.
            let cancelled = call.token.is_cancelled();
            let actions = if cancelled {
                VecDeque::from([Action::Hang])
            } else {
                this.play(&call)
            };
            stream::unfold(
                (actions, this.clock, call.token),
                async |(mut actions, clock, token)| {
                    loop {
                        if token.is_cancelled() {
                            actions = [Action::Item(ReplyItem::End(Err(LlmError::cancelled())))].into();
                        }
                        match actions.pop_front()? {
                            Action::Item(item) => {
                                if matches!(item, ReplyItem::End(_)) {
                                    actions.clear();
                                    return Some((item, (actions, clock, tokio_util::sync::CancellationToken::new())));
                                }
                                return Some((item, (actions, clock, token)));
                            }
                            Action::Wait(duration) => {
                                if let Some(clock) = &clock {
                                    tokio::select! {
                                        () = token.cancelled() => {}
                                        () = clock.sleep(duration) => {}
                                    }
                                }
                            }
                            Action::Hang => token.cancelled().await,
                        }
                    }
                },
            )
        };
        ReplyStream::new(stream::once(actions).flatten())
    }

    fn info(&self) -> &ProviderInfo {
        &self.info
    }
}

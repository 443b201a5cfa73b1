//! [`Tape`]: the recorded answers of a model and of tools, played to a session in place of both.

mod answers;
mod executor;
mod provider;

pub(crate) use self::{answers::TapeAnswers, executor::TapeExecutor, provider::TapeProvider};

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::{Message, Role, Text, ToolOutcome};
use agcore_cycle::{
    OutputMode, ResultView,
    machine::{Failure, MediaRefusal, Reply, Verdict},
};
use tokio_util::sync::CancellationToken;

use crate::session_data::SessionResults;

/// The result of a call of the model.
#[derive(Debug, Clone)]
pub(crate) enum RecordedCall {
    /// It replied to this conversation.
    Reply {
        /// The conversation that it saw, without the system prompt.
        seen: Vec<Arc<Message>>,
        reply: Reply,
    },
    /// It wrote a summary.
    Summary(Reply),
    /// It failed.
    Failure(Failure),
    /// The provider refused media of the conversation, and was asked again without them.
    MediaRefused(Box<MediaRefusal>),
    /// The provider refused the way in which it was asked for typed output, and was asked in this one instead.
    Recast(OutputMode),
}

/// The answers for one run of a session.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) calls: VecDeque<RecordedCall>,
    /// The outcomes of each call of a tool, in order.
    pub(crate) results: HashMap<Text, VecDeque<ToolOutcome>>,
    /// Whether the answers of a typed turn fit, in order.
    pub(crate) verdicts: VecDeque<Verdict>,
    /// Whether the recording stops in the middle: the turn was cancelled, or its process died.
    pub(crate) stops: bool,
}

/// The recorded answers of a model and of tools. Provider and executors of a session share it.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    state: Mutex<State>,
    /// The form in which the model saw results, if not as they are.
    results: Option<Arc<SessionResults>>,
}

#[derive(Debug, Default)]
struct State {
    recorded: Recorded,
    token: CancellationToken,
    /// How the model is asked for typed output next, because the provider has refused the last request.
    recast: Option<OutputMode>,
    /// The first difference of the session.
    difference: Option<String>,
}

/// The next step of the tape.
pub(crate) enum Next<T> {
    Answer(T),
    /// The recording stops here: the run is cancelled.
    Stopped,
    /// The session differs from the recording in this way.
    Different(String),
}

impl Tape {
    /// Creates a tape for sessions whose model sees results in this form.
    pub(crate) fn new(results: Option<Arc<SessionResults>>) -> Self {
        let state = Mutex::default();
        Self { state, results }
    }

    /// Loads the answers of the next run, which `token` cancels.
    pub(crate) fn load(&self, recorded: Recorded, token: CancellationToken) {
        let mut state = self.state();
        state.recorded = recorded;
        state.token = token;
        state.recast = None;
    }

    /// Returns what the session did differently first, or what it has not asked for.
    pub(crate) fn difference(&self) -> Option<String> {
        let state = self.state();
        state.difference.clone().or_else(|| match &state.recorded {
            recorded if !recorded.calls.is_empty() => Some(format!(
                "the session ends the turn, but {} more calls of the model are recorded",
                recorded.calls.len()
            )),
            recorded if !recorded.verdicts.is_empty() => {
                Some("the session does not check an answer, whose check is recorded".to_owned())
            }
            recorded => {
                let mut left = recorded.results.iter().filter(|(_, outcomes)| !outcomes.is_empty());
                let (call, _) = left.next()?;
                Some(format!(
                    "the session does not run the call `{call}`, whose result is recorded"
                ))
            }
        })
    }

    /// Returns what the model did next, for a session that asks it with these messages.
    fn call(&self, asked: &[Arc<Message>]) -> Next<RecordedCall> {
        let mut state = self.state();
        let Some(call) = state.recorded.calls.pop_front() else {
            return match state.recorded.stops {
                true => state.stop(),
                false => state.differs("the session calls the model again, but no further call is recorded".to_owned()),
            };
        };
        let difference = match &call {
            RecordedCall::Reply { seen, .. } => {
                let seen = self.shown(seen);
                first_difference(&seen, conversation(asked, &seen))
            }
            RecordedCall::Summary(_)
            | RecordedCall::Failure(_)
            | RecordedCall::MediaRefused(_)
            | RecordedCall::Recast(_) => None,
        };
        if let RecordedCall::Recast(mode) = &call {
            state.recast = Some(*mode);
        }
        match difference {
            Some(problem) => state.differs(problem),
            None => Next::Answer(call),
        }
    }

    /// Returns recorded messages as the model saw them.
    fn shown<'m>(&self, messages: &'m [Arc<Message>]) -> Cow<'m, [Arc<Message>]> {
        let Some(results) = &self.results else {
            return Cow::Borrowed(messages);
        };
        let shown = messages.iter().map(|message| match results.shown(message) {
            Some(shown) => shown.message,
            None => Arc::clone(message),
        });
        shown.collect()
    }

    /// Returns the next outcome of a call of a tool. `is_known` is whether the session has the tool.
    fn result(&self, call: &str, tool: &str, is_known: bool) -> Next<ToolOutcome> {
        let mut state = self.state();
        let outcome = state.recorded.results.get_mut(call).and_then(VecDeque::pop_front);
        match outcome {
            Some(ToolOutcome::Done(result)) if !is_known && !result.is_error => state.differs(format!(
                "the call `{call}` succeeded, but the session has no tool `{tool}`"
            )),
            Some(outcome) => Next::Answer(outcome),
            None if state.recorded.stops => state.stop(),
            None => state.differs(format!(
                "the session runs the call `{call}` of `{tool}`, which has no recorded result"
            )),
        }
    }

    /// Returns whether a call has another outcome.
    fn has_result(&self, call: &str) -> bool {
        let state = self.state();
        state
            .recorded
            .results
            .get(call)
            .is_some_and(|outcomes| !outcomes.is_empty())
    }

    /// Notes that a call ran without the tape.
    fn skip(&self, call: &str) {
        if let Some(outcomes) = self.state().recorded.results.get_mut(call) {
            outcomes.pop_front();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn stop<T>(&self) -> Next<T> {
        self.token.cancel();
        Next::Stopped
    }

    fn differs<T>(&mut self, problem: String) -> Next<T> {
        let first = self.difference.get_or_insert(problem);
        Next::Different(first.clone())
    }
}

/// Returns the messages of a request without the system prompt, which is not part of the conversation.
fn conversation<'a>(asked: &'a [Arc<Message>], seen: &[Arc<Message>]) -> &'a [Arc<Message>] {
    match asked.split_first() {
        Some((first, rest))
            if first.role() == Role::System && (seen.first() != Some(first) || asked.len() > seen.len()) =>
        {
            rest
        }
        _ => asked,
    }
}

/// Describes the first message that differs, if one does.
pub(crate) fn first_difference(recorded: &[Arc<Message>], now: &[Arc<Message>]) -> Option<String> {
    let pairs = recorded.iter().zip(now);
    for (index, (recorded, now)) in pairs.enumerate() {
        if recorded != now {
            let number = index + 1;
            return Some(format!(
                "message {number} was {}, and is now {}",
                shown(recorded),
                shown(now)
            ));
        }
    }
    (recorded.len() != now.len()).then(|| {
        format!(
            "the conversation had {} messages, and has {} now",
            recorded.len(),
            now.len()
        )
    })
}

/// Returns the beginning of a message as JSON.
fn shown(message: &Message) -> String {
    const MAX: usize = 200;
    let json = serde_json::to_string(message).unwrap_or_default();
    match json.char_indices().nth(MAX) {
        Some((end, _)) => format!("{} …", json.get(..end).unwrap_or_default()),
        None => json,
    }
}

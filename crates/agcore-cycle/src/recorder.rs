//! [`OutcomeRecorder`]: what a journal implements.

use std::{any::Any, error::Error, fmt, panic::AssertUnwindSafe, pin::Pin, sync::Arc};

use agcore_chat::{EventKind, Fault, FaultKind, ModelCall};
use agcore_llm::LlmError;
use async_trait::async_trait;
use futures_util::{FutureExt, future::Shared};

use crate::{
    error::{CycleError, CycleErrorKind},
    machine::{Machine, Outcome},
};

/// A recorder of the outcomes of a turn, so that the turn can continue in another process after a crash.
///
/// The state of a conversation is the fold of its outcomes: the state before a turn and the recorded outcomes give the
/// state at the moment of the last record. [`LlmCycle::resume`](crate::LlmCycle::resume) continues from there. Nothing
/// that has finished runs again, and calls that had started but have no result become questions.
///
/// # Order
///
/// Outcomes are recorded in order, and each call of [`record`](Self::record) is awaited before the outcomes take
/// effect: before the model is called, before a tool runs, before the turn ends. Outcomes that belong together, such as
/// the start of all tool calls of a batch, are passed in one call. The machine absorbs outcomes, and observers receive
/// events about them, only after they were recorded. (Deltas of a reply, progress of tools and notices about a call are
/// previews. They are not recorded, so they do not wait.)
///
/// # Failure
///
/// An error means that none of these outcomes were recorded. The turn stops: it fails with [`CycleErrorKind::Storage`],
/// and its state remains the last recorded one. [`resume`](crate::LlmCycle::resume) continues it when the store works
/// again; another turn abandons it. A reply or a result that could not be recorded is not lost in the meantime: it is
/// recorded first then. A panic counts as an error.
///
/// A turn that is dropped while it records does not know whether it succeeded. The next turn waits for the same write first,
/// so no outcome is recorded twice.
///
/// # Snapshots
///
/// Changes of the state between turns, such as [`set_messages`](crate::LlmCycle::set_messages) or
/// [`reset_usage`](crate::LlmCycle::reset_usage), are not outcomes and are not recorded. Save the
/// [state](crate::LlmCycle::machine) after such a change, and replay later records from there.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use agcore_chat::{ChatResponse, Fault};
/// use agcore_cycle::{CycleSettings, LlmCycle, OutcomeRecorder, machine::{Outcome, Record}};
/// use agcore_llm::{SystemClock, provider_fn};
///
/// /// A journal in memory, one line of JSON for each write.
/// #[derive(Default)]
/// struct Journal(Mutex<Vec<String>>);
///
/// #[async_trait::async_trait]
/// impl OutcomeRecorder for Journal {
///     async fn record(&self, outcomes: &[Outcome]) -> Result<(), Fault> {
///         let line = serde_json::to_string(&Record::new(outcomes)).expect("outcomes are plain data");
///         self.0.lock().unwrap().push(line);
///         Ok(())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let journal = Arc::new(Journal::default());
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Good day.")) });
/// let settings = CycleSettings::new().with_recorder(journal.clone());
/// let mut cycle = LlmCycle::new(provider, SystemClock::new()).with_settings(settings);
/// let mut restored = cycle.machine().clone();
/// cycle.turn("Hello").await.unwrap();
///
/// for line in journal.0.lock().unwrap().iter() {
///     serde_json::from_str::<Record>(line).unwrap().replay(&mut restored).unwrap();
/// }
/// assert_eq!(&restored, cycle.machine());
/// # });
/// ```
#[async_trait]
pub trait OutcomeRecorder: Send + Sync {
    /// Records these outcomes, all or none of them. [`Record`](crate::machine::Record) is a form for storing them.
    ///
    /// # Errors
    /// The reason why none were recorded.
    async fn record(&self, outcomes: &[Outcome]) -> Result<(), Fault>;

    /// Records these outcomes like [`record`](Self::record), which it calls unless it is implemented. The events are those that
    /// the outcomes cause in the state: messages, calls and their results, questions, the end of the turn. They contain nothing
    /// that a replay of the outcomes does not return, but save a recorder that also keeps a readable form of the conversation
    /// from replaying them. Outcomes of a turn that was dropped come without events.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    async fn record_with_events(&self, outcomes: &[Outcome], events: &[EventKind]) -> Result<(), Fault> {
        let _ = events;
        self.record(outcomes).await
    }

    /// Returns whether each call of the model is recorded, too, as [`Outcome::Called`]. `false` by default.
    fn records_calls(&self) -> bool {
        false
    }

    /// Returns the id under which a reply is kept in a readable form of the conversation, for the
    /// [events](agcore_chat::StreamEvent::message) about it. `None`, the default, means that there is none.
    fn reply_id(&self, reply: RecordedReply) -> Option<Arc<str>> {
        let _ = reply;
        None
    }
}

/// The source of the error of a call that failed in a recording. The loop does not try to avoid such a failure: what was tried
/// is part of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the call failed in the recording")]
pub struct RecordedFailure;

impl RecordedFailure {
    pub(crate) fn is_source_of(error: &LlmError) -> bool {
        error.source().is_some_and(<dyn Error>::is::<Self>)
    }
}

/// The reply whose id is requested from an [`OutcomeRecorder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordedReply {
    /// The newest reply that was recorded.
    Last,
    /// The reply that the model is about to write. It is recorded with the next call of
    /// [`record_with_events`](OutcomeRecorder::record_with_events), unless the call of the model fails.
    Next,
}

/// A write in progress. It outlives the turn that started it.
type Write = Shared<Pin<Box<dyn Future<Output = Result<(), Fault>> + Send>>>;

/// The outcomes that are being recorded, or that must be recorded before anything else. The machine has not absorbed them.
#[derive(Clone, Default)]
pub(crate) struct Unrecorded {
    pub(crate) outcomes: Arc<[Outcome]>,
    /// The events of these outcomes.
    events: Arc<[EventKind]>,
    /// Outcomes that the machine has absorbed already. They are recorded before the others.
    absorbed: Vec<Outcome>,
    /// Outcomes that the machine absorbs after those that are being recorded.
    later: Vec<Outcome>,
    write: Option<Write>,
    /// The number of absorbed outcomes that the write includes.
    absorbed_in_write: usize,
    /// Whether the newest turn was recorded.
    pub(crate) is_active: bool,
}

impl Unrecorded {
    /// Sets the outcomes that are recorded next.
    pub(crate) fn set(&mut self, outcomes: Vec<Outcome>, events: Vec<EventKind>) {
        self.outcomes = outcomes.into();
        self.events = events.into();
        self.write = None;
    }

    /// Keeps an outcome that the machine has absorbed, if turns are recorded.
    pub(crate) fn record_later(&mut self, outcome: Outcome) {
        if self.is_active {
            self.absorbed.push(outcome);
        }
    }

    /// Keeps an outcome that comes after those that are being recorded.
    pub(crate) fn absorb_later(&mut self, outcome: Outcome) {
        self.later.push(outcome);
    }

    /// Takes the outcomes that come after those that were recorded.
    pub(crate) fn take_later(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.later)
    }

    /// Takes the outcomes that are not recorded, because nothing records them any more.
    pub(crate) fn take_outcomes(&mut self) -> Arc<[Outcome]> {
        let later = self.take_later();
        let outcomes = std::mem::take(self).outcomes;
        self.later = later;
        outcomes
    }

    /// Returns whether nothing waits to be absorbed.
    pub(crate) fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Waits for the write, which starts now unless a dropped turn has started it. If it fails, only what has happened is left:
    /// it is recorded before anything else.
    pub(crate) async fn settle(&mut self, recorder: &Arc<dyn OutcomeRecorder>) -> Result<Arc<[Outcome]>, Fault> {
        let write = self.write.get_or_insert_with(|| {
            self.absorbed_in_write = self.absorbed.len();
            let outcomes = match self.absorbed.as_slice() {
                [] => Arc::clone(&self.outcomes),
                absorbed => absorbed.iter().chain(&*self.outcomes).cloned().collect(),
            };
            write(Arc::clone(recorder), outcomes, Arc::clone(&self.events))
                .boxed()
                .shared()
        });
        let result = write.clone().await;
        self.write = None;
        if result.is_ok() {
            // More may have been absorbed since the write started.
            self.absorbed.drain(..self.absorbed_in_write);
        }
        if result.is_ok() {
            self.events = Arc::default();
            return Ok(std::mem::take(&mut self.outcomes));
        }
        if self.outcomes.iter().any(Outcome::is_decision) {
            let happened = happened(&self.outcomes);
            if happened.is_empty() || !happened.iter().any(|outcome| matches!(outcome, Outcome::Reply(_))) {
                self.events = Arc::default();
            }
            self.outcomes = happened;
        }
        result.map(|()| Arc::clone(&self.outcomes))
    }

    /// Moves what waits to be absorbed to what the machine has absorbed, without waiting for its record.
    pub(crate) fn absorb_now(&mut self, machine: &mut Machine) {
        let outcomes = std::mem::take(&mut self.outcomes);
        let mut absorb = |outcome: &Outcome| {
            let absorbed = machine.absorb(outcome.clone());
            absorbed
                .inspect_err(|error| tracing::warn!(%error, "the state has changed since this outcome was recorded"))
                .is_ok()
        };
        let moved: Vec<Outcome> = outcomes.iter().filter(|outcome| absorb(outcome)).cloned().collect();
        let later: Vec<Outcome> = self
            .take_later()
            .into_iter()
            .filter(|outcome| absorb(outcome))
            .collect();
        let at = if self.write.is_some() {
            let at = self.absorbed_in_write;
            self.absorbed_in_write += moved.len();
            at
        } else {
            self.absorbed.len()
        };
        self.absorbed.splice(at..at, moved);
        self.absorbed.extend(later);
        if !self.is_active {
            self.absorbed.clear();
            self.absorbed_in_write = 0;
        }
    }

    /// Forgets everything, because the history was replaced.
    pub(crate) fn clear(&mut self) {
        *self = Self {
            is_active: self.is_active,
            ..Self::default()
        };
    }

    /// Forgets what the machine has absorbed without a record, because the machine itself is saved now.
    pub(crate) fn forget_absorbed(&mut self) {
        let in_write = self.absorbed_in_write.min(self.absorbed.len());
        self.absorbed.truncate(if self.write.is_some() { in_write } else { 0 });
    }

    /// Returns the model calls among what the machine has absorbed without a record.
    pub(crate) fn calls(&self) -> Vec<ModelCall> {
        let in_write = if self.write.is_some() {
            self.absorbed_in_write
        } else {
            0
        };
        let absorbed = self.absorbed.iter().skip(in_write);
        let calls = absorbed.filter_map(|outcome| match outcome {
            Outcome::Called(call) => Some(ModelCall::clone(call)),
            _ => None,
        });
        calls.collect()
    }

    /// Forgets uses that are not recorded yet, because the counters were reset.
    pub(crate) fn forget_uses(&mut self) {
        let mut at = 0;
        let in_write = self.absorbed_in_write;
        self.absorbed.retain(|outcome| {
            at += 1;
            at <= in_write || !matches!(outcome, Outcome::Spent(_) | Outcome::Lost(_))
        });
    }

    /// Returns whether a record is being written.
    pub(crate) fn is_writing(&self) -> bool {
        self.write.is_some()
    }
}

impl fmt::Debug for Unrecorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Unrecorded").field(&self.outcomes).finish()
    }
}

/// Returns what has happened, of outcomes that were decided on but could not be recorded: a reply, and what was used. Calls of
/// tools that did not start used nothing.
fn happened(outcomes: &[Outcome]) -> Arc<[Outcome]> {
    if let Some(reply) = outcomes.iter().position(|outcome| matches!(outcome, Outcome::Reply(_))) {
        // The calls of the reply did not begin.
        return outcomes[..=reply].into();
    }
    if outcomes.iter().any(|outcome| matches!(outcome, Outcome::Started(_))) {
        return Arc::default();
    }
    let used = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Spent(_) | Outcome::Lost(_) | Outcome::Called(_) => Some(outcome.clone()),
        Outcome::Limit { lost, .. } => lost.get().map(|lost| Outcome::Lost(Box::new(lost.clone()))),
        _ => None,
    });
    used.collect()
}

async fn write(
    recorder: Arc<dyn OutcomeRecorder>,
    outcomes: Arc<[Outcome]>,
    events: Arc<[EventKind]>,
) -> Result<(), Fault> {
    let written = AssertUnwindSafe(async { recorder.record_with_events(&outcomes, &events).await }).catch_unwind();
    written.await.unwrap_or_else(|panic| {
        tracing::error!(message = panic_message(&*panic), "a recorder of outcomes panicked");
        Err(Fault::new(FaultKind::Storage, "the recorder of outcomes panicked"))
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// Converts the fault of a recorder into the error of the turn.
pub(crate) fn storage_error(fault: Fault) -> CycleError {
    let message = match fault.kind {
        // The message describes what to do.
        FaultKind::Conflict => format!("the turn was interrupted: {}", fault.message),
        _ => format!(
            "what happened could not be recorded ({}), so the turn was interrupted; resume it when the store works again",
            fault.message
        ),
    };
    CycleError::new(CycleErrorKind::Storage, message).with_source(fault)
}

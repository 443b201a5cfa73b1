//! The state of one turn: its phase, and a slot for each call of the newest reply.

use std::{collections::HashSet, ops::Not, sync::Arc, time::Duration};

use agcore_chat::{
    Answer, AssistantMessage, Block, Fault, Marks, Message, Question, QuestionId, QuestionKind, ToolCall, ToolEvent,
    ToolMessage, ToolResult, ToolWork, UsageTracker,
};
use serde::{Deserialize, Serialize};

use super::{
    changes::Changes,
    end::End,
    expectation::Expectation,
    result::{self, Refusal},
    step::Purpose,
};
use crate::budget::{BudgetLimit, Spent};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// Input or a note. It enters the history with the next accepted reply.
    pub(super) pending: Vec<Arc<Message>>,
    /// Whether `pending` replaces the history.
    pub(super) replaces: bool,
    pub(super) phase: Phase,
    /// The number of rounds that entered the history.
    pub(super) round: u32,
    pub(super) spent: UsageTracker,
    /// How the turn ends once its calls are settled.
    pub(super) closing: Option<End>,
    pub(super) answered: Vec<(QuestionId, Answer)>,
    #[serde(default, skip_serializing_if = "Overflow::is_none")]
    pub(super) overflow: Overflow,
    /// The budget because of which the model is asked to wrap up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wraps_up: Option<BudgetLimit>,
    /// Whether the breaker of compactions was open when the turn started.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub(super) breaker_was_open: bool,
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub(super) cost: Spent,
    /// The number of events that were sent.
    #[serde(rename = "told", default, skip_serializing_if = "is_zero")]
    pub(super) events_sent: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) typed: Option<Typed>,
}

/// What a typed turn expects of its answer, and how many times the answer was sent back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Typed {
    pub(super) expectation: Expectation,
    pub(super) repairs: u32,
}

impl Typed {
    pub(super) fn new(expectation: Expectation) -> Self {
        Self {
            expectation,
            repairs: 0,
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Whether the model rejected the call in flight because the conversation is too long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Overflow {
    #[default]
    None,
    /// It did: the conversation must be compacted.
    Due(Fault),
    /// It did, and the call is made once more. If that fails, the turn fails.
    Retried,
}

impl Overflow {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    Calling(Purpose),
    /// A reply without calls, to be checked before it counts as the answer.
    Checking {
        reply: Arc<AssistantMessage>,
        is_cut: bool,
    },
    Acting {
        reply: Arc<AssistantMessage>,
        slots: Vec<Slot>,
    },
    Ended(End),
}

/// One call of the newest reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Slot {
    pub(super) call: Arc<ToolCall>,
    pub(super) state: SlotState,
    /// The newest question that was answered. The call resumes with it when it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resumed: Option<Box<(Question, Answer)>>,
    /// Whether the start of the call was announced to observers, which happens once.
    #[serde(rename = "told", default, skip_serializing_if = "Not::not")]
    announced: bool,
    /// Whether it was interrupted while running, so that it may have taken effect.
    #[serde(default, skip_serializing_if = "Not::not")]
    interrupted: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SlotState {
    Ready,
    Running,
    Asking(Box<Question>),
    /// Its arguments are the answer of a typed turn.
    Checking {
        is_cut: bool,
    },
    Settled(ToolResult),
}

impl Turn {
    pub(super) fn new(pending: Vec<Arc<Message>>, replaces: bool, purpose: Purpose) -> Self {
        Self {
            pending,
            replaces,
            phase: Phase::Calling(purpose),
            round: 0,
            spent: UsageTracker::default(),
            closing: None,
            answered: Vec::new(),
            overflow: Overflow::None,
            wraps_up: None,
            breaker_was_open: false,
            cost: Spent::default(),
            events_sent: 0,
            typed: None,
        }
    }

    pub(super) fn wrap_up_note(&self) -> Message {
        let expectation = self.typed.as_ref().map(|typed| &typed.expectation);
        result::wrap_up_note(expectation.and_then(Expectation::answering_tool))
    }
}

impl Slot {
    /// Creates a slot that may start, or that is settled because the call cannot run.
    pub(super) fn new(call: Arc<ToolCall>, refusal: Option<&Refusal>, changes: &mut Changes) -> Self {
        let refusal = match refusal {
            Some(refusal) => Some(ToolResult::error(refusal.message())),
            None => result::unreadable(&call),
        };
        let mut slot = Self::in_state(call, SlotState::Ready);
        if let Some(refusal) = refusal {
            slot.settle(refusal, 0, changes);
        }
        slot
    }

    /// Creates a slot whose arguments are the answer of a typed turn.
    pub(super) fn checking(call: Arc<ToolCall>, is_cut: bool) -> Self {
        Self::in_state(call, SlotState::Checking { is_cut })
    }

    /// Creates a slot of a call that will not run, for this reason.
    pub(super) fn refused(call: Arc<ToolCall>, reason: &'static str, changes: &mut Changes) -> Self {
        let mut slot = Self::in_state(call, SlotState::Ready);
        slot.settle(ToolResult::error(reason), 0, changes);
        slot
    }

    fn in_state(call: Arc<ToolCall>, state: SlotState) -> Self {
        Self {
            call,
            state,
            resumed: None,
            announced: false,
            interrupted: false,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state, SlotState::Ready)
    }

    /// Returns the call as work for an executor, if it may start.
    pub(super) fn work(&self) -> Option<ToolWork> {
        self.is_ready().then(|| {
            let mut work = ToolWork::new(Arc::clone(&self.call));
            work.resumed.clone_from(&self.resumed);
            work
        })
    }

    pub(super) fn start(&mut self, changes: &mut Changes) {
        self.announce(changes);
        self.state = SlotState::Running;
    }

    pub(super) fn ask(&mut self, question: Question) {
        self.interrupted |= question.kind == QuestionKind::Uncertain;
        self.state = SlotState::Asking(Box::new(question));
    }

    /// Applies an answer: it makes the slot ready, or becomes the result.
    pub(super) fn answered(&mut self, answer: Answer) -> Option<ToolResult> {
        let SlotState::Asking(question) = &self.state else {
            return None;
        };
        if question.kind != QuestionKind::Uncertain {
            self.resumed = Some(Box::new(((**question).clone(), answer)));
        } else if !matches!(answer, Answer::Approve { .. }) {
            return Some(result::unknown_outcome(&answer));
        }
        self.state = SlotState::Ready;
        None
    }

    /// Runs an interrupted call again.
    pub(super) fn redo(&mut self) {
        self.interrupted = true;
        self.state = SlotState::Ready;
    }

    pub(super) fn settle(&mut self, result: ToolResult, duration_us: u64, changes: &mut Changes) {
        self.announce(changes);
        changes.emit(self.completed(&result, duration_us));
        self.state = SlotState::Settled(result);
    }

    /// Settles a call without a result with an error that says so.
    pub(super) fn give_up(&mut self, changes: &mut Changes) {
        self.give_up_for(result::NOT_RUN, changes);
    }

    /// Like [`give_up`](Self::give_up), with the text for a call that never started.
    pub(super) fn give_up_for(&mut self, not_run: &'static str, changes: &mut Changes) {
        let text = match self.state {
            SlotState::Settled(_) => return,
            SlotState::Running => result::OUTCOME_UNKNOWN,
            _ if self.interrupted => result::OUTCOME_UNKNOWN,
            SlotState::Ready | SlotState::Asking(_) | SlotState::Checking { .. } => not_run,
        };
        self.settle(ToolResult::error(text), 0, changes);
    }

    fn announce(&mut self, changes: &mut Changes) {
        if !std::mem::replace(&mut self.announced, true) {
            changes.emit(ToolEvent::Started {
                call_id: self.call.id.as_str().into(),
                name: self.call.name.as_str().into(),
                input: self.call.raw_input().into(),
            });
        }
    }

    fn completed(&self, result: &ToolResult, duration_us: u64) -> ToolEvent {
        ToolEvent::Completed {
            call_id: self.call.id.as_str().into(),
            name: self.call.name.as_str().into(),
            input: self.call.raw_input().into(),
            output: result.content.text().into(),
            is_error: result.is_error,
            duration: Duration::from_micros(duration_us),
            display: result.display.clone(),
        }
    }

    /// Converts a settled slot into its tool message.
    pub(super) fn into_message(self) -> Option<Message> {
        let SlotState::Settled(result) = self.state else {
            return None;
        };
        Some(Message::Tool(ToolMessage {
            tool_call_id: self.call.id.clone(),
            content: result.content,
            name: Some(self.call.name.clone()),
            marks: Marks::new().with_error(result.is_error),
            ..ToolMessage::default()
        }))
    }
}

/// Renames calls whose id the history already contains, so that an id names one call forever in questions and journals: some
/// servers count from zero in each reply. A call without an id gets one. `forgotten` are the ids of calls that a compaction
/// removed.
pub(super) fn make_ids_unique(message: &mut Arc<AssistantMessage>, history: &[Arc<Message>], forgotten: &[String]) {
    // Usually all ids are new, which can be checked without hashing a long history.
    let mut new: Vec<&str> = message.tool_calls().map(|call| &*call.id).collect();
    new.sort_unstable();
    let is_new = |id: &str| new.binary_search(&id).is_err();
    if is_new("") && new.is_sorted_by(|a, b| a < b) && ids(history, forgotten).all(is_new) {
        return;
    }
    let before: HashSet<&str> = ids(history, forgotten).collect();
    let mut own = HashSet::new();
    for block in &mut Arc::make_mut(message).blocks {
        let Block::Call(call) = block else { continue };
        let call = Arc::make_mut(call);
        let base = if call.id.is_empty() {
            "call".to_owned()
        } else {
            call.id.clone()
        };
        let mut number = 2_u32;
        while call.id.is_empty() || before.contains(call.id.as_str()) || !own.insert(call.id.clone()) {
            call.id = format!("{base}_{number}");
            number += 1;
        }
    }
}

/// Returns the ids of all earlier calls.
fn ids<'a>(history: &'a [Arc<Message>], forgotten: &'a [String]) -> impl Iterator<Item = &'a str> {
    let earlier = history.iter().filter_map(|message| message.as_assistant());
    let calls = earlier.flat_map(AssistantMessage::tool_calls);
    calls.map(|call| &*call.id).chain(forgotten.iter().map(String::as_str))
}

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
    /// Input or a note; enters the history with the next accepted reply.
    pub(super) pending: Vec<Arc<Message>>,
    /// Whether `pending` takes the place of the history.
    pub(super) replaces: bool,
    pub(super) phase: Phase,
    /// Rounds that entered the history.
    pub(super) round: u32,
    pub(super) spent: UsageTracker,
    /// How the turn ends when its calls are settled.
    pub(super) closing: Option<End>,
    pub(super) answered: Vec<(QuestionId, Answer)>,
    #[serde(default, skip_serializing_if = "Overflow::is_none")]
    pub(super) overflow: Overflow,
    /// The budget for which the model is asked to wrap up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wraps_up: Option<BudgetLimit>,
    /// Whether the breaker of compactions was open when the turn began.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub(super) breaker_was_open: bool,
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub(super) cost: Spent,
    /// Events that were told.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) told: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) typed: Option<Typed>,
}

/// What a typed turn asks of its answer, and how often it was sent back.
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

/// Whether the model said of the call under way that the conversation is too long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Overflow {
    #[default]
    None,
    /// It did: the conversation must be made shorter.
    Due(Fault),
    /// It did, and the call is made once more. If that fails, the turn does.
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
    /// A reply without calls is checked before it counts as the answer.
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
    /// The newest question that was answered: the call goes on with it whenever it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resumed: Option<Box<(Question, Answer)>>,
    /// Whether observers heard of the call; they hear once.
    #[serde(default, skip_serializing_if = "Not::not")]
    told: bool,
    /// Whether a run of it was interrupted, so that it may have taken effect.
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
            told: 0,
            typed: None,
        }
    }

    pub(super) fn wrap_up_note(&self) -> Message {
        let expectation = self.typed.as_ref().map(|typed| &typed.expectation);
        result::wrap_up_note(expectation.and_then(Expectation::answering_tool))
    }
}

impl Slot {
    /// A slot that may start, or is settled because the call cannot run.
    pub(super) fn new(call: Arc<ToolCall>, refused: Option<&Refusal>, changes: &mut Changes) -> Self {
        let refusal = match refused {
            Some(refusal) => Some(ToolResult::error(refusal.message())),
            None => result::unreadable(&call),
        };
        let mut slot = Self::in_state(call, SlotState::Ready);
        if let Some(refusal) = refusal {
            slot.settle(refusal, 0, changes);
        }
        slot
    }

    /// A slot whose arguments are the answer of a typed turn.
    pub(super) fn checking(call: Arc<ToolCall>, is_cut: bool) -> Self {
        Self::in_state(call, SlotState::Checking { is_cut })
    }

    /// A slot of a call that will not run, for this reason.
    pub(super) fn refused(call: Arc<ToolCall>, why: &'static str, changes: &mut Changes) -> Self {
        let mut slot = Self::in_state(call, SlotState::Ready);
        slot.settle(ToolResult::error(why), 0, changes);
        slot
    }

    fn in_state(call: Arc<ToolCall>, state: SlotState) -> Self {
        Self {
            call,
            state,
            resumed: None,
            told: false,
            interrupted: false,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state, SlotState::Ready)
    }

    /// The call as work, when it may start.
    pub(super) fn work(&self) -> Option<ToolWork> {
        self.is_ready().then(|| {
            let mut work = ToolWork::new(Arc::clone(&self.call));
            work.resumed.clone_from(&self.resumed);
            work
        })
    }

    pub(super) fn start(&mut self, changes: &mut Changes) {
        self.tell(changes);
        self.state = SlotState::Running;
    }

    pub(super) fn ask(&mut self, question: Question) {
        self.interrupted |= question.kind == QuestionKind::Uncertain;
        self.state = SlotState::Asking(Box::new(question));
    }

    /// An answer makes the slot ready, or is the result.
    pub(super) fn answered(&mut self, answer: Answer) -> Option<ToolResult> {
        let SlotState::Asking(question) = &self.state else {
            return None;
        };
        if question.kind != QuestionKind::Uncertain {
            self.resumed = Some(Box::new(((**question).clone(), answer)));
        } else if !matches!(answer, Answer::Approve { .. }) {
            return Some(result::told_unknown(&answer));
        }
        self.state = SlotState::Ready;
        None
    }

    /// The call was interrupted and runs again.
    pub(super) fn redo(&mut self) {
        self.interrupted = true;
        self.state = SlotState::Ready;
    }

    pub(super) fn settle(&mut self, result: ToolResult, duration_us: u64, changes: &mut Changes) {
        self.tell(changes);
        changes.tell(self.completed(&result, duration_us));
        self.state = SlotState::Settled(result);
    }

    /// Settles a call that has no result with one that says so.
    pub(super) fn give_up(&mut self, changes: &mut Changes) {
        self.give_up_for(result::NOT_RUN, changes);
    }

    /// The same, with what a call is told that never began.
    pub(super) fn give_up_for(&mut self, not_run: &'static str, changes: &mut Changes) {
        let text = match self.state {
            SlotState::Settled(_) => return,
            SlotState::Running => result::OUTCOME_UNKNOWN,
            _ if self.interrupted => result::OUTCOME_UNKNOWN,
            SlotState::Ready | SlotState::Asking(_) | SlotState::Checking { .. } => not_run,
        };
        self.settle(ToolResult::error(text), 0, changes);
    }

    fn tell(&mut self, changes: &mut Changes) {
        if !std::mem::replace(&mut self.told, true) {
            changes.tell(ToolEvent::Started {
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

    /// The tool message of a settled slot.
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

/// Gives calls whose id the history has already (servers that count from zero in each reply) an id of their own, so that
/// questions and journals name one call for good. A call without an id gets one. `forgotten` are ids of calls that a
/// compaction took out.
pub(super) fn make_ids_unique(message: &mut Arc<AssistantMessage>, history: &[Arc<Message>], forgotten: &[String]) {
    // Mostly all are new: told without hashing a long history.
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

/// The ids of all calls before.
fn ids<'a>(history: &'a [Arc<Message>], forgotten: &'a [String]) -> impl Iterator<Item = &'a str> {
    let earlier = history.iter().filter_map(|message| message.as_assistant());
    let calls = earlier.flat_map(AssistantMessage::tool_calls);
    calls.map(|call| &*call.id).chain(forgotten.iter().map(String::as_str))
}

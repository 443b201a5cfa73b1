//! [`Slot`]: one call of the newest reply, and its state.

use std::{ops::Not, sync::Arc, time::Duration};

use agcore_chat::{
    Answer, Marks, Message, Question, QuestionId, QuestionKind, ToolCall, ToolEvent, ToolMessage, ToolResult, ToolWork,
};
use serde::{Deserialize, Serialize};

use super::{
    changes::Changes,
    result::{self, Refusal},
};

/// One call of the newest reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Slot {
    pub(super) call: Arc<ToolCall>,
    pub(super) state: SlotState,
    /// The newest question that was answered. The call resumes with it when it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) resumed: Option<Box<(Question, Answer)>>,
    /// The id that the executor gave the open question. The call resumes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked_as: Option<QuestionId>,
    /// Whether the call has started to run at least once.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub(super) started: bool,
    /// Whether observers know that the model requested the call, which they learn once.
    #[serde(rename = "told", default, skip_serializing_if = "Not::not")]
    announced: bool,
    /// Whether it was interrupted while running, so that it may have taken effect.
    #[serde(default, skip_serializing_if = "Not::not")]
    interrupted: bool,
    #[serde(skip)]
    announced_input: AnnouncedInput,
}

/// The input with which a call was announced, so that the event of its end can share it. Not part of the state.
#[derive(Debug, Clone, Default)]
struct AnnouncedInput(Option<Arc<str>>);

impl PartialEq for AnnouncedInput {
    fn eq(&self, _: &Self) -> bool {
        true
    }
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

/// Returns whether a question is about the unknown outcome of the call itself. One with a state is that of a call which a tool
/// runs, and the tool gets the answer.
fn is_about_outcome(question: &Question) -> bool {
    question.kind == QuestionKind::Uncertain && question.state.is_null()
}

impl Slot {
    /// Creates a slot that may start, or that is settled because the call cannot run.
    pub(super) fn new(call: Arc<ToolCall>, refusal: Option<&Refusal>, changes: &mut Changes) -> Self {
        let refusal = match refusal {
            Some(refusal) => Some(ToolResult::error(refusal.message())),
            None => result::unreadable(&call),
        };
        let mut slot = Self::in_state(call, SlotState::Ready);
        match refusal {
            Some(refusal) => slot.settle(refusal, changes),
            // Observers must know the call before anything is asked or reported about it.
            None => slot.announce(changes),
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
        slot.settle(ToolResult::error(reason), changes);
        slot
    }

    fn in_state(call: Arc<ToolCall>, state: SlotState) -> Self {
        Self {
            call,
            state,
            resumed: None,
            asked_as: None,
            started: false,
            announced: false,
            interrupted: false,
            announced_input: AnnouncedInput::default(),
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state, SlotState::Ready)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.state, SlotState::Running)
    }

    /// Returns whether the call waits to start, or runs.
    pub(super) fn is_pending(&self) -> bool {
        self.is_ready() || self.is_running()
    }

    pub(super) fn is_settled(&self) -> bool {
        matches!(self.state, SlotState::Settled(_))
    }

    /// Returns the question that waits for an answer.
    pub(super) fn question(&self) -> Option<&Question> {
        match &self.state {
            SlotState::Asking(question) => Some(question),
            _ => None,
        }
    }

    /// Returns whether the open question was counted by the machine, which named it.
    pub(super) fn has_counted_question(&self) -> bool {
        self.question().is_some() && self.asked_as.is_some()
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
        changes.emit(|| ToolEvent::Started {
            call_id: self.call.id.as_str().into(),
            name: self.call.name.as_str().into(),
        });
        self.started = true;
        self.state = SlotState::Running;
    }

    /// Waits for the answer to a question, which the executor knows under the id `asked_as`.
    pub(super) fn ask(&mut self, question: Box<Question>, asked_as: QuestionId) {
        self.interrupted |= is_about_outcome(&question);
        self.asked_as = Some(asked_as);
        self.state = SlotState::Asking(question);
    }

    /// Applies an answer: it makes the slot ready, or becomes the result.
    pub(super) fn answered(&mut self, answer: Answer) -> Option<ToolResult> {
        let SlotState::Asking(question) = &self.state else {
            return None;
        };
        let asked_as = self.asked_as.take();
        let is_about_outcome = is_about_outcome(question);
        let is_earlier_kept = match &answer {
            Answer::Approve { arguments, .. } => is_about_outcome && arguments.is_none() && self.resumed.is_some(),
            _ if is_about_outcome => return Some(result::unknown_outcome(&answer)),
            _ => false,
        };
        // A call that runs again as it did before continues with the answer that it had.
        if !is_earlier_kept {
            let mut question = Question::clone(question);
            question.id = asked_as.unwrap_or(question.id);
            self.resumed = Some(Box::new((question, answer)));
        }
        self.state = SlotState::Ready;
        None
    }

    /// Returns whether the call continues after a question that it asked while it ran.
    pub(super) fn continues(&self) -> bool {
        let resumed = self.resumed.as_deref();
        self.started && resumed.is_some_and(|(question, _)| !is_about_outcome(question))
    }

    /// Runs an interrupted call again.
    pub(super) fn redo(&mut self, changes: &mut Changes) {
        changes.emit(|| ToolEvent::Repeated {
            call_id: self.call.id.as_str().into(),
            name: self.call.name.as_str().into(),
        });
        self.interrupted = true;
        self.state = SlotState::Ready;
    }

    /// Settles a call that did not run.
    pub(super) fn settle(&mut self, result: ToolResult, changes: &mut Changes) {
        self.settle_after(result, 0, None, changes);
    }

    /// Settles a call that took this long, and that ran with this input if it is not the one of the model.
    pub(super) fn settle_after(
        &mut self,
        result: ToolResult,
        duration_us: u64,
        input: Option<&str>,
        changes: &mut Changes,
    ) {
        self.announce(changes);
        changes.emit(|| self.completed(&result, duration_us, input));
        self.asked_as = None;
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
        self.settle(ToolResult::error(text), changes);
    }

    fn announce(&mut self, changes: &mut Changes) {
        if !std::mem::replace(&mut self.announced, true) {
            changes.emit(|| {
                let input = Arc::from(self.call.raw_input());
                self.announced_input = AnnouncedInput(Some(Arc::clone(&input)));
                ToolEvent::Requested {
                    call_id: self.call.id.as_str().into(),
                    name: self.call.name.as_str().into(),
                    input,
                }
            });
        }
    }

    fn completed(&mut self, result: &ToolResult, duration_us: u64, input: Option<&str>) -> ToolEvent {
        let announced = self.announced_input.0.take();
        ToolEvent::Completed {
            call_id: self.call.id.as_str().into(),
            name: self.call.name.as_str().into(),
            input: match (input, announced) {
                (Some(input), _) => input.into(),
                (None, Some(announced)) => announced,
                (None, None) => self.call.raw_input().into(),
            },
            output: result.content.text().into(),
            is_error: result.is_error,
            duration: Duration::from_micros(duration_us),
            display: result.display.clone(),
        }
    }

    /// Converts a settled slot into its tool message.
    pub(super) fn into_message(self) -> Option<Arc<Message>> {
        let SlotState::Settled(result) = self.state else {
            return None;
        };
        Some(Arc::new(Message::Tool(ToolMessage {
            tool_call_id: self.call.id.clone(),
            content: result.content,
            name: Some(self.call.name.clone()),
            marks: Marks::new().with_error(result.is_error),
            ..ToolMessage::default()
        })))
    }
}

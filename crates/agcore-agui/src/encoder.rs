//! [`Encoder`]: from the events of a run to AG-UI events.

mod agent;
mod calls;
mod changes;
mod details;
mod ending;
mod error;
mod ids;
mod replay;
mod replies;
mod scope;
mod steps;
mod subagents;
mod usage;

pub use error::{EncodeError, EncodeErrorKind};

use std::collections::HashSet;

use agcore_chat::{FinishReason, Text};
use serde_json::Value;

use crate::{
    event::{AguiEvent, EventType, PROTOCOL_VERSION},
    input::{Input, Interrupt, Run, Snapshot, Step, TextMessage},
    settings::EncoderSettings,
    thread_message::ThreadMessage,
};
use calls::Calls;
use changes::Changes;
use error::EncodeErrorKind as Kind;
use ids::Ids;
use replies::{EndOfText, Replies, TextEnd};
use scope::Scope;
use steps::Steps;
use subagents::Subagents;
use usage::{MessageUsage, RunUsage};

/// Turns what happens in one run into AG-UI events, in an order that AG-UI clients accept.
///
/// The encoder makes ids unique, starts and ends messages, calls, steps and sub-agents where they belong, and ends what is still
/// open when the run ends. What it returns has no dialect yet: a log keeps it, and each event is [written](AguiEvent::to_json)
/// for its reader.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_agui::{Encoder, EventType, Format, Input, Run, Step};
/// use agcore_chat::{StreamEvent, TextEvent};
///
/// let mut encoder = Encoder::new("thread_1", "run_1");
/// let mut log = encoder.push(Run::started().into())?;
/// log.extend(encoder.push(Step::Started("worker".into()).into())?);
/// let delta = TextEvent::Text("Good day".into());
/// log.extend(encoder.push(StreamEvent::new(0, Arc::from("helper"), 0, 0, delta).into())?);
/// log.extend(encoder.push(Run::finished().into())?);
///
/// let types: Vec<&str> = log.iter().map(|event| event.event_type().as_str()).collect();
/// assert_eq!(
///     types,
///     [
///         "RUN_STARTED", "STEP_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
///         "STEP_FINISHED", "RUN_FINISHED",
///     ]
/// );
/// agcore_agui::check_order(log.iter().map(|event| event.to_value(Format::default()))).unwrap();
/// # Ok::<(), agcore_agui::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Encoder {
    settings: EncoderSettings,
    scope: Scope,
    phase: Phase,
    ids: Ids,
    steps: Steps,
    replies: Replies,
    calls: Calls,
    subagents: Subagents,
    usage: RunUsage,
    /// Why the newest reply of the run's own agents is not complete.
    cut_off: Option<FinishReason>,
    changes: Changes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    Ended,
}

impl Encoder {
    /// Creates an encoder for a run.
    pub fn new(thread: impl Into<Text>, run: impl Into<Text>) -> Self {
        Self {
            settings: EncoderSettings::default(),
            scope: Scope {
                thread: thread.into(),
                run: run.into(),
            },
            phase: Phase::New,
            ids: Ids::default(),
            steps: Steps::default(),
            replies: Replies::default(),
            calls: Calls::default(),
            subagents: Subagents::default(),
            usage: RunUsage::default(),
            cut_off: None,
            changes: Changes::default(),
        }
    }

    /// Sets which events and members are sent.
    #[must_use]
    pub fn with_settings(mut self, settings: EncoderSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Returns the events that report the input to a client, often one, sometimes none or several.
    ///
    /// # Errors
    /// When the input cannot follow the earlier ones: before the start of the run, after its end, a second start, the end of a
    /// step that is not open, or an interrupt without a question. The encoder is unchanged then.
    pub fn push(&mut self, input: Input) -> Result<Vec<AguiEvent>, EncodeError> {
        match (self.phase, &input) {
            (Phase::New, Input::Run(Run::Started { .. })) => {}
            (Phase::New, _) => {
                return Err(EncodeError::new(
                    Kind::NotStarted,
                    "the run has not started; push its start first",
                ));
            }
            (Phase::Running, Input::Run(Run::Started { .. })) => {
                return Err(EncodeError::new(
                    Kind::AlreadyStarted,
                    "the run has started already; push its start once",
                ));
            }
            (Phase::Running, _) => {}
            (Phase::Ended, _) => {
                let message = "the run has ended, and nothing can follow; ignore what comes late, or start another run";
                return Err(EncodeError::new(Kind::Ended, message));
            }
        }
        let mut out = Vec::new();
        match input {
            Input::Run(Run::Started { parent }) => out.push(self.started(parent.as_deref())),
            Input::Run(end) => self.ended(&end, &mut out),
            Input::Interrupt(interrupts) => {
                check_interrupts(&interrupts)?;
                self.interrupted(&interrupts, &mut out);
            }
            Input::Step(step) => self.step(step, &mut out)?,
            Input::Event { event, step } => self.agent_event(event, step, &mut out),
            Input::Text(message) => self.text_message(&message, &mut out),
            Input::Snapshot(Snapshot::State(state)) => out.push(self.changes.state(state)),
            Input::Snapshot(Snapshot::StateChange(state)) => out.push(self.changes.state_change(state)),
            Input::Snapshot(Snapshot::Messages(messages)) => out.push(messages_snapshot(&messages)),
            Input::Activity(activity) => out.push(self.changes.activity(activity)),
            Input::Custom { name, value } => {
                out.push(
                    AguiEvent::new(EventType::Custom)
                        .with("name", name.as_str())
                        .with_any("value", value),
                );
            }
        }
        Ok(out)
    }

    /// Returns whether the run has ended.
    pub fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    fn started(&mut self, parent: Option<&str>) -> AguiEvent {
        self.phase = Phase::Running;
        AguiEvent::new(EventType::RunStarted)
            .with("threadId", self.scope.thread.as_str())
            .with("runId", self.scope.run.as_str())
            .with("protocolVersion", PROTOCOL_VERSION)
            .with("parentRunId", parent)
    }

    fn step(&mut self, step: Step, out: &mut Vec<AguiEvent>) -> Result<(), EncodeError> {
        match step {
            Step::Started(name) => out.push(self.steps.start(name, &self.scope)),
            Step::Finished(name) => {
                let Some(event) = self.steps.finish(&name, &self.scope) else {
                    let message = format!("the step {name} ends, but it is not open; push its start first");
                    return Err(EncodeError::new(Kind::UnknownStep, message));
                };
                // A flow may have two branches in the same node.
                if !self.steps.is_open(&name) {
                    self.replies.end_stage(&name, self.settings.usage, out);
                }
                out.push(event);
            }
        }
        Ok(())
    }

    fn text_message(&mut self, message: &TextMessage, out: &mut Vec<AguiEvent>) {
        let id = self.ids.unique(&message.id);
        let stage = message.step.as_ref().or_else(|| self.steps.current());
        let new = |kind| AguiEvent::new(kind).with("messageId", id.as_str());
        out.push(new(EventType::TextMessageStart).with("role", "assistant"));
        if !message.text.is_empty() {
            out.push(new(EventType::TextMessageContent).with("delta", message.text.as_str()));
        }
        let end = TextEnd {
            status: message.status,
            error: message
                .error
                .as_ref()
                .map(|(code, text)| (code.to_string(), text.clone())),
            is_discarded: false,
            usage: message
                .usage
                .as_ref()
                .map_or_else(MessageUsage::default, MessageUsage::from),
        };
        let end = EndOfText {
            id: &id,
            owner: None,
            stage: stage.map(Text::as_str),
            answer: &message.text,
            suggested_actions: &message.suggested_actions,
            end: &end,
        };
        out.push(end.event(self.settings.usage));
    }
}

fn check_interrupts(interrupts: &[Interrupt]) -> Result<(), EncodeError> {
    let mut ids = HashSet::new();
    if let Some(twice) = interrupts.iter().find(|interrupt| !ids.insert(&interrupt.id)) {
        let message = format!("two interrupts have the id {}; give each an id of its own", twice.id);
        return Err(EncodeError::new(Kind::Interrupts, message));
    }
    if interrupts.is_empty() {
        let message = "the run waits, but for no interrupt; push at least one, or the end of the run";
        return Err(EncodeError::new(Kind::Interrupts, message));
    }
    Ok(())
}

fn messages_snapshot(messages: &[ThreadMessage]) -> AguiEvent {
    let messages: Vec<Value> = messages.iter().map(ThreadMessage::to_value).collect();
    AguiEvent::new(EventType::MessagesSnapshot).with("messages", messages)
}

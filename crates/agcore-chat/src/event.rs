//! [`StreamEvent`]: an event that observers receive while a turn runs. Events are never read back to compute state.

mod tool;

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::tool::ToolEvent;
use self::tool::micros;
use crate::{
    conversation::{assistant::AssistantMessage, message::Message},
    cost::usage::{Usage, UsageTracker},
    fault::Fault,
    reply::{finish::FinishReason, response::AnsweredBy},
    small_text::Text,
    tool::question::{Answer, Question, QuestionId},
};

/// An event of a running turn.
///
/// Within a round, the events come in this order: deltas, the complete message, usage, then the events of the tools as
/// they happen. [`TurnEvent::Complete`] comes exactly once, at the end.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{EventKind, StreamEvent, TextEvent};
///
/// let event = StreamEvent::new(0, Arc::from("helper"), 0, 0, TextEvent::Text("Hello".into()));
/// let EventKind::Text(TextEvent::Text(text)) = &event.kind else { panic!() };
/// assert_eq!(*text, "Hello");
/// assert_eq!(
///     serde_json::to_string(&event)?,
///     r#"{"seq":0,"agent":"helper","turn":0,"round":0,"kind":{"text":{"text":"Hello"}}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StreamEvent {
    /// The position among the events of the turn, from 0, without gaps. A turn that is resumed after a suspension
    /// continues the count.
    pub seq: u64,
    /// The name of the agent.
    pub agent: Arc<str>,
    /// The index of the turn, from 0.
    pub turn: u32,
    /// The index of the round within the turn, from 0.
    pub round: u32,
    /// The id under which a store keeps the reply to which the event belongs: the reply that is being written, or the one that
    /// made the tool call. `None` without a store, and for events that belong to no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<str>>,
    /// The id of the tool call by which another agent asked this one. `None` for the agent that answers the user.
    ///
    /// An agent whose own sub-agents ask others has events of several levels: a parent is a call of the agent one level above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Arc<str>>,
    /// The event itself, nested by topic.
    pub kind: EventKind,
}

impl StreamEvent {
    /// Creates an event.
    pub fn new(seq: u64, agent: Arc<str>, turn: u32, round: u32, kind: impl Into<EventKind>) -> Self {
        Self {
            seq,
            agent,
            turn,
            round,
            message: None,
            parent: None,
            kind: kind.into(),
        }
    }

    /// Sets the id under which a store keeps the reply to which the event belongs.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Option<Arc<str>>>) -> Self {
        self.message = message.into();
        self
    }

    /// Sets the tool call by which another agent asked this one.
    #[must_use]
    pub fn with_parent(mut self, parent: impl Into<Option<Arc<str>>>) -> Self {
        self.parent = parent.into();
        self
    }
}

/// The kinds of events, by topic. The example of [`StreamEvent`] reads one.
///
/// Large contents are boxed, because most events are small and each is moved several times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The model produces output.
    Text(TextEvent),
    /// A tool call is requested, runs or ends.
    Tool(ToolEvent),
    /// The model is called.
    Model(ModelEvent),
    /// The context of the model changes.
    Context(ContextEvent),
    /// A person is asked.
    Person(PersonEvent),
    /// The agent makes progress.
    Agent(AgentEvent),
    /// The turn starts or ends.
    Turn(TurnEvent),
    /// An event defined by a higher layer.
    Extension(Extension),
}

macro_rules! topics {
    ($($topic:ident($type:ty)),+) => {$(
        impl From<$type> for EventKind {
            fn from(event: $type) -> Self {
                Self::$topic(event)
            }
        }
    )+};
}
topics!(
    Text(TextEvent),
    Tool(ToolEvent),
    Model(ModelEvent),
    Context(ContextEvent),
    Person(PersonEvent),
    Agent(AgentEvent),
    Turn(TurnEvent),
    Extension(Extension)
);

/// Output of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextEvent {
    /// A delta of visible text.
    Text(Text),
    /// A delta of reasoning.
    Reasoning(Text),
    /// A delta of a refusal.
    Refusal(Text),
    /// A delta of a call's arguments.
    ToolArguments {
        /// The position of the call among the calls of the message, from 0.
        index: u32,
        /// The call's id; empty until it is known.
        call_id: Text,
        /// The tool's name; empty until it is known.
        name: Text,
        /// The delta of the arguments' JSON text.
        arguments: Text,
    },
    /// The part of the typed output that can be parsed so far.
    PartialObject(Value),
    /// The complete message.
    MessageComplete(Arc<AssistantMessage>),
}

/// A call of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelEvent {
    /// The tokens of one reply.
    Usage(Box<Usage>),
    /// The reply is not complete: a limit of tokens was reached, or a filter removed content.
    CutOff(FinishReason),
    /// The call failed and will be retried.
    RetryScheduled {
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// The delay before the next attempt.
        #[serde(rename = "delay_us", with = "micros")]
        delay: Duration,
        /// The reason the last attempt failed.
        fault: Fault,
    },
    /// The stream failed and was restarted: discard the deltas of this reply received so far.
    StreamRestarted {
        /// The reason the stream failed.
        fault: Fault,
    },
    /// One of several providers answers the request.
    AnsweredBy(AnsweredBy),
    /// The call waits because of a client-side rate limit.
    WaitingForLimit {
        /// How long the call waits.
        #[serde(rename = "delay_us", with = "micros")]
        delay: Duration,
        /// A description of the limit.
        limit: Text,
    },
}

/// A change of the model's context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextEvent {
    /// The history was compacted.
    Compacted {
        /// The method that was used.
        method: CompactionMethod,
        /// The estimated number of tokens before the compaction.
        tokens_before: u64,
        /// The estimated number of tokens after the compaction.
        tokens_after: u64,
    },
    /// A compaction of the history failed.
    CompactionFailed {
        /// The reason.
        fault: Fault,
    },
}

/// A method of compacting a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactionMethod {
    /// Old tool results were replaced by placeholders.
    Prune,
    /// The older part was replaced by a summary that a model wrote.
    Summary,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PersonEvent {
    /// A call asked a question.
    Asked(Box<Question>),
    /// A question was answered.
    Answered {
        /// The id of the question.
        question: QuestionId,
        /// The answer.
        answer: Box<Answer>,
    },
    /// The turn was suspended until these questions are answered; its state can be saved.
    Suspended(Vec<Question>),
}

/// Progress of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// The status of a plan's step changed.
    PlanStep {
        /// The id of the plan.
        plan: Text,
        /// The index of the step.
        index: u32,
        /// The new status of the step.
        status: Text,
        /// A description of the step.
        description: Text,
    },
    /// Another agent took over the conversation.
    Handoff {
        /// The name of the previous agent.
        from: Text,
        /// The name of the new agent.
        to: Text,
    },
}

/// The start or the end of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnEvent {
    /// The turn started with these messages.
    Started(Vec<Arc<Message>>),
    /// A budget or limit was reached.
    BudgetReached {
        /// The name of the limit.
        limit: Text,
    },
    /// The turn failed.
    Error(Fault),
    /// The turn ended, successfully or not. Always the last event.
    Complete {
        /// The tokens and model calls of the whole turn.
        usage: Box<UsageTracker>,
    },
}

/// An event defined by a higher layer.
///
/// ```
/// use agcore_chat::{EventKind, Extension};
/// use serde_json::json;
///
/// let event = EventKind::from(Extension::new("flow.node_started", json!({"node": "review"})));
/// assert!(matches!(event, EventKind::Extension(extension) if extension.data["node"] == "review"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Extension {
    /// The name, prefixed with that of the layer, like `flow.node_started`.
    pub name: Text,
    /// The contents.
    pub data: Value,
}

impl Extension {
    /// Creates an event.
    pub fn new(name: impl Into<Text>, data: Value) -> Self {
        Self {
            name: name.into(),
            data,
        }
    }
}

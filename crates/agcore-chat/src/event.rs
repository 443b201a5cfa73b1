//! [`StreamEvent`]: what an observer is told while a turn runs. Events are told and never read back to compute state.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    assistant::AssistantMessage,
    executor::{Answer, Progress, Question, QuestionId},
    fault::Fault,
    message::Message,
    response::AnsweredBy,
    text::Text,
    usage::{Usage, UsageTracker},
};

/// Something happened.
///
/// The order within a round: deltas, the complete message, usage, then the tools' events as they happen.
/// [`TurnEvent::Complete`] comes exactly once, last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StreamEvent {
    /// Counts the events of a turn from 0, without gaps; a turn that goes on after a suspension counts on.
    pub seq: u64,
    /// The agent that it happened to.
    pub agent: Arc<str>,
    /// The turn, from 0.
    pub turn: u32,
    /// The round within the turn, from 0.
    pub round: u32,
    /// What happened.
    pub kind: EventKind,
}

impl StreamEvent {
    /// An event of an agent's turn and round.
    pub fn new(seq: u64, agent: Arc<str>, turn: u32, round: u32, kind: impl Into<EventKind>) -> Self {
        Self {
            seq,
            agent,
            turn,
            round,
            kind: kind.into(),
        }
    }
}

/// What happened, by topic. What is large in an event is boxed: most are small, and each moves several times on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The model writes.
    Text(TextEvent),
    /// A tool runs.
    Tool(ToolEvent),
    /// The model is called.
    Model(ModelEvent),
    /// The context changes.
    Context(ContextEvent),
    /// A person is asked.
    Person(PersonEvent),
    /// The agent goes on.
    Agent(AgentEvent),
    /// The turn begins or ends.
    Turn(TurnEvent),
    /// Anything a floor above adds.
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

/// The model writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextEvent {
    /// More visible text.
    Text(Text),
    /// More reasoning.
    Reasoning(Text),
    /// More of a refusal.
    Refusal(Text),
    /// More of a call's arguments.
    ToolArguments {
        /// The call's place among the calls of the message.
        index: u32,
        /// The call's id, as soon as it is known.
        call_id: Text,
        /// The tool's name, as soon as it is known.
        name: Text,
        /// More of the arguments' JSON text.
        arguments: Text,
    },
    /// The typed output as far as it can be read.
    PartialObject(Value),
    /// The message is whole.
    MessageComplete(Arc<AssistantMessage>),
}

/// A tool runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolEvent {
    /// A call begins.
    Started {
        /// The call's id.
        call_id: Text,
        /// The tool's name.
        name: Text,
        /// What the model wrote.
        input: Arc<str>,
    },
    /// A call tells how far it is.
    Progress {
        /// The call's id.
        call_id: Text,
        /// What it tells.
        progress: Box<Progress>,
    },
    /// A call has its result.
    Completed {
        /// The call's id.
        call_id: Text,
        /// The tool's name.
        name: Text,
        /// What the model wrote.
        input: Arc<str>,
        /// The result's text.
        output: Arc<str>,
        /// Whether the call failed.
        is_error: bool,
        /// How long it ran.
        #[serde(rename = "duration_us", with = "micros")]
        duration: Duration,
        /// For observers only: display hints, metadata.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        display: Option<Box<Value>>,
    },
}

/// The model is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelEvent {
    /// Tokens of one reply.
    Usage(Box<Usage>),
    /// The call failed and will be made again.
    RetryScheduled {
        /// Which attempt comes next, from 1.
        attempt: u32,
        /// After how long.
        #[serde(rename = "delay_us", with = "micros")]
        delay: Duration,
        /// Why the last one failed.
        fault: Fault,
    },
    /// The stream died and begins again: forget this reply's deltas so far.
    StreamRestarted {
        /// Why.
        fault: Fault,
    },
    /// Which of several providers answers.
    AnsweredBy(AnsweredBy),
    /// The call waits for a rate limit of our own.
    WaitingForLimit {
        /// For how long.
        #[serde(rename = "delay_us", with = "micros")]
        delay: Duration,
        /// Which limit.
        limit: Text,
    },
}

/// The context changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextEvent {
    /// The history was made shorter.
    Compacted {
        /// How.
        method: CompactionMethod,
        /// Estimated tokens before.
        tokens_before: u64,
        /// Estimated tokens after.
        tokens_after: u64,
    },
    /// The history could not be made shorter.
    CompactionFailed {
        /// Why.
        fault: Fault,
    },
}

/// How a history was made shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactionMethod {
    /// Old tool results were taken out.
    Prune,
    /// A model summed the older part up.
    Summary,
}

/// A person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PersonEvent {
    /// A call asks.
    Asked(Box<Question>),
    /// A question was answered.
    Answered {
        /// Which.
        question: QuestionId,
        /// How.
        answer: Answer,
    },
    /// The turn waits for these questions and can be saved.
    Suspended(Vec<Question>),
}

/// The agent goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// A step of a plan changed.
    PlanStep {
        /// The plan's id.
        plan: Text,
        /// The step's place.
        index: u32,
        /// Its new status.
        status: Text,
        /// What it is about.
        description: Text,
    },
    /// Another agent takes the conversation over.
    Handoff {
        /// Who had it.
        from: Text,
        /// Who has it now.
        to: Text,
    },
}

/// The turn begins or ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnEvent {
    /// The turn has begun with these messages.
    Started(Vec<Arc<Message>>),
    /// A budget or limit was reached.
    BudgetReached {
        /// Which.
        limit: Text,
    },
    /// The turn failed.
    Error(Fault),
    /// The turn is over, for better or worse. Always the last event.
    Complete {
        /// Tokens and calls of the whole turn.
        usage: Box<UsageTracker>,
    },
}

/// An event that a floor above adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Extension {
    /// Its name, with the prefix of who adds it (`flow.node_started`).
    pub name: Text,
    /// What it tells.
    pub data: Value,
}

impl Extension {
    /// An event of a floor above.
    pub fn new(name: impl Into<Text>, data: Value) -> Self {
        Self {
            name: name.into(),
            data,
        }
    }
}

/// A duration as whole microseconds.
mod micros {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        u64::try_from(duration.as_micros())
            .unwrap_or(u64::MAX)
            .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}

//! [`Input`]: what an encoder receives.

mod interrupt;
mod run;
mod text_message;

pub use interrupt::Interrupt;
pub use run::{Run, RunEnd};
pub use text_message::{TextMessage, TextStatus};

use agcore_chat::{StreamEvent, Text};
use serde_json::{Map, Value};

use crate::thread_message::ThreadMessage;

/// An input of an [`Encoder`](crate::Encoder): an event of a run.
///
/// Events of agents can be pushed as they come; a server maps events of its flows to the other inputs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// The run starts or ends.
    Run(Run),
    /// A step starts or ends.
    Step(Step),
    /// An agent reports an event.
    Event {
        /// The event.
        event: StreamEvent,
        /// The name of the step in which the agent works. By default the one that started last.
        step: Option<Text>,
    },
    /// A message of the assistant is complete, and was not streamed by events of an agent.
    Text(TextMessage),
    /// The state or the conversation is sent as a whole.
    Snapshot(Snapshot),
    /// The content of an activity changed.
    Activity(Activity),
    /// The application reports an event of its own.
    Custom {
        /// The name.
        name: Text,
        /// The value.
        value: Value,
    },
    /// The run waits for answers, and ends. At least one interrupt, each with an id of its own.
    Interrupt(Vec<Interrupt>),
}

impl From<StreamEvent> for Input {
    fn from(event: StreamEvent) -> Self {
        Self::Event { event, step: None }
    }
}

macro_rules! inputs {
    ($($variant:ident($type:ty)),+) => {$(
        impl From<$type> for Input {
            fn from(input: $type) -> Self {
                Self::$variant(input)
            }
        }
    )+};
}
inputs!(
    Run(Run),
    Step(Step),
    Text(TextMessage),
    Snapshot(Snapshot),
    Activity(Activity),
    Interrupt(Vec<Interrupt>)
);

/// The start or the end of a step, such as a node of a flow.
///
/// Steps have the names that the flow gives them. Where a step is entered again, the encoder appends a number to the name on the
/// wire: `worker`, `worker_2`. The member `stage` of other events has the name without a number.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// A step starts.
    Started(Text),
    /// A step ends. If several with this name are open, it is the one that started last.
    Finished(Text),
}

/// The whole state or conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Snapshot {
    /// The state: sent as a whole.
    State(StateValue),
    /// The state: sent as a difference to the last one (JSON Patch) if there is one and the difference is shorter.
    StateChange(StateValue),
    /// The messages of the conversation.
    Messages(Vec<ThreadMessage>),
}

/// A value of the state that an agent shares with its client.
///
/// ```
/// use agcore_agui::{Encoder, Format, Run, Snapshot, StateValue};
/// use serde_json::json;
///
/// let mut encoder = Encoder::new("thread_1", "run_1");
/// encoder.push(Run::started().into())?;
/// let state = StateValue::new(json!({"title": "Tea"})).with_version(3);
/// let [event] = &encoder.push(Snapshot::State(state).into())?[..] else { panic!() };
/// let sent = event.to_value(Format::default());
/// assert_eq!(sent["snapshot"], json!({"title": "Tea"}));
/// assert_eq!(sent["metadata"]["agcore"]["version"], 3);
/// # Ok::<(), agcore_agui::EncodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StateValue {
    /// The value.
    pub value: Value,
    /// The number of its version. Clients send it back with their next change.
    pub version: Option<u64>,
}

impl StateValue {
    /// Creates a value without a version.
    pub fn new(value: Value) -> Self {
        Self { value, version: None }
    }

    /// Sets the number of the version.
    #[must_use]
    pub fn with_version(mut self, version: u64) -> Self {
        self.version = Some(version);
        self
    }
}

impl From<Value> for StateValue {
    fn from(value: Value) -> Self {
        Self::new(value)
    }
}

/// The content of an activity: progress that is shown in the conversation, but is not part of it.
///
/// The first content of an activity is sent as a whole, later ones as differences where these are shorter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Activity {
    /// The id of the message that shows the activity.
    pub id: Text,
    /// The type, by which a client decides how to draw it.
    pub kind: Text,
    /// The whole content.
    pub content: Map<String, Value>,
}

impl Activity {
    /// Creates the content of an activity.
    pub fn new(id: impl Into<Text>, kind: impl Into<Text>, content: Map<String, Value>) -> Self {
        Self {
            id: id.into(),
            kind: kind.into(),
            content,
        }
    }
}

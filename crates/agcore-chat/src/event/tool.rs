//! [`ToolEvent`]: an event of a tool call.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{small_text::Text, tool::executor::Progress};

/// A tool call, from the request of the model to its end.
///
/// The usual order is `Requested`, `Started`, any number of `Progress`, `Completed`. A call that is refused has only
/// the first and the last. A call that waits for a person [asks](crate::PersonEvent::Asked) between `Requested` and `Started`,
/// or between two `Started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolEvent {
    /// The model requested a call. It runs after the checks and approvals that it needs, or not at all. Comes once per
    /// call, before anything else about it, and not again if the turn is resumed, even in another process.
    Requested {
        /// The call's id.
        call_id: Text,
        /// The tool's name.
        name: Text,
        /// The input as the model wrote it.
        input: Arc<str>,
    },
    /// The tool begins to run the call: hooks, rules and people have allowed it, and budgets allow it. Comes
    /// again if the call continues after a question that it asked, or [runs again](Self::Repeated). A call that is
    /// refused, or cancelled before it runs, has no such event.
    ///
    /// Reading its arguments into a type is the first thing that a typed tool does: a call whose arguments do not fit
    /// the type starts and fails.
    Started {
        /// The call's id.
        call_id: Text,
        /// The tool's name.
        name: Text,
    },
    /// A call reported its progress.
    Progress {
        /// The call's id.
        call_id: Text,
        /// The progress so far.
        progress: Box<Progress>,
    },
    /// A call was running when its process died, so its outcome is unknown. It runs again, because its tool allows that. Calls
    /// of other tools ask a [question](crate::PersonEvent::Asked) instead.
    Repeated {
        /// The call's id.
        call_id: Text,
        /// The tool's name.
        name: Text,
    },
    /// A call ended: it returned a result, failed, or was refused before it ran. Comes once per call, as its last
    /// event.
    Completed {
        /// The call's id.
        call_id: Text,
        /// The tool's name.
        name: Text,
        /// The input with which it ran: the one of the model, unless a hook or a person changed it.
        input: Arc<str>,
        /// The text of the result.
        output: Arc<str>,
        /// Whether the call failed.
        is_error: bool,
        /// How long it ran.
        #[serde(rename = "duration_us", with = "micros")]
        duration: Duration,
        /// Data for observers, such as display hints; never sent to a model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        display: Option<Box<Value>>,
    },
}

/// Serializes a duration as whole microseconds.
pub(super) mod micros {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::event) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        u64::try_from(duration.as_micros())
            .unwrap_or(u64::MAX)
            .serialize(serializer)
    }

    pub(in crate::event) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}

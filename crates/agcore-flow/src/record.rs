//! [`Record`]: what a node leaves behind.

use std::time::Duration;

use agcore_chat::UsageTracker;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The trace of a node that has finished. A branch of a run is routed by its last record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The number within the run, in the order in which nodes finished: 1, 2, 3 …
    pub id: u64,
    /// The node.
    pub node: String,
    /// The branch: `0` is the run itself; the branches of a fork have the name of their first node appended, like `0.search`.
    pub branch: String,
    /// How often the node was visited in the run, with this time.
    pub visit: u32,
    /// The number of attempts that it took.
    pub attempts: u32,
    /// The nodes that come next.
    pub next: Vec<String>,
    /// Data of the node about what it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The time that it took, all attempts together; whole microseconds in JSON.
    #[serde(rename = "duration_us", with = "micros")]
    pub duration: Duration,
    /// The tokens that it used, with their cost, if the node reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Box<UsageTracker>>,
}

/// Durations as whole microseconds.
pub(crate) mod micros {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        u64::try_from(duration.as_micros())
            .unwrap_or(u64::MAX)
            .serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}

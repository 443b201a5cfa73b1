//! [`KeepAlive`]: how long a model stays in the server's memory.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// How long the server keeps the model in memory after a request; without it, five minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepAlive {
    /// So long; no time at all unloads it at once.
    For(Duration),
    /// Until the server ends.
    Forever,
}

impl From<Duration> for KeepAlive {
    fn from(time: Duration) -> Self {
        Self::For(time)
    }
}

/// In seconds; a negative number is for ever.
impl Serialize for KeepAlive {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::For(time) if time.subsec_nanos() == 0 => serializer.serialize_u64(time.as_secs()),
            Self::For(time) => serializer.serialize_f64(time.as_secs_f64()),
            Self::Forever => serializer.serialize_i64(-1),
        }
    }
}

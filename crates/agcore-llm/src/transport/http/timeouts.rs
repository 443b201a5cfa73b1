//! [`Timeouts`]: how long each part of an exchange may take.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, de};

use agcore_wire::{LlmError, LlmErrorKind, TimeoutStage};

/// How long each part of an exchange may take; `None` is without limit.
///
/// In settings a number of seconds, 0 for without limit.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::transport::http::Timeouts;
///
/// let timeouts = Timeouts::new().with_idle(Duration::from_secs(30));
/// assert_eq!(timeouts.connect, Some(Duration::from_secs(10)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Timeouts {
    /// Finding the host and making the connection, TLS included; 10 s.
    #[serde(deserialize_with = "seconds")]
    pub connect: Option<Duration>,
    /// From sending the request to the head of the reply; 120 s. Servers send the head of a whole reply when the reply
    /// is finished, so a model that thinks for long needs more, or a streamed reply.
    #[serde(deserialize_with = "seconds")]
    pub first_byte: Option<Duration>,
    /// Between two pieces of the body, whatever they hold: comments are a sign of life; 60 s.
    #[serde(deserialize_with = "seconds")]
    pub idle: Option<Duration>,
    /// The whole exchange; 600 s. Does not apply to streamed replies.
    #[serde(deserialize_with = "seconds")]
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        Self {
            connect: seconds(10),
            first_byte: seconds(120),
            idle: seconds(60),
            total: seconds(600),
        }
    }
}

impl Timeouts {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// No limit at all.
    pub fn unlimited() -> Self {
        Self {
            connect: None,
            first_byte: None,
            idle: None,
            total: None,
        }
    }

    /// Limits making the connection.
    pub fn with_connect(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.connect = limit.into();
        self
    }

    /// Limits the wait for the head of the reply.
    pub fn with_first_byte(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.first_byte = limit.into();
        self
    }

    /// Limits the wait between two pieces of the body.
    pub fn with_idle(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.idle = limit.into();
        self
    }

    /// Limits the whole exchange of replies that are not streamed.
    pub fn with_total(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.total = limit.into();
        self
    }

    /// The error of a stage whose time is up.
    pub(super) fn expired(&self, stage: TimeoutStage, origin: &str) -> LlmError {
        let message = match stage {
            TimeoutStage::Connect => format!(
                "no connection to {origin} within {}; check the network, or raise the timeout `connect`",
                Seconds(self.connect)
            ),
            TimeoutStage::FirstByte => format!(
                "{origin} did not begin to answer within {}; raise the timeout `first_byte`, or stream the reply",
                Seconds(self.first_byte)
            ),
            TimeoutStage::Idle => format!(
                "{origin} went silent in the middle of the answer for {}; raise the timeout `idle` if it needs longer pauses",
                Seconds(self.idle)
            ),
            TimeoutStage::Total => format!(
                "the answer of {origin} was not whole within {}; raise the timeout `total`, or stream the reply",
                Seconds(self.total)
            ),
        };
        LlmError::new(LlmErrorKind::Timeout(stage), message)
    }
}

/// A limit for people.
struct Seconds(Option<Duration>);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.unwrap_or_default().as_secs_f64())
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    let limit = Duration::try_from_secs_f64(seconds).map_err(|_| {
        de::Error::custom(format_args!(
            "a timeout is a number of seconds from 0 up, not {seconds}"
        ))
    })?;
    Ok((!limit.is_zero()).then_some(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_read_from_seconds() {
        let timeouts: Timeouts = serde_json::from_str(r#"{"connect": 2.5, "total": 0}"#).unwrap();
        assert_eq!(
            timeouts,
            Timeouts::new()
                .with_connect(Duration::from_millis(2500))
                .with_total(None)
        );
        for wrong in [
            r#"{"connect": -1}"#,
            r#"{"connect": 1e300}"#,
            r#"{"connect": "10"}"#,
            r#"{"conect": 1}"#,
        ] {
            assert!(serde_json::from_str::<Timeouts>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn errors_name_the_limit_and_the_way_out() {
        let timeouts = Timeouts::new().with_idle(Duration::from_millis(1500));
        let error = timeouts.expired(TimeoutStage::Idle, "http://localhost:1");
        assert_eq!(
            error.to_string(),
            "http://localhost:1 went silent in the middle of the answer for 1.5 s; \
             raise the timeout `idle` if it needs longer pauses"
        );
        assert!(error.is_retryable());
    }
}

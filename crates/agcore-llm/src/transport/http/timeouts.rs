//! [`Timeouts`]: the time limits of an exchange.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, de};

use agcore_wire::{LlmError, LlmErrorKind, TimeoutStage};

/// The time limits of an exchange; `None` means no limit.
///
/// In settings, each limit is a number of seconds, where 0 means no limit.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::transport::http::Timeouts;
///
/// let timeouts = Timeouts::new().with_idle(Duration::from_secs(30)).with_total(None);
/// assert_eq!(timeouts.connect, Some(Duration::from_secs(10)));
///
/// let parsed: Timeouts = serde_json::from_str(r#"{"idle": 30, "total": 0}"#)?;
/// assert_eq!(parsed, timeouts);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Timeouts {
    /// Resolving the host and connecting, including TLS. Default: 10 s.
    #[serde(deserialize_with = "seconds")]
    pub connect: Option<Duration>,
    /// From sending the request to the head of a streamed reply. Default: 120 s. Servers send the head of a reply that
    /// is not streamed only when all of it is generated, so only `total` limits that wait.
    #[serde(deserialize_with = "seconds")]
    pub first_byte: Option<Duration>,
    /// Between two chunks of the body, including those that only contain comments. Default: 60 s.
    #[serde(deserialize_with = "seconds")]
    pub idle: Option<Duration>,
    /// The whole exchange of a reply that is not streamed. Default: 600 s.
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
    /// Creates the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates timeouts without any limit.
    pub fn unlimited() -> Self {
        Self {
            connect: None,
            first_byte: None,
            idle: None,
            total: None,
        }
    }

    /// Limits resolving the host and connecting.
    #[must_use]
    pub fn with_connect(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.connect = limit.into();
        self
    }

    /// Limits the wait for the head of a streamed reply.
    #[must_use]
    pub fn with_first_byte(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.first_byte = limit.into();
        self
    }

    /// Limits the wait between two chunks of the body.
    #[must_use]
    pub fn with_idle(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.idle = limit.into();
        self
    }

    /// Limits the whole exchange of replies that are not streamed.
    #[must_use]
    pub fn with_total(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.total = limit.into();
        self
    }

    /// Returns the error of a stage that timed out.
    pub(super) fn error(&self, stage: TimeoutStage, origin: &str) -> LlmError {
        let message = match stage {
            TimeoutStage::Connect => format!(
                "cannot connect to {origin} within {}; check the network, or increase the timeout `connect`",
                Seconds(self.connect)
            ),
            TimeoutStage::FirstByte => format!(
                "{origin} did not start to reply within {}; increase the timeout `first_byte`",
                Seconds(self.first_byte)
            ),
            TimeoutStage::Idle => format!(
                "{origin} sent nothing for {} in the middle of the reply; \
                 increase the timeout `idle` to allow longer pauses",
                Seconds(self.idle)
            ),
            TimeoutStage::Total => format!(
                "the reply of {origin} was not complete within {}; increase the timeout `total`, or stream the reply",
                Seconds(self.total)
            ),
        };
        LlmError::new(LlmErrorKind::Timeout(stage), message)
    }
}

/// Formats a limit for error messages.
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
            "invalid timeout {seconds}: expected a number of seconds, 0 or more"
        ))
    })?;
    Ok((!limit.is_zero()).then_some(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deserializes_from_seconds() {
        let timeouts: Timeouts = serde_json::from_str(r#"{"connect": 2.5, "total": 0}"#).unwrap();
        assert_eq!(
            timeouts,
            Timeouts::new()
                .with_connect(Duration::from_millis(2500))
                .with_total(None)
        );
        for invalid in [
            r#"{"connect": -1}"#,
            r#"{"connect": 1e300}"#,
            r#"{"connect": "10"}"#,
            r#"{"conect": 1}"#,
        ] {
            assert!(serde_json::from_str::<Timeouts>(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn errors_name_the_limit_and_the_remedy() {
        let timeouts = Timeouts::new().with_idle(Duration::from_millis(1500));
        let error = timeouts.error(TimeoutStage::Idle, "http://localhost:1");
        assert_eq!(
            error.to_string(),
            "http://localhost:1 sent nothing for 1.5 s in the middle of the reply; \
             increase the timeout `idle` to allow longer pauses"
        );
        assert!(error.is_retryable());
    }
}

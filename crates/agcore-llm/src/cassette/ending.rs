//! [`Ending`]: the end of a recorded reply.

use std::{error::Error, time::Duration};

use agcore_chat::{ChatResponse, FaultKind};
use serde::{Deserialize, Serialize};

use super::millis;
use agcore_wire::{LlmError, LlmErrorKind, TimeoutStage};

/// The end of a recorded reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// The reply completed.
    Ok,
    /// The reply failed.
    Error(Box<RecordedError>),
    /// The provider's stream stopped without an end.
    #[serde(rename = "cut")]
    Truncated,
    /// The caller dropped the reply before its end.
    Dropped,
}

/// The serializable form of an [`LlmError`]. Its causes are a single text.
///
/// ```
/// use agcore_llm::{LlmError, LlmErrorKind, cassette::RecordedError};
///
/// let error = LlmError::new(LlmErrorKind::RateLimit, "slow down").with_status(429);
/// let json = serde_json::to_string(&RecordedError::from(&error))?;
/// let recorded: RecordedError = serde_json::from_str(&json)?;
/// assert_eq!(recorded.to_error().kind(), LlmErrorKind::RateLimit);
/// assert_eq!(recorded.to_error().status(), Some(429));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedError {
    kind: FaultKind,
    message: String,
    retryable: bool,
    #[serde(
        default,
        rename = "retry_after_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    retry_after: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// The context window of the model, for errors of the kind `ContextLength`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    /// The requested number of tokens, for errors of the kind `ContextLength`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requested: Option<u64>,
    /// The stage that timed out, for errors of the kind `Timeout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) headers: Vec<(String, String)>,
    /// An excerpt of the body that the error was decoded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partial: Option<Box<ChatResponse>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    causes: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Connect,
    FirstByte,
    Idle,
    Total,
}

impl RecordedError {
    /// Recreates the error.
    pub fn to_error(&self) -> LlmError {
        let mut error = LlmError::new(self.error_kind(), self.message.clone())
            .with_retryable(self.retryable)
            .with_retry_after(self.retry_after)
            .with_headers(self.headers.clone())
            .with_request_id(self.request_id.clone())
            .with_partial(self.partial.as_deref().cloned());
        if let Some(provider) = &self.provider {
            error = error.with_provider(provider);
        }
        if let Some(model) = &self.model {
            error = error.with_model(model);
        }
        if let Some(status) = self.status {
            error = error.with_status(status);
        }
        if let Some(body) = &self.body {
            error = error.with_body(body);
        }
        if let Some(causes) = &self.causes {
            error = error.with_source(causes.clone());
        }
        error
    }

    fn error_kind(&self) -> LlmErrorKind {
        match (self.kind, self.stage) {
            (FaultKind::ContextLength, _) => LlmErrorKind::ContextLength {
                limit: self.limit,
                requested: self.requested,
            },
            (FaultKind::Timeout, Some(stage)) => LlmErrorKind::Timeout(stage.into()),
            (kind, _) => kind.into(),
        }
    }
}

impl From<&LlmError> for RecordedError {
    fn from(error: &LlmError) -> Self {
        let (limit, requested) = match error.kind() {
            LlmErrorKind::ContextLength { limit, requested } => (limit, requested),
            _ => (None, None),
        };
        let stage = match error.kind() {
            LlmErrorKind::Timeout(stage) => Some(stage.into()),
            _ => None,
        };
        Self {
            kind: error.kind().fault_kind(),
            message: error.message().to_owned(),
            retryable: error.is_retryable(),
            retry_after: error.retry_after(),
            provider: error.provider().map(str::to_owned),
            model: error.model().map(str::to_owned),
            status: error.status(),
            request_id: error.request_id().map(str::to_owned),
            limit,
            requested,
            stage,
            headers: error.headers().to_vec(),
            body: error.body_excerpt().map(str::to_owned),
            partial: error.partial().cloned().map(Box::new),
            causes: causes(error),
        }
    }
}

/// Returns the causes of an error, joined by colons.
fn causes(error: &LlmError) -> Option<String> {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    (!causes.is_empty()).then(|| causes.join(": "))
}

impl From<TimeoutStage> for Stage {
    fn from(stage: TimeoutStage) -> Self {
        match stage {
            TimeoutStage::Connect => Self::Connect,
            TimeoutStage::FirstByte => Self::FirstByte,
            TimeoutStage::Idle => Self::Idle,
            TimeoutStage::Total => Self::Total,
        }
    }
}

impl From<Stage> for TimeoutStage {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::Connect => Self::Connect,
            Stage::FirstByte => Self::FirstByte,
            Stage::Idle => Self::Idle,
            Stage::Total => Self::Total,
        }
    }
}

//! [`CycleError`]: why a turn failed.

use std::{error::Error, fmt, time::Duration};

use agcore_chat::{ChatResponse, Fault, FaultKind, text::error_chain};
use agcore_llm::{LlmError, LlmErrorKind};

use crate::{
    budget::{BudgetShortage, DrawError},
    machine::MachineError,
};

/// The reason a turn failed. The conversation stays valid and usable.
///
/// The [kind](Self::kind) names the part of the loop that failed. When the model could not be called,
/// [`llm_error`](Self::llm_error) returns the provider's error with all its details.
///
/// ```
/// use agcore_cycle::{CycleErrorKind, LlmCycle};
/// use agcore_llm::{LlmError, LlmErrorKind, SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async {
///     Err(LlmError::new(LlmErrorKind::RateLimit, "too many requests"))
/// });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
///
/// let error = cycle.turn("Hello").await.unwrap_err();
/// assert_eq!(error.kind(), CycleErrorKind::Model);
/// assert_eq!(error.llm_error().unwrap().kind(), LlmErrorKind::RateLimit);
/// assert!(error.is_retryable());
/// # });
/// ```
pub struct CycleError(Box<Inner>);

struct Inner {
    kind: CycleErrorKind,
    message: String,
    partial: Option<ChatResponse>,
    source: Option<Source>,
}

enum Source {
    Llm(LlmError),
    Machine(MachineError),
    Other(Box<dyn Error + Send + Sync>),
}

/// The kind of a [`CycleError`]: which part of the loop failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CycleErrorKind {
    /// A call of the model failed. [`CycleError::llm_error`] returns the reason.
    Model,
    /// The caller cancelled the turn.
    Cancelled,
    /// A hook blocked the turn or a request.
    HookBlocked,
    /// A tool failed in a way that ends the turn.
    ToolFailure,
    /// A limit or a budget was reached. The source is a [`BudgetShortage`] if a budget has too
    /// little left for the next step.
    LimitReached,
    /// A store failed: what happened could not be [recorded](crate::OutcomeRecorder). The turn is not over.
    Storage,
    /// The answers were given before, and the turn that asked for them has ended. Nothing was changed; a client that
    /// repeats its answers can ignore the error.
    AlreadyAnswered,
    /// The input does not fit the state of the conversation: messages that cannot be sent, an answer to an unknown
    /// question, no turn to resume.
    InvalidInput,
    /// No answer of a typed turn fits its type, after all repairs. The source is an [`OutputError`](crate::OutputError).
    InvalidOutput,
}

impl CycleError {
    /// Creates an error without a source.
    pub fn new(kind: CycleErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            partial: None,
            source: None,
        }))
    }

    /// Creates the error of a turn that the caller cancelled.
    pub fn cancelled() -> Self {
        Self::from(LlmError::cancelled())
    }

    /// Sets the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(Source::Other(source.into()));
        self
    }

    /// Sets the reply that had arrived.
    #[must_use]
    pub fn with_partial(mut self, partial: Option<ChatResponse>) -> Self {
        self.0.partial = partial;
        self
    }

    /// Returns which part of the loop failed.
    pub fn kind(&self) -> CycleErrorKind {
        self.0.kind
    }

    /// Returns what happened, in one sentence.
    pub fn message(&self) -> &str {
        match &self.0.source {
            Some(Source::Llm(error)) => error.message(),
            _ => &self.0.message,
        }
    }

    /// Returns the provider's error if a call of the model failed or was cancelled.
    pub fn llm_error(&self) -> Option<&LlmError> {
        match &self.0.source {
            Some(Source::Llm(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns the state machine's error if the input does not fit the state of the conversation.
    pub fn machine_error(&self) -> Option<&MachineError> {
        match &self.0.source {
            Some(Source::Machine(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns the part of the reply that had arrived before the failure.
    pub fn partial(&self) -> Option<&ChatResponse> {
        self.0
            .partial
            .as_ref()
            .or_else(|| self.llm_error().and_then(LlmError::partial))
    }

    /// Returns whether the same turn may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.llm_error().is_some_and(LlmError::is_retryable)
    }

    /// Returns how long to wait before another try, if the server said so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.llm_error().and_then(LlmError::retry_after)
    }

    /// Returns whether the caller cancelled the turn.
    pub fn is_cancelled(&self) -> bool {
        self.0.kind == CycleErrorKind::Cancelled
    }

    /// Returns the error as data, for events and journals.
    pub fn fault(&self) -> Fault {
        if let Some(error) = self.llm_error() {
            return error.fault();
        }
        let kind = match self.0.kind {
            CycleErrorKind::Model => FaultKind::Unknown,
            CycleErrorKind::Cancelled => FaultKind::Cancelled,
            CycleErrorKind::HookBlocked => FaultKind::HookBlocked,
            CycleErrorKind::ToolFailure => FaultKind::Tool,
            CycleErrorKind::LimitReached => FaultKind::Limit,
            CycleErrorKind::Storage => FaultKind::Storage,
            CycleErrorKind::InvalidInput | CycleErrorKind::AlreadyAnswered => FaultKind::InvalidRequest,
            CycleErrorKind::InvalidOutput => FaultKind::Malformed,
        };
        Fault::new(kind, self.message())
    }

    /// Returns this error followed by its sources.
    pub fn chain(&self) -> String {
        error_chain(self)
    }
}

/// Prints this layer only; [`chain`](CycleError::chain) adds the sources. An error of the provider prints as it does alone.
impl fmt::Display for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.source {
            Some(Source::Llm(error)) => error.fmt(f),
            _ => f.write_str(&self.0.message),
        }
    }
}

impl fmt::Debug for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("CycleError");
        debug.field("kind", &self.0.kind);
        match &self.0.source {
            Some(Source::Llm(error)) => debug.field("llm_error", error),
            Some(Source::Machine(error)) => debug.field("machine_error", error),
            Some(Source::Other(error)) => debug.field("message", &self.0.message).field("source", error),
            None => debug.field("message", &self.0.message),
        };
        debug.finish_non_exhaustive()
    }
}

impl Error for CycleError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0.source {
            Some(Source::Llm(error)) => error.source(),
            Some(Source::Machine(error)) => error.source(),
            Some(Source::Other(error)) => Some(&**error),
            None => None,
        }
    }
}

impl From<LlmError> for CycleError {
    fn from(error: LlmError) -> Self {
        let kind = match error.kind() {
            LlmErrorKind::Cancelled => CycleErrorKind::Cancelled,
            _ => CycleErrorKind::Model,
        };
        Self(Box::new(Inner {
            kind,
            message: String::new(),
            partial: None,
            source: Some(Source::Llm(error)),
        }))
    }
}

impl From<MachineError> for CycleError {
    fn from(error: MachineError) -> Self {
        let mut this = Self::new(CycleErrorKind::InvalidInput, error.to_string());
        this.0.source = Some(Source::Machine(error));
        this
    }
}

impl From<BudgetShortage> for CycleError {
    fn from(shortage: BudgetShortage) -> Self {
        Self::new(CycleErrorKind::LimitReached, shortage.to_string()).with_source(shortage)
    }
}

impl From<DrawError> for CycleError {
    fn from(error: DrawError) -> Self {
        let message = error.to_string();
        match error {
            DrawError::Failed(fault) => Self::new(CycleErrorKind::Storage, message).with_source(fault),
            short => Self::new(CycleErrorKind::LimitReached, message).with_source(short),
        }
    }
}

/// Turns the fault of a saved or finished turn back into an error.
impl From<Fault> for CycleError {
    fn from(fault: Fault) -> Self {
        let kind = match fault.kind {
            FaultKind::HookBlocked => CycleErrorKind::HookBlocked,
            FaultKind::Tool => CycleErrorKind::ToolFailure,
            FaultKind::Limit => CycleErrorKind::LimitReached,
            FaultKind::Storage | FaultKind::Conflict => CycleErrorKind::Storage,
            _ => return LlmError::from(fault).into(),
        };
        Self::new(kind, fault.message)
    }
}

//! [`Failures`]: everything that was asked and failed, in order; the source of an error that stands for several.

use std::{error::Error, fmt};

use agcore_chat::Text;

use crate::error::LlmError;

/// One that was asked and failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Who: a provider's name, or a key's label.
    pub who: Text,
    /// What it said.
    pub error: LlmError,
}

/// Everything that was asked and failed, in order: the source of an error that stands for several.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock, provider_fn, system_random,
///     layer::{failures::Failures, fallback::{Candidate, Fallback, FallbackPolicy}},
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let down = |kind: LlmErrorKind| provider_fn(move |_| {
///     let error = LlmError::new(kind.clone(), "no answer");
///     async move { Err(error) }
/// });
/// let candidates = [
///     Candidate::new(down(LlmErrorKind::Server)).with_name("first"),
///     Candidate::new(down(LlmErrorKind::QuotaExhausted)).with_name("second"),
/// ];
/// let provider = Fallback::new(candidates, FallbackPolicy::new(), Arc::new(SystemClock::new()), system_random())?;
/// let error = provider.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap_err();
/// let who: Vec<_> = Failures::of(&error).unwrap().iter().map(|failure| &*failure.who).collect();
/// assert_eq!(who, ["first", "second"]);
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Default)]
pub struct Failures(Vec<Failure>);

impl Failures {
    /// The failures that an error stands for.
    pub fn of(error: &LlmError) -> Option<&Self> {
        error.source()?.downcast_ref()
    }

    /// They, in the order in which they were asked.
    pub fn iter(&self) -> impl Iterator<Item = &Failure> {
        self.0.iter()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nobody was asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, who: Text, error: LlmError) {
        self.0.push(Failure { who, error });
    }

    /// The only one, as it is.
    pub(super) fn only(&mut self) -> Option<LlmError> {
        let only = if self.0.len() == 1 { self.0.pop() } else { None };
        only.map(|failure| failure.error)
    }

    /// One error for all. Its kind, status and the like are those of the last failure that a retry may help, else of the
    /// last; it may be retried when one of them may, and soonest when the first of these says so.
    pub(super) fn into_error(self, happened: impl fmt::Display) -> Option<LlmError> {
        let retryable = || self.0.iter().filter(|failure| failure.error.is_retryable());
        let face = retryable().next_back().or(self.0.last())?;
        // One that gives no hint may be asked at any time.
        let hints = retryable().map(|failure| failure.error.retry_after());
        let retry_after = hints.reduce(|one, other| one.zip(other).map(|(one, other)| one.min(other)));
        let error = self
            .with_face(&face.error, happened)
            .with_retry_after(retry_after.flatten());
        Some(error.with_source(self))
    }

    /// The last failure, which ends the call whatever came before it.
    pub(super) fn into_last(mut self) -> Option<LlmError> {
        if let Some(only) = self.only() {
            return Some(only);
        }
        let last = &self.0.last()?.error;
        let happened = format!("{} (others had failed before)", last.message());
        let error = self.like(last, happened).with_retry_after(last.retry_after());
        Some(error.with_source(self))
    }

    fn with_face(&self, face: &LlmError, happened: impl fmt::Display) -> LlmError {
        self.like(face, format!("{happened}; {self}"))
    }

    fn like(&self, face: &LlmError, message: String) -> LlmError {
        let mut error = LlmError::new(face.kind().clone(), message)
            .with_retryable(face.is_retryable())
            .with_headers(face.headers().to_vec())
            .with_request_id(face.request_id().map(str::to_owned))
            .with_partial(face.partial().cloned());
        if let Some(status) = face.status() {
            error = error.with_status(status);
        }
        match face.model() {
            Some(model) => error.with_model(model),
            None => error,
        }
    }
}

/// All of them in one line: `openai: overloaded (HTTP 503); deepseek: no credit left`.
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Failure { who, error }) in self.0.iter().enumerate() {
            let gap = if at == 0 { "" } else { "; " };
            write!(f, "{gap}{who}: {}", error.message())?;
            if let Some(status) = error.status() {
                write!(f, " (HTTP {status})")?;
            }
        }
        Ok(())
    }
}

impl Error for Failures {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.last().map(|failure| &failure.error as _)
    }
}

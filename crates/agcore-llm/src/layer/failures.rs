//! [`Failures`]: the source of an error that summarizes several failed attempts.

use std::{error::Error, fmt};

use agcore_chat::Text;

use agcore_wire::LlmError;

/// A provider or key that was tried and failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The name of the provider, or the label of the key.
    pub name: Text,
    /// Its error.
    pub error: LlmError,
}

/// All failed attempts of a call, in order: the source of an error that summarizes them.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock,
///     layer::{failures::Failures, fallback::{Candidate, Fallback, FallbackPolicy}},
///     provider_fn, system_random,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let failing = |kind: LlmErrorKind| provider_fn(move |_| {
///     let error = LlmError::new(kind.clone(), "no answer");
///     async move { Err(error) }
/// });
/// let candidates = [
///     Candidate::new(failing(LlmErrorKind::Server)).with_name("first"),
///     Candidate::new(failing(LlmErrorKind::QuotaExhausted)).with_name("second"),
/// ];
/// let provider = Fallback::new(candidates, FallbackPolicy::new(), Arc::new(SystemClock::new()), system_random())?;
/// let error = provider.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap_err();
/// let names: Vec<_> = Failures::from_error(&error).unwrap().iter().map(|failure| &*failure.name).collect();
/// assert_eq!(names, ["first", "second"]);
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Default)]
pub struct Failures(Vec<Failure>);

impl Failures {
    /// Returns the failures that `error` summarizes, if it does.
    pub fn from_error(error: &LlmError) -> Option<&Self> {
        error.source()?.downcast_ref()
    }

    /// Returns the failures in the order of the attempts.
    pub fn iter(&self) -> impl Iterator<Item = &Failure> {
        self.0.iter()
    }

    /// Returns the number of failures.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no failures.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, name: Text, error: LlmError) {
        self.0.push(Failure { name, error });
    }

    /// Returns whether any of them may pass.
    pub(super) fn has_retryable(&self) -> bool {
        self.0.iter().any(|failure| failure.error.is_retryable())
    }

    /// Removes and returns the error of the only failure, unchanged.
    pub(super) fn take_only(&mut self) -> Option<LlmError> {
        let only = if self.0.len() == 1 { self.0.pop() } else { None };
        only.map(|failure| failure.error)
    }

    /// Returns one error that summarizes all.
    ///
    /// Its kind, status and so on are those of the last retryable failure, or else of the last failure other than a
    /// refusal of an unsupported parameter, or else of the last failure. It is retryable if any of them is, after the
    /// shortest of their hints.
    pub(super) fn into_summary(self, summary: impl fmt::Display) -> Option<LlmError> {
        let retryable = || self.0.iter().filter(|failure| failure.error.is_retryable());
        let mut real = self.0.iter().filter(|failure| !failure.error.is_unsupported());
        let template = retryable().next_back().or(real.next_back()).or(self.0.last())?;
        // One without a hint may be tried again at any time.
        let hints = retryable().map(|failure| failure.error.retry_after());
        let retry_after = hints.reduce(|one, other| one.zip(other).map(|(one, other)| one.min(other)));
        let error = similar(&template.error, format!("{summary}; {self}")).with_retry_after(retry_after.flatten());
        Some(error.with_source(self))
    }

    /// Returns the error of a call that ends with this failure. The failures before it become its source.
    pub(super) fn end_with(mut self, name: Text, error: LlmError) -> LlmError {
        if self.0.is_empty() {
            return error;
        }
        let message = format!("{} (after other attempts had failed)", error.message());
        let last = similar(&error, message).with_retry_after(error.retry_after());
        self.push(name, error);
        last.with_source(self)
    }
}

/// Creates an error with this message, and with the kind, status and so on of `template`.
fn similar(template: &LlmError, message: String) -> LlmError {
    let mut error = LlmError::new(template.kind(), message)
        .with_retryable(template.is_retryable())
        .with_headers(template.headers().to_vec())
        .with_request_id(template.request_id().map(str::to_owned))
        .with_partial(template.partial().cloned());
    if let Some(status) = template.status() {
        error = error.with_status(status);
    }
    if let Some(unsupported) = template.unsupported() {
        error = error.with_unsupported(unsupported.clone());
    }
    match template.model() {
        Some(model) => error.with_model(model),
        None => error,
    }
}

/// Writes all failures on one line: `openai: overloaded (HTTP 503); deepseek: no credit left`.
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Failure { name, error }) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            // The messages of servers are sentences; those of encoders begin with the name already.
            let message = error.message().trim_end_matches('.');
            if message.starts_with(&**name) {
                write!(f, "{separator}{message}")?;
            } else {
                write!(f, "{separator}{name}: {message}")?;
            }
            if let Some(status) = error.status() {
                write!(f, " (HTTP {status})")?;
            }
        }
        Ok(())
    }
}

impl Error for Failures {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The errors themselves are in the text already.
        self.0.last()?.error.source()
    }
}

#[cfg(test)]
mod tests {
    use agcore_wire::LlmErrorKind;

    use super::*;

    #[test]
    fn a_chain_contains_nothing_twice() {
        let mut failures = Failures::default();
        for name in ["main", "spare"] {
            let error = LlmError::new(LlmErrorKind::Overloaded, "The engine is overloaded.")
                .with_provider("compatible")
                .with_status(503)
                .with_source("the connection was closed");
            failures.push(name.into(), error);
        }
        let error = failures.into_summary("all providers failed").unwrap();
        assert_eq!(
            error.chain(),
            "all providers failed; main: The engine is overloaded (HTTP 503); spare: The engine is overloaded (HTTP 503): the \
             connection was closed"
        );
    }

    #[test]
    fn lists_sentences_without_stray_marks_and_names_only_once() {
        let mut failures = Failures::default();
        for (name, message) in [
            ("a", "No."),
            ("deepseek", "deepseek does not support x"),
            ("b", "Gone."),
        ] {
            failures.push(name.into(), LlmError::new(LlmErrorKind::Server, message));
        }
        assert_eq!(failures.to_string(), "a: No; deepseek does not support x; b: Gone");
    }
}

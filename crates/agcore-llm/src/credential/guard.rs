//! [`SecretGuard`]: redacts keys in errors.

use std::{
    error::Error,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use super::secret::Secret;
use agcore_wire::LlmError;

/// The minimum length of a secret. Shorter keys are placeholders such as `EMPTY` or `ollama`, which occur in any text.
pub(crate) const MIN_SECRET_BYTES: usize = 7;

/// The maximum number of remembered secrets. A late error may still quote a token that has been refreshed since.
const MAX_SECRETS: usize = 16;

/// The text that replaces secrets.
pub(crate) const REDACTED: &str = "[redacted]";

/// Redacts keys in errors, because servers often quote the key that they refuse. Clones share their secrets.
///
/// ```
/// use agcore_llm::{LlmError, LlmErrorKind, credential::SecretGuard};
///
/// let guard = SecretGuard::new();
/// guard.add(&"sk-secret-123".into());
/// let error = LlmError::new(LlmErrorKind::Authentication, "incorrect key: sk-secret-123");
/// assert_eq!(guard.redact(error).message(), "incorrect key: [redacted]");
/// ```
#[derive(Clone, Default)]
pub struct SecretGuard(Arc<RwLock<Vec<Secret>>>);

impl SecretGuard {
    /// Creates a guard without secrets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a secret. Secrets of fewer than 7 bytes are ignored, because they are placeholders.
    pub fn add(&self, secret: &Secret) {
        let known = |secrets: &[Secret]| secrets.contains(secret);
        if secret.expose().trim().len() < MIN_SECRET_BYTES
            || known(&self.0.read().unwrap_or_else(PoisonError::into_inner))
        {
            return;
        }
        let mut secrets = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !known(&secrets) {
            if secrets.len() == MAX_SECRETS {
                secrets.remove(0);
            }
            secrets.push(secret.clone());
        }
    }

    /// Returns the known secrets.
    #[cfg(feature = "cassettes")]
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the error with all secrets redacted in its message, excerpt, headers and causes.
    pub fn redact(&self, error: LlmError) -> LlmError {
        let secrets = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if secrets.is_empty() || !is_leaky(&error, &secrets) {
            return error;
        }
        rebuild(&error, |text| redacted(text, &secrets))
    }
}

impl fmt::Debug for SecretGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretGuard(…)")
    }
}

fn redacted(text: &str, secrets: &[Secret]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| {
        text.replace(secret.expose().trim(), REDACTED)
    })
}

fn is_leaky(error: &LlmError, secrets: &[Secret]) -> bool {
    let leaks = |text: &str| secrets.iter().any(|secret| text.contains(secret.expose().trim()));
    leaks(error.message())
        || error.body_excerpt().is_some_and(leaks)
        || error.request_id().is_some_and(leaks)
        || error.headers().iter().any(|(_, value)| leaks(value))
        || causes(error).any(|cause| leaks(&cause.to_string()) || leaks(&format!("{cause:?}")))
}

fn causes(error: &LlmError) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// Returns the same error with redacted texts. Its causes become a single text, because errors cannot be edited.
fn rebuild(error: &LlmError, redact: impl Fn(&str) -> String) -> LlmError {
    let mut new = LlmError::new(error.kind(), redact(error.message()))
        .with_retryable(error.is_retryable())
        .with_retry_after(error.retry_after())
        .with_headers(
            error
                .headers()
                .iter()
                .map(|(name, value)| (name.clone(), redact(value)))
                .collect(),
        )
        .with_request_id(error.request_id().map(&redact))
        .with_partial(error.partial().cloned());
    if let Some(status) = error.status() {
        new = new.with_status(status);
    }
    if let Some(provider) = error.provider() {
        new = new.with_provider(provider);
    }
    if let Some(model) = error.model() {
        new = new.with_model(model);
    }
    if let Some(body) = error.body_excerpt() {
        new = new.with_body(&redact(body));
    }
    let causes: Vec<_> = causes(error).map(|cause| redact(&cause.to_string())).collect();
    if !causes.is_empty() {
        new = new.with_source(causes.join(": "));
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use agcore_wire::LlmErrorKind;

    const KEY: &str = "sk-live-1234567890";

    fn leaky() -> LlmError {
        LlmError::new(
            LlmErrorKind::Authentication,
            format!("Incorrect API key provided: {KEY}."),
        )
        .with_status(401)
        .with_provider("openai")
        .with_model("m")
        .with_request_id(Some("req_1".into()))
        .with_headers(vec![("x-echo".into(), format!("Bearer {KEY}"))])
        .with_body(&format!(r#"{{"error": "{KEY}"}}"#))
        .with_source(format!("invalid type: string \"{KEY}\""))
    }

    #[test]
    fn redacts_the_key_in_every_part_of_an_error() {
        let guard = SecretGuard::new();
        guard.add(&KEY.into());
        let error = guard.redact(leaky());
        let all = format!(
            "{error} {error:?} {error:#?} {} {:?} {:?}",
            error.chain(),
            error.body_excerpt(),
            error.headers()
        );
        assert!(!all.contains(KEY), "{all}");
        assert!(error.to_string().contains(REDACTED));
        assert_eq!(error.kind(), LlmErrorKind::Authentication);
        assert_eq!(
            (error.status(), error.request_id(), error.model()),
            (Some(401), Some("req_1"), Some("m"))
        );
        assert!(error.source().is_some());
    }

    #[test]
    fn keeps_placeholders() {
        let guard = SecretGuard::new();
        guard.add(&"ollama".into());
        let error = guard.redact(LlmError::new(LlmErrorKind::NotFound, "try `ollama pull`"));
        assert_eq!(error.message(), "try `ollama pull`");
    }

    #[test]
    fn remembers_the_latest_secrets() {
        let guard = SecretGuard::new();
        for number in 0..=MAX_SECRETS {
            guard.add(&format!("secret number {number:02}").into());
        }
        let error = |text: &str| {
            guard
                .redact(LlmError::new(LlmErrorKind::Unknown, text.to_owned()))
                .message()
                .to_owned()
        };
        assert_eq!(error("secret number 16"), REDACTED);
        assert_eq!(error("secret number 00"), "secret number 00");
    }
}

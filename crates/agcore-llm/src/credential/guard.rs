//! [`SecretGuard`]: takes keys out of errors.

use std::{
    error::Error,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use super::secret::Secret;
use agcore_wire::LlmError;

/// Shorter ones are no secrets but placeholders, such as `EMPTY` or `ollama`, and words of any text.
pub(crate) const SHORTEST: usize = 7;

/// How many are remembered: tokens that were refreshed may still be named by a late error.
const MOST: usize = 16;

/// What stands where a secret stood.
pub(crate) const MARK: &str = "[redacted]";

/// Takes keys out of errors: servers like to quote the key they refuse. Clones share what they know.
#[derive(Clone, Default)]
pub struct SecretGuard(Arc<RwLock<Vec<Secret>>>);

impl SecretGuard {
    /// One that knows no secret yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns a secret.
    pub fn learn(&self, secret: &Secret) {
        let known = |secrets: &[Secret]| secrets.contains(secret);
        if secret.expose().trim().len() < SHORTEST || known(&self.0.read().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        let mut secrets = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !known(&secrets) {
            if secrets.len() == MOST {
                secrets.remove(0);
            }
            secrets.push(secret.clone());
        }
    }

    /// What it knows by now.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The error without any secret in its message, its excerpt, its headers or its causes.
    pub fn clean(&self, error: LlmError) -> LlmError {
        let secrets = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if secrets.is_empty() || !is_leaky(&error, &secrets) {
            return error;
        }
        rebuilt(&error, |text| redacted(text, &secrets))
    }
}

impl fmt::Debug for SecretGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretGuard(…)")
    }
}

fn redacted(text: &str, secrets: &[Secret]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| {
        text.replace(secret.expose().trim(), MARK)
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

/// The same error with other texts. Causes become one text, as nothing can be cut out of them.
fn rebuilt(error: &LlmError, clean: impl Fn(&str) -> String) -> LlmError {
    let mut new = LlmError::new(error.kind().clone(), clean(error.message()))
        .with_retryable(error.is_retryable())
        .with_retry_after(error.retry_after())
        .with_headers(
            error
                .headers()
                .iter()
                .map(|(name, value)| (name.clone(), clean(value)))
                .collect(),
        )
        .with_request_id(error.request_id().map(&clean))
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
        new = new.with_body(&clean(body));
    }
    let causes: Vec<_> = causes(error).map(|cause| clean(&cause.to_string())).collect();
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
    fn no_part_of_an_error_keeps_the_key() {
        let guard = SecretGuard::new();
        guard.learn(&KEY.into());
        let error = guard.clean(leaky());
        let all = format!(
            "{error} {error:?} {error:#?} {} {:?} {:?}",
            error.chain(),
            error.body_excerpt(),
            error.headers()
        );
        assert!(!all.contains(KEY), "{all}");
        assert!(error.to_string().contains(MARK));
        assert_eq!(error.kind(), &LlmErrorKind::Authentication);
        assert_eq!(
            (error.status(), error.request_id(), error.model()),
            (Some(401), Some("req_1"), Some("m"))
        );
        assert!(error.source().is_some());
    }

    #[test]
    fn what_is_no_secret_stays() {
        let guard = SecretGuard::new();
        guard.learn(&"ollama".into());
        let error = guard.clean(LlmError::new(LlmErrorKind::NotFound, "try `ollama pull`"));
        assert_eq!(error.message(), "try `ollama pull`");
    }

    #[test]
    fn remembers_the_latest_secrets() {
        let guard = SecretGuard::new();
        for number in 0..=MOST {
            guard.learn(&format!("secret number {number:02}").into());
        }
        let error = |text: &str| {
            guard
                .clean(LlmError::new(LlmErrorKind::Unknown, text.to_owned()))
                .message()
                .to_owned()
        };
        assert_eq!(error("secret number 16"), MARK);
        assert_eq!(error("secret number 00"), "secret number 00");
    }
}

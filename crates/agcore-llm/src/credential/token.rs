//! [`TokenSource`]: tokens that run out.

use std::{fmt, future::Future};

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::secret::Secret;
use agcore_wire::LlmError;

/// Gives tokens that run out: OAuth, a cloud's identity service.
#[async_trait]
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// The token to use now. Asked before every request, so a source keeps what is still good.
    ///
    /// # Errors
    /// `Authentication` when there is none to be had.
    async fn token(&self) -> Result<Secret, LlmError>;

    /// A new token, because the server refused this one. Calls that run at the same time may all report the same token;
    /// when the current one is another already, that one is good.
    ///
    /// # Errors
    /// `Authentication` when there is none to be had.
    async fn refresh(&self, refused: &Secret) -> Result<Secret, LlmError>;
}

/// A source that asks a function for a token when it has none or the server refused the one it has; one question at a
/// time, however many calls wait for it.
///
/// ```
/// use agcore_llm::credential::{token_fn, Credential};
///
/// let credential = Credential::token(token_fn(|| async { Ok("token of the hour".into()) }));
/// assert!(!credential.is_none());
/// ```
pub fn token_fn<F, R>(fetch: F) -> CachedToken<F>
where
    F: Fn() -> R + Send + Sync,
    R: Future<Output = Result<Secret, LlmError>> + Send,
{
    CachedToken {
        fetch,
        current: Mutex::new(None),
    }
}

/// See [`token_fn`].
pub struct CachedToken<F> {
    fetch: F,
    current: Mutex<Option<Secret>>,
}

impl<F> fmt::Debug for CachedToken<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CachedToken(…)")
    }
}

#[async_trait]
impl<F, R> TokenSource for CachedToken<F>
where
    F: Fn() -> R + Send + Sync,
    R: Future<Output = Result<Secret, LlmError>> + Send,
{
    async fn token(&self) -> Result<Secret, LlmError> {
        let mut current = self.current.lock().await;
        if let Some(token) = &*current {
            return Ok(token.clone());
        }
        Ok(current.insert((self.fetch)().await?).clone())
    }

    async fn refresh(&self, refused: &Secret) -> Result<Secret, LlmError> {
        let mut current = self.current.lock().await;
        if let Some(token) = current.as_ref().filter(|token| *token != refused) {
            return Ok(token.clone());
        }
        *current = None;
        Ok(current.insert((self.fetch)().await?).clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn counting() -> impl TokenSource {
        let count = AtomicU32::new(0);
        token_fn(move || {
            let number = count.fetch_add(1, Ordering::Relaxed);
            async move { Ok(format!("token {number}").into()) }
        })
    }

    #[tokio::test]
    async fn is_asked_once_and_kept() {
        let source = counting();
        for _ in 0..3 {
            assert_eq!(source.token().await.unwrap().expose(), "token 0");
        }
    }

    #[tokio::test]
    async fn many_that_saw_the_same_token_refused_share_one_refresh() {
        let source = counting();
        let old = source.token().await.unwrap();
        let (first, second) = tokio::join!(source.refresh(&old), source.refresh(&old));
        assert_eq!(first.unwrap().expose(), "token 1");
        assert_eq!(second.unwrap().expose(), "token 1");
        assert_eq!(source.token().await.unwrap().expose(), "token 1");
    }
}

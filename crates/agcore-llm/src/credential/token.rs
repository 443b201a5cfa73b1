//! [`TokenSource`]: tokens that expire.

use std::{fmt, future::Future};

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::secret::Secret;
use agcore_wire::LlmError;

/// A source of tokens that expire, such as OAuth or the identity service of a cloud.
///
/// [`token_fn`] is a source that caches the token of a function.
///
/// ```
/// use agcore_llm::{LlmError, LlmErrorKind, credential::{Credential, Secret, TokenSource}};
///
/// /// Returns a token that cannot be renewed.
/// #[derive(Debug)]
/// struct FixedToken(Secret);
///
/// #[async_trait::async_trait]
/// impl TokenSource for FixedToken {
///     async fn token(&self) -> Result<Secret, LlmError> {
///         Ok(self.0.clone())
///     }
///
///     async fn refresh(&self, _refused: &Secret) -> Result<Secret, LlmError> {
///         Err(LlmError::new(LlmErrorKind::Authentication, "the token has expired; log in again"))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let source = FixedToken("an-access-token".into());
/// let token = source.token().await?;
/// assert_eq!(source.refresh(&token).await.unwrap_err().kind(), LlmErrorKind::Authentication);
/// let credential = Credential::token(source);
/// # assert!(!credential.is_none());
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// Returns the current token. Called before every request, so a source should cache it.
    ///
    /// # Errors
    /// `Authentication` if no token can be obtained.
    async fn token(&self) -> Result<Secret, LlmError>;

    /// Returns a new token because the server refused this one.
    ///
    /// Concurrent calls may all report the same token. If the source has replaced it already, it should return the
    /// replacement.
    ///
    /// # Errors
    /// `Authentication` if no token can be obtained.
    async fn refresh(&self, refused: &Secret) -> Result<Secret, LlmError>;
}

/// Creates a source that caches the token of a function.
///
/// The function is called if there is no token yet, or if the server refused it. Concurrent requests share one call.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use agcore_llm::credential::{TokenSource, token_fn};
///
/// let count = AtomicU32::new(0);
/// let source = token_fn(|| {
///     let number = count.fetch_add(1, Ordering::Relaxed);
///     async move { Ok(format!("token-{number}").into()) }
/// });
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let first = source.token().await?;
/// assert_eq!(source.token().await?.expose(), "token-0");
/// assert_eq!(source.refresh(&first).await?.expose(), "token-1");
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
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

/// A source that caches the token of a function; see [`token_fn`].
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
    async fn caches_the_token() {
        let source = counting();
        for _ in 0..3 {
            assert_eq!(source.token().await.unwrap().expose(), "token 0");
        }
    }

    #[tokio::test]
    async fn concurrent_refreshes_of_the_same_token_share_one_call() {
        let source = counting();
        let old = source.token().await.unwrap();
        let (first, second) = tokio::join!(source.refresh(&old), source.refresh(&old));
        assert_eq!(first.unwrap().expose(), "token 1");
        assert_eq!(second.unwrap().expose(), "token 1");
        assert_eq!(source.token().await.unwrap().expose(), "token 1");
    }
}

//! [`Credential`]: what a server is shown so that it answers.

mod guard;
mod secret;
mod token;

pub use guard::SecretGuard;
pub(crate) use guard::{MARK, SHORTEST};
pub use secret::Secret;
pub use token::{CachedToken, TokenSource, token_fn};

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderName;

use agcore_wire::LlmError;

/// What a server is shown so that it answers. Never printed: `Debug` says only which kind it is.
///
/// ```
/// use agcore_llm::credential::Credential;
///
/// assert_eq!(format!("{:?}", Credential::key("sk-very-secret")), "Key(…)");
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Credential {
    /// Nothing; many local servers want nothing.
    #[default]
    None,
    /// A fixed key.
    Key(Secret),
    /// Tokens that run out. When the server refuses one (HTTP 401), it is refreshed once and the request sent again.
    Token(Arc<dyn TokenSource>),
    /// A signature over the finished request.
    Signer(Arc<dyn RequestSigner>),
}

impl Credential {
    /// A fixed key.
    pub fn key(key: impl Into<Secret>) -> Self {
        Self::Key(key.into())
    }

    /// Tokens of this source.
    pub fn token(source: impl TokenSource + 'static) -> Self {
        Self::Token(Arc::new(source))
    }

    /// Signatures of this signer.
    pub fn signer(signer: impl RequestSigner + 'static) -> Self {
        Self::Signer(Arc::new(signer))
    }

    /// Whether there is nothing to show.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Key(_) => "Key(…)",
            Self::Token(_) => "Token(…)",
            Self::Signer(_) => "Signer(…)",
        })
    }
}

/// Where a key or token stands in a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KeyHeader {
    /// `authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// In a header of its own, as it is.
    Named(HeaderName),
}

impl KeyHeader {
    /// The header's name.
    pub fn name(&self) -> HeaderName {
        match self {
            Self::Bearer => http::header::AUTHORIZATION,
            Self::Named(name) => name.clone(),
        }
    }
}

/// Signs finished requests.
#[async_trait]
pub trait RequestSigner: Send + Sync + fmt::Debug {
    /// Adds the signature: to the headers, or to the query. Called once per request, last. Cancel safe, if the
    /// implementation is.
    ///
    /// # Errors
    /// `Authentication` when it cannot sign; the request is then not sent.
    async fn sign(&self, request: &mut http::Request<Bytes>) -> Result<(), LlmError>;
}

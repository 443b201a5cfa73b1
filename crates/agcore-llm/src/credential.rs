//! Credentials: keys, tokens and signatures that authenticate requests.

mod guard;
mod secret;
mod token;
#[cfg(feature = "bedrock")]
mod aws;

#[cfg(feature = "bedrock")]
pub use agcore_aws::{AwsKeys, AwsProfile, ProfileError};
#[cfg(feature = "bedrock")]
pub use aws::AwsSigner;
pub use guard::SecretGuard;
#[cfg(feature = "cassettes")]
pub(crate) use guard::{MIN_SECRET_BYTES, REDACTED};
#[cfg(feature = "_http")]
pub(crate) use secret::BEARER;
pub use secret::Secret;
pub use token::{CachedToken, TokenSource, token_fn};

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderName;

use agcore_wire::LlmError;

/// The credential that authenticates requests. `Debug` only prints its kind.
///
/// ```
/// use agcore_llm::credential::{Credential, token_fn};
///
/// let key = Credential::key("sk-very-secret");
/// assert_eq!(format!("{key:?}"), "Key(…)");
///
/// // Fetched before the first request, and again when the server refuses the token.
/// let token = Credential::token(token_fn(|| async { Ok("an-access-token".into()) }));
/// assert_eq!(format!("{token:?}"), "Token(…)");
///
/// assert!(Credential::default().is_none());
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Credential {
    /// No credential. Many local servers need none.
    #[default]
    None,
    /// A fixed key, in the header that the API expects keys in.
    Key(Secret),
    /// Tokens that expire, sent as `Authorization: Bearer TOKEN` to every API. If the server refuses one (HTTP 401), it is
    /// refreshed and the request is sent once more.
    Token(Arc<dyn TokenSource>),
    /// Tokens like [`Token`](Self::Token) in another header.
    TokenIn(KeyHeader, Arc<dyn TokenSource>),
    /// A signature of the complete request.
    Signer(Arc<dyn RequestSigner>),
}

impl Credential {
    /// Creates a credential from a fixed key.
    pub fn key(key: impl Into<Secret>) -> Self {
        Self::Key(key.into())
    }

    /// Creates a credential from a source of tokens, which are sent as `Authorization: Bearer TOKEN`, also to APIs
    /// whose keys have a header of their own. Access tokens of Microsoft Entra ID for Azure are an example.
    pub fn token(source: impl TokenSource + 'static) -> Self {
        Self::Token(Arc::new(source))
    }

    /// Creates a credential from a source of tokens that are sent in this header.
    ///
    /// ```
    /// use agcore_llm::credential::{Credential, KeyHeader, token_fn};
    ///
    /// let header = KeyHeader::Named("x-gateway-token".parse()?);
    /// let credential = Credential::token_in(header, token_fn(|| async { Ok("an-access-token".into()) }));
    /// # let _ = credential;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn token_in(header: KeyHeader, source: impl TokenSource + 'static) -> Self {
        Self::TokenIn(header, Arc::new(source))
    }

    /// Creates a credential from a signer of requests.
    pub fn signer(signer: impl RequestSigner + 'static) -> Self {
        Self::Signer(Arc::new(signer))
    }

    /// Returns whether there is no credential.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Key(_) => "Key(…)",
            Self::Token(_) | Self::TokenIn(..) => "Token(…)",
            Self::Signer(_) => "Signer(…)",
        })
    }
}

/// The header that contains a key or token.
///
/// ```
/// use agcore_llm::credential::KeyHeader;
///
/// assert_eq!(KeyHeader::default().name(), "authorization");
/// assert_eq!(KeyHeader::Named("x-api-key".parse()?).name(), "x-api-key");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KeyHeader {
    /// `authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// A header of this name that contains only the key.
    Named(HeaderName),
}

impl KeyHeader {
    /// Returns the name of the header.
    pub fn name(&self) -> HeaderName {
        match self {
            Self::Bearer => http::header::AUTHORIZATION,
            Self::Named(name) => name.clone(),
        }
    }
}

/// Signs complete requests, for APIs that authenticate with signatures instead of keys.
///
/// ```
/// use agcore_llm::{LlmError, LlmErrorKind, credential::{Credential, RequestSigner}};
/// use bytes::Bytes;
///
/// /// Puts the length of the body into a header, in place of a real signature.
/// #[derive(Debug)]
/// struct LengthSigner;
///
/// #[async_trait::async_trait]
/// impl RequestSigner for LengthSigner {
///     async fn sign(&self, request: &mut http::Request<Bytes>) -> Result<(), LlmError> {
///         let signature = http::HeaderValue::from(request.body().len());
///         request.headers_mut().insert("x-signature", signature);
///         Ok(())
///     }
/// }
///
/// let credential = Credential::signer(LengthSigner);
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let Credential::Signer(signer) = credential else { unreachable!() };
/// let mut request = http::Request::new(Bytes::from("{}"));
/// signer.sign(&mut request).await?;
/// assert_eq!(request.headers()["x-signature"], "2");
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait RequestSigner: Send + Sync + fmt::Debug {
    /// Adds the signature to the headers or to the query. Called once per request, after all other changes to it.
    ///
    /// Dropping the future cancels the request, so implementations must be cancel safe.
    ///
    /// # Errors
    /// `Authentication` if the request cannot be signed. It is not sent then.
    async fn sign(&self, request: &mut http::Request<Bytes>) -> Result<(), LlmError>;

    /// Returns the secrets that a server may quote in an error, so that they are redacted there; by default, there are none.
    fn secrets(&self) -> Vec<Secret> {
        Vec::new()
    }
}

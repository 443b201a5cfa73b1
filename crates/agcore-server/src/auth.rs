//! [`Authenticator`]: who a client is.

mod admin_tokens;
mod administrator;
#[cfg(feature = "jwt")]
mod jwt;
mod proxy;
mod tokens;

pub use admin_tokens::{AdminTokenError, AdminTokens};
pub use administrator::{AdminAuthenticator, Administrator};
#[cfg(feature = "jwt")]
pub use jwt::{JwkSetError, JwkSetSource, JwtVerifier};
pub use proxy::TrustedProxy;
pub use tokens::{NewToken, Token, TokenStore};

use std::{fmt::Debug, net::IpAddr};

use agcore_chat::Actor;
use async_trait::async_trait;
use http::HeaderMap;
use ring::rand::{SecureRandom, SystemRandom};

use crate::problem::{Problem, ProblemCode};

/// Finds out on whose behalf a request is made.
///
/// A server asks its authenticators in order. The first one that finds credentials of its kind decides.
#[async_trait]
pub trait Authenticator: Send + Sync + Debug {
    /// Returns the actor; `None` if the request has no credentials of this kind.
    ///
    /// # Errors
    /// When the credentials are not valid, or cannot be checked.
    async fn authenticate(&self, client: &Client<'_>) -> Result<Option<Actor>, AuthError>;

    /// Returns whether credentials of this kind name the tenant of their user. If not, all users are of the tenant `local`, and the
    /// server warns when it starts.
    fn names_tenants(&self) -> bool {
        true
    }

    /// Returns the tokens that this accepts, if they are kept in a store. Administrators can list, create and revoke them.
    fn token_store(&self) -> Option<&TokenStore> {
        None
    }
}

#[async_trait]
impl Authenticator for TokenStore {
    fn token_store(&self) -> Option<&TokenStore> {
        Some(self)
    }

    async fn authenticate(&self, client: &Client<'_>) -> Result<Option<Actor>, AuthError> {
        let Some(text) = client.bearer() else {
            return Ok(None);
        };
        match self.find(text).await {
            Ok(Some(token)) => Ok(Some(token.actor)),
            Ok(None) => Err(AuthError::Invalid),
            Err(error) => {
                tracing::warn!(?error, "tokens cannot be checked");
                Err(AuthError::Unavailable)
            }
        }
    }
}

/// A client that has sent a request.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Client<'a> {
    /// The headers of the request.
    pub headers: &'a HeaderMap,
    /// The address from which the connection comes.
    pub address: IpAddr,
}

impl<'a> Client<'a> {
    /// Creates a client.
    pub fn new(headers: &'a HeaderMap, address: IpAddr) -> Self {
        Self { headers, address }
    }

    /// Returns the token of the header `Authorization: Bearer`.
    pub(crate) fn bearer(&self) -> Option<&'a str> {
        let value = self.headers.get(http::header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }
}

/// Why a request was not accepted. It never contains the credentials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The credentials are wrong, expired or revoked.
    #[error("the credentials are not valid; ask the operator of the server for new ones")]
    Invalid,
    /// The credentials are those of an administrator.
    #[error(
        "the credentials are those of an administrator, who has no access to what belongs to users; use those of a user"
    )]
    Administrator,
    /// The credentials cannot be checked at the moment.
    #[error("the credentials cannot be checked at the moment; try again later")]
    Unavailable,
}

/// Returns random bytes for a secret. They are not from the source of random numbers of ids, which others may foresee.
///
/// # Errors
/// `internal` if the system has no random numbers; the log names what they were for.
pub(crate) fn secret_bytes(purpose: &str) -> Result<[u8; 32], Problem> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| {
        tracing::error!(purpose, "the system has no random numbers for a secret");
        Problem::new(
            ProblemCode::Internal,
            "the request failed; the log of the server has the reason",
        )
    })?;
    Ok(bytes)
}

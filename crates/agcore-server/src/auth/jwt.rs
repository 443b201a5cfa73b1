//! [`JwtVerifier`]: users whose tokens another service has signed.

mod claims;
mod key;

pub use self::key::JwkSetError;

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use agcore_chat::{Actor, Clock};
use agcore_session::Timestamp;
use async_trait::async_trait;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use self::key::{Key, decode};
use super::{AuthError, Authenticator, Client};

/// The longest token that is read, in bytes.
const MAX_TOKEN: usize = 16 * 1024;

/// Accepts JSON Web Tokens (RFC 7519) that another service has signed, such as an identity provider.
///
/// A token must be signed with one of the keys, by the algorithm of that key: what the token claims about its algorithm is only
/// compared. It must be meant for the audience of this server, must have an expiry in the future, and must name its user.
///
/// Bearer tokens of another form are left to the next authenticator, so add a [`TokenStore`](super::TokenStore) after this one.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::SystemClock;
/// use agcore_server::{Authenticator, Client, JwtVerifier};
/// use http::HeaderMap;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// // The JWK Set that the service publishes.
/// let keys = r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "2026", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
/// let verifier = JwtVerifier::new(keys, "agcore", Arc::new(SystemClock::new()))?
///     .with_issuer("https://id.example.org")
///     .with_tenant_claim("org");
///
/// let mut headers = HeaderMap::new();
/// headers.insert("authorization", "Bearer e30.e30.AAAA".parse()?);
/// let client = Client::new(&headers, "10.0.0.8".parse()?);
/// assert!(verifier.authenticate(&client).await.is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct JwtVerifier {
    keys: RwLock<Arc<[Key]>>,
    clock: Arc<dyn Clock>,
    expected: claims::Expected,
}

/// The members of the first part of a token that decide about it.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that a reader must understand. None are.
    crit: Option<Value>,
}

impl JwtVerifier {
    /// Creates a verifier from a JWK Set (RFC 7517) with the public keys of the service, or a secret that it shares. Keys for
    /// encryption and of unknown types are skipped. `audience` is the name under which the service knows this server.
    ///
    /// The algorithms are RS256, RS384, RS512, PS256, ES256, ES384, EdDSA with Ed25519, and HS256.
    ///
    /// # Errors
    /// When the text is not a JWK Set, has no key for signatures, or a key is damaged or too weak.
    pub fn new(keys: &str, audience: impl Into<String>, clock: Arc<dyn Clock>) -> Result<Self, JwkSetError> {
        Ok(Self {
            keys: RwLock::new(key::read(keys)?.into()),
            clock,
            expected: claims::Expected::new(audience.into()),
        })
    }

    /// Accepts only tokens of this issuer (the claim `iss`).
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.expected.issuer = Some(issuer.into());
        self
    }

    /// Sets the claim with the user; `sub` by default.
    #[must_use]
    pub fn with_user_claim(mut self, name: impl Into<String>) -> Self {
        self.expected.user_claim = name.into();
        self
    }

    /// Sets the claim with the tenant, which every token must then have. Without one, all users are of the tenant `local`.
    #[must_use]
    pub fn with_tenant_claim(mut self, name: impl Into<String>) -> Self {
        self.expected.tenant_claim = Some(name.into());
        self
    }

    /// Replaces the keys: tokens that are signed with others are refused from now on. To rotate keys without refusing a token,
    /// publish a set with both keys until the tokens of the old one have expired.
    ///
    /// # Errors
    /// As [`new`](Self::new); the keys then stay as they are.
    pub fn replace_keys(&self, keys: &str) -> Result<(), JwkSetError> {
        let keys = key::read(keys)?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys.into();
        Ok(())
    }

    /// Returns on whose behalf requests with a token are made; `None` if the token is not valid.
    fn actor(&self, token: &str) -> Option<Actor> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let signature = decode(signature)?;
        let header: Header = read(header)?;
        if header.crit.is_some() {
            return None;
        }
        let keys = Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner));
        let mut candidates = keys
            .iter()
            .filter(|key| key.is_meant(&header.alg, header.kid.as_deref()));
        if !candidates.any(|key| key.verifies(signed.as_bytes(), &signature)) {
            return None;
        }
        // Not before the signature was checked.
        let claims: Map<String, Value> = read(payload)?;
        let now = Timestamp::from(self.clock.now()).as_millis() / 1000;
        self.expected.actor(&claims, now)
    }
}

#[async_trait]
impl Authenticator for JwtVerifier {
    async fn authenticate(&self, client: &Client<'_>) -> Result<Option<Actor>, AuthError> {
        let Some(token) = client.bearer().filter(|token| token.split('.').count() == 3) else {
            return Ok(None);
        };
        let actor = (token.len() <= MAX_TOKEN).then(|| self.actor(token)).flatten();
        actor.map(Some).ok_or(AuthError::Invalid)
    }

    fn names_tenants(&self) -> bool {
        self.expected.tenant_claim.is_some()
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifier")
            .field("expected", &self.expected)
            .finish_non_exhaustive()
    }
}

fn read<T: DeserializeOwned>(part: &str) -> Option<T> {
    serde_json::from_slice(&decode(part)?).ok()
}

//! [`JwtVerifier`]: users whose tokens another service has signed.

mod claims;
mod key;
mod published;

pub use self::{key::JwkSetError, published::JwkSetSource};

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use agcore_chat::{Actor, Clock};
use agcore_session::Timestamp;
use async_trait::async_trait;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use self::{
    claims::Identity,
    key::{Key, Origin, decode},
    published::PublishedKeys,
};
use super::{AdminAuthenticator, Administrator, AuthError, Authenticator, Client};

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
    keys: Keys,
    clock: Arc<dyn Clock>,
    expected: claims::Expected,
}

/// The keys that check signatures.
enum Keys {
    Given(RwLock<Arc<[Key]>>),
    Published(Arc<PublishedKeys>),
}

/// The result of a check.
enum Verdict {
    Valid(Identity),
    Invalid,
    /// The key is not known that has signed the token.
    UnknownKey,
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
        let keys = Keys::Given(RwLock::new(key::read(keys, Origin::Given)?.into()));
        Ok(Self::with_keys(keys, audience, clock))
    }

    /// Creates a verifier that fetches the public keys of the service, so that they can be rotated without a restart.
    ///
    /// The keys are fetched with the first token, or by [`load`](Self::load), again after an hour, and when a token names an
    /// unknown key; but at most once a minute. While they cannot be fetched, those that are known stay in use for a day. Without
    /// keys, tokens cannot be checked, and requests with them are answered with 503. Secrets and keys that cannot be used are
    /// skipped.
    pub fn fetching(source: JwkSetSource, audience: impl Into<String>, clock: Arc<dyn Clock>) -> Self {
        let keys = PublishedKeys::new(source, Arc::clone(&clock));
        Self::with_keys(Keys::Published(Arc::new(keys)), audience, clock)
    }

    fn with_keys(keys: Keys, audience: impl Into<String>, clock: Arc<dyn Clock>) -> Self {
        Self {
            keys,
            clock,
            expected: claims::Expected::new(audience.into()),
        }
    }

    /// Fetches the keys now, if they are [fetched](Self::fetching).
    ///
    /// # Errors
    /// The reason there are none. Keys that are known stay in use.
    pub async fn load(&self) -> Result<(), JwkSetError> {
        match &self.keys {
            Keys::Given(_) => Ok(()),
            Keys::Published(published) => published.load().await,
        }
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

    /// Makes administrators of those whose tokens have a value in a claim, such as `agcore:admin` in `scope`. The claim is a list
    /// of texts, or a text with words. Such a token is not that of a user any more.
    ///
    /// An administrator looks after the tenant in the [claim](Self::with_tenant_claim) of the tenant, which the token must have. If
    /// no such claim is set, all users are of one tenant, and an administrator looks after all tenants.
    #[must_use]
    pub fn with_admin_claim(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.expected.admin = Some((name.into(), value.into()));
        self
    }

    /// Returns whether some tokens are those of [administrators](Self::with_admin_claim).
    pub fn has_admins(&self) -> bool {
        self.expected.admin.is_some()
    }

    /// Replaces the keys: tokens that are signed with others are refused from now on. To rotate keys without refusing a token,
    /// publish a set with both keys until the tokens of the old one have expired. Keys that are [fetched](Self::fetching) are
    /// replaced until the next time.
    ///
    /// # Errors
    /// As [`new`](Self::new); the keys then stay as they are.
    pub fn replace_keys(&self, keys: &str) -> Result<(), JwkSetError> {
        let keys = key::read(keys, Origin::Given)?;
        match &self.keys {
            Keys::Given(known) => *known.write().unwrap_or_else(PoisonError::into_inner) = keys.into(),
            Keys::Published(published) => published.set(keys),
        }
        Ok(())
    }

    /// Returns whose token a client has sent; `None` if it has sent none of this kind.
    async fn identity_of(&self, client: &Client<'_>) -> Result<Option<Identity>, AuthError> {
        let Some(token) = client.bearer().filter(|token| token.split('.').count() == 3) else {
            return Ok(None);
        };
        match token.len() <= MAX_TOKEN {
            true => self.identity(token).await.map(Some),
            false => Err(AuthError::Invalid),
        }
    }

    /// Returns whose token this is.
    async fn identity(&self, token: &str) -> Result<Identity, AuthError> {
        let published = match &self.keys {
            Keys::Given(keys) => {
                let keys = Arc::clone(&keys.read().unwrap_or_else(PoisonError::into_inner));
                return self.check(token, &keys).into_result();
            }
            Keys::Published(published) => published,
        };
        let seen = published.keys();
        match seen.as_ref().map(|keys| self.check(token, keys)) {
            None | Some(Verdict::UnknownKey) => {}
            Some(verdict) => return verdict.into_result(),
        }
        match published.newer_than(seen.as_ref()).await {
            Some(keys) => self.check(token, &keys).into_result(),
            None if seen.is_some() => Err(AuthError::Invalid),
            None => Err(AuthError::Unavailable),
        }
    }

    fn check(&self, token: &str, keys: &[Key]) -> Verdict {
        let Some((signed, signature, header, payload)) = parts(token) else {
            return Verdict::Invalid;
        };
        let id = header.kid.as_deref();
        let mut candidates = keys.iter().filter(|key| key.is_meant(&header.alg, id)).peekable();
        if candidates.peek().is_none() {
            return Verdict::UnknownKey;
        }
        if !candidates.any(|key| key.verifies(signed.as_bytes(), &signature)) {
            // Without an id, any other key may have signed it.
            return if id.is_none() {
                Verdict::UnknownKey
            } else {
                Verdict::Invalid
            };
        }
        // Not before the signature was checked.
        let now = Timestamp::from(self.clock.now()).as_millis() / 1000;
        let claims: Option<Map<String, Value>> = read(payload);
        let identity = claims.and_then(|claims| self.expected.identity(&claims, now));
        identity.map_or(Verdict::Invalid, Verdict::Valid)
    }
}

impl Verdict {
    fn into_result(self) -> Result<Identity, AuthError> {
        match self {
            Self::Valid(identity) => Ok(identity),
            Self::Invalid | Self::UnknownKey => Err(AuthError::Invalid),
        }
    }
}

/// Returns the signed part, the signature, the header, and the text of the claims.
fn parts(token: &str) -> Option<(&str, Vec<u8>, Header, &str)> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    let signature = decode(signature)?;
    let header: Header = read(header)?;
    header.crit.is_none().then_some((signed, signature, header, payload))
}

#[async_trait]
impl Authenticator for JwtVerifier {
    async fn authenticate(&self, client: &Client<'_>) -> Result<Option<Actor>, AuthError> {
        match self.identity_of(client).await? {
            Some(Identity::User(actor)) => Ok(Some(actor)),
            Some(Identity::Administrator(_)) => Err(AuthError::Administrator),
            None => Ok(None),
        }
    }

    fn names_tenants(&self) -> bool {
        self.expected.tenant_claim.is_some()
    }
}

#[async_trait]
impl AdminAuthenticator for JwtVerifier {
    async fn administrator(&self, client: &Client<'_>) -> Result<Option<Administrator>, AuthError> {
        Ok(match self.identity_of(client).await? {
            Some(Identity::Administrator(administrator)) => Some(administrator),
            Some(Identity::User(_)) | None => None,
        })
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

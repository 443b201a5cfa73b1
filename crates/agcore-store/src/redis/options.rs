//! [`RedisOptions`]: options for opening a store.

use std::time::Duration;

use agcore_memory::EvictionConfig;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion};

use crate::error::StoreError;

/// The longest prefix of keys, in bytes.
const MAX_PREFIX_BYTES: usize = 128;

/// Options for opening a [`RedisStore`](super::RedisStore).
///
/// ```no_run
/// # async fn open(clock: std::sync::Arc<dyn agcore_chat::Clock>) -> Result<(), agcore_store::StoreError> {
/// use std::time::Duration;
///
/// use agcore_store::redis::RedisOptions;
///
/// let store = RedisOptions::new("redis://user:secret@127.0.0.1:6379/0")?
///     .with_key_prefix("my-app")
///     .with_response_timeout(Duration::from_secs(3))
///     .open(clock)
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// [`Debug`] does not print the password.
#[derive(Debug, Clone)]
#[must_use]
pub struct RedisOptions {
    pub(super) server: ConnectionInfo,
    pub(super) key_prefix: String,
    pub(super) connect_timeout: Duration,
    pub(super) response_timeout: Duration,
    pub(super) reconnect: ReconnectPolicy,
    pub(super) eviction: EvictionConfig,
    #[cfg(feature = "tls")]
    pub(super) roots: Option<Vec<u8>>,
}

/// The number of attempts to connect, and the pauses between them.
///
/// A [`RedisStore`](super::RedisStore) replaces a lost connection when the next operation needs it. An operation fails when
/// all attempts have failed; the next one starts again. Only connecting is repeated: a write whose answer was lost is not sent a
/// second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReconnectPolicy {
    /// The number of attempts, at least 1.
    pub attempts: u32,
    /// The pause after the first attempt. It doubles with each further attempt.
    pub first_delay: Duration,
    /// The longest pause.
    pub max_delay: Duration,
}

impl ReconnectPolicy {
    /// Creates the default policy: 4 attempts, with pauses of 50, 100 and 200 ms.
    pub const fn new() -> Self {
        Self {
            attempts: 4,
            first_delay: Duration::from_millis(50),
            max_delay: Duration::from_secs(2),
        }
    }

    /// Sets the number of attempts.
    #[must_use]
    pub const fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the first and the longest pause between two attempts.
    #[must_use]
    pub const fn with_delays(mut self, first: Duration, max: Duration) -> Self {
        self.first_delay = first;
        self.max_delay = max;
        self
    }

    /// Returns the pause after a number of failed attempts, or `None` if there is no further attempt.
    pub fn delay(&self, failed: u32) -> Option<Duration> {
        let doublings = failed.checked_sub(1)?;
        let factor = 2u32.checked_pow(doublings).unwrap_or(u32::MAX);
        (failed < self.attempts).then(|| self.first_delay.saturating_mul(factor).min(self.max_delay))
    }
}

impl Default for ReconnectPolicy {
    fn default() -> Self {
        Self::new()
    }
}

impl RedisOptions {
    /// Uses the server at a URL: `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://…` for TLS (with the feature
    /// `tls`), or `unix:///PATH`. Characters of the password that have a meaning in URLs are percent-encoded.
    ///
    /// By default, keys begin with `agcore`, connecting may take 5 s and an answer 10 s.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::StoreErrorKind::InvalidInput) when the URL cannot be used. The message does not
    /// contain the URL, because of the password in it.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        Ok(Self {
            server: parse(url)?,
            key_prefix: "agcore".to_owned(),
            connect_timeout: Duration::from_secs(5),
            response_timeout: Duration::from_secs(10),
            reconnect: ReconnectPolicy::new(),
            eviction: EvictionConfig::default(),
            #[cfg(feature = "tls")]
            roots: None,
        })
    }

    /// Sets the beginning of all keys. Stores with different prefixes share nothing, so that several applications can use one
    /// database. Letters, digits and `.`, `_`, `-`, `/` are allowed, at most 128.
    pub fn with_key_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.key_prefix = prefix.into();
        self
    }

    /// Sets how long an attempt to connect may take.
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long the answer of the server may take. After that, operations fail with
    /// [`Unavailable`](crate::StoreErrorKind::Unavailable).
    pub fn with_response_timeout(mut self, timeout: Duration) -> Self {
        self.response_timeout = timeout;
        self
    }

    /// Sets how lost connections are replaced.
    pub fn with_reconnect(mut self, policy: ReconnectPolicy) -> Self {
        self.reconnect = policy;
        self
    }

    /// Sets the eviction policies.
    pub fn with_eviction(mut self, eviction: EvictionConfig) -> Self {
        self.eviction = eviction;
        self
    }

    /// Trusts these certificates, in PEM format, instead of the roots of the system: for servers with certificates of a
    /// private authority. Only `rediss://` uses them.
    #[cfg(feature = "tls")]
    pub fn with_root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into());
        self
    }
}

fn check_key_prefix(prefix: &str) -> Result<(), StoreError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    if prefix.is_empty() || prefix.len() > MAX_PREFIX_BYTES || !prefix.bytes().all(is_allowed) {
        return Err(StoreError::invalid(format!(
            "the prefix of keys {prefix:?} is not acceptable: use 1 to {MAX_PREFIX_BYTES} letters, digits, `.`, `_`, `-` or `/`"
        )));
    }
    Ok(())
}

fn parse(url: &str) -> Result<ConnectionInfo, StoreError> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_tls = matches!(scheme, "rediss" | "valkeys");
    if is_tls && cfg!(not(feature = "tls")) {
        return Err(StoreError::invalid(format!(
            "the URL begins with `{scheme}://`, but this program was built without TLS for databases: \
             enable the feature `tls` of agcore-store, or use `redis://` in a network that you trust"
        )));
    }
    if is_tls && url.contains('#') {
        return Err(StoreError::invalid(
            "the URL of the Redis server contains `#`: certificates are always verified; write a `#` in a password as `%23`",
        ));
    }
    // The error of the library is not kept: it may quote parts of the URL.
    let server = url.into_connection_info().map_err(|_| {
        StoreError::invalid(
            "the URL of the Redis server cannot be used: expected `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, \
             with special characters of the password percent-encoded",
        )
    })?;
    // The third version of the protocol reports a lost connection even when nothing is being sent.
    let settings = server.redis_settings().clone();
    let settings = settings.set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name();
    Ok(server.set_redis_settings(settings))
}

impl RedisOptions {
    /// Checks what could not be checked when it was set.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.eviction.check()?;
        check_key_prefix(&self.key_prefix)
    }

    /// Returns the address for errors, without credentials.
    pub(super) fn address(&self) -> String {
        let address = self.server.addr();
        let scheme = match address {
            ConnectionAddr::TcpTls { .. } => "rediss",
            ConnectionAddr::Unix(_) => "unix",
            _ => "redis",
        };
        format!("{scheme}://{address}/{}", self.server.redis_settings().db())
    }
}

#[cfg(test)]
mod tests {
    use crate::error::StoreErrorKind;

    use super::*;

    #[test]
    fn urls_are_parsed_early() {
        let address = |url: &str| RedisOptions::new(url).unwrap().address();
        assert_eq!(address("redis://ann:s%2Fcret@localhost/3"), "redis://localhost:6379/3");
        assert_eq!(address("redis://[::1]:7000"), "redis://::1:7000/0");
        assert_eq!(address("unix:///run/redis.sock?db=2"), "unix:///run/redis.sock/2");
    }

    #[test]
    fn secrets_are_in_no_error() {
        for url in [
            "",
            "s3cret",
            "redis:s3cret",
            "http://ann:s3cret@localhost",
            "redis://ann:s3cret@",
            "redis://ann:s3cret@localhost:port",
            "redis://ann:s3/cret@localhost",
            "redis://ann:s3#cret@localhost/x",
            "redis://ann:s3cret@localhost/one",
            "redis://ann:s3cret@localhost/?protocol=s3cret",
            "redis://ann:%ff@localhost/s3cret",
            "rediss://ann:s3cret@localhost:99999",
            "rediss://ann:s3cret@localhost/#insecure",
        ] {
            let error = RedisOptions::new(url).unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::InvalidInput, "{url}");
            let text = format!("{error} {error:?}");
            assert!(!text.contains("s3"), "{text}");
        }
        let options = RedisOptions::new("redis://ann:s3cret@localhost").unwrap();
        assert!(!format!("{options:?} {}", options.address()).contains("s3cret"));
    }

    #[test]
    fn tls_needs_a_feature() {
        let result = RedisOptions::new("rediss://localhost");
        if cfg!(feature = "tls") {
            assert_eq!(result.unwrap().address(), "rediss://localhost:6379/0");
        } else {
            assert!(
                result
                    .unwrap_err()
                    .message()
                    .contains("enable the feature `tls` of agcore-store")
            );
        }
    }

    #[test]
    fn prefixes_have_no_special_characters() {
        for prefix in ["agcore", "a", "my-app/v1.2_x", &"x".repeat(128)] {
            check_key_prefix(prefix).unwrap();
        }
        for prefix in ["", "a:b", "{a}", "ä", "a b", "a*", &"x".repeat(129)] {
            assert_eq!(
                check_key_prefix(prefix).unwrap_err().kind(),
                StoreErrorKind::InvalidInput
            );
        }
    }

    #[test]
    fn pauses_double_up_to_a_limit() {
        let millis = Duration::from_millis;
        let policy = ReconnectPolicy::new()
            .with_attempts(5)
            .with_delays(millis(50), millis(150));
        let delays: Vec<_> = (0..6).map(|failed| policy.delay(failed)).collect();
        let expected = [None, Some(50), Some(100), Some(150), Some(150), None];
        assert_eq!(delays, expected.map(|delay| delay.map(millis)));
        assert_eq!(ReconnectPolicy::new().with_attempts(0).delay(1), None);
        let endless = ReconnectPolicy::new().with_attempts(u32::MAX);
        assert_eq!(endless.delay(1_000_000), Some(Duration::from_secs(2)));
    }
}

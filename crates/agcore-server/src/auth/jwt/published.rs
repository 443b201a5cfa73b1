//! [`JwkSetSource`]: the place where a service publishes its keys. [`PublishedKeys`]: those that are known, and when to look again.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_chat::Clock;
use agcore_llm::{transport::Transport, wire::WireRequest};
use futures_util::StreamExt as _;

use super::key::{self, JwkSetError, Key, Origin};

/// The largest set that is read, in bytes.
const MAX_BODY: usize = 256 * 1024;

/// The longest time that a set may take to arrive.
const LIMIT: Duration = Duration::from_secs(10);

/// The age after which the next token has the set fetched again.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// The age after which keys are no longer used because they could not be fetched again: they may have been revoked long ago.
const MAX_STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// The shortest time between two fetches, so that tokens with unknown keys do not cause many.
const PAUSE: Duration = Duration::from_secs(60);

/// The same while no keys are known.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// The place where a service publishes its keys as a JWK Set (RFC 7517).
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_llm::transport::Transport;
/// use agcore_server::JwkSetSource;
///
/// # fn source(transport: Arc<dyn Transport>) -> JwkSetSource {
/// // The transport, such as an `HttpTransport`, has the host: "https://id.example.org".
/// JwkSetSource::new(transport, "/.well-known/jwks.json")
/// # }
/// ```
#[derive(Clone)]
pub struct JwkSetSource {
    transport: Arc<dyn Transport>,
    path: String,
}

impl JwkSetSource {
    /// Creates a source from a transport to the host, and the path there. Let the transport refuse redirects.
    pub fn new(transport: Arc<dyn Transport>, path: impl Into<String>) -> Self {
        Self {
            transport,
            path: path.into(),
        }
    }

    /// Fetches the set. At most 256 KiB are read, for at most 10 s.
    async fn fetch(&self, clock: &dyn Clock) -> Result<Vec<Key>, JwkSetError> {
        let body = tokio::select! {
            biased;
            () = clock.sleep(LIMIT) => {
                return Err(unreachable(format_args!("it did not arrive within {} s", LIMIT.as_secs())));
            }
            body = self.body() => body?,
        };
        let text = std::str::from_utf8(&body).map_err(|_| JwkSetError::Syntax)?;
        key::read(text, Origin::Published)
    }

    async fn body(&self) -> Result<Vec<u8>, JwkSetError> {
        let reply = self.transport.send(WireRequest::get(self.path.as_str()), false).await;
        let mut reply = reply.map_err(|error| unreachable(error.message()))?;
        if !reply.head.status.is_success() {
            return Err(unreachable(format_args!("the server answered {}", reply.head.status)));
        }
        let mut body = Vec::new();
        while let Some(piece) = reply.body.next().await {
            body.extend_from_slice(&piece.map_err(|error| unreachable(error.message()))?);
            if body.len() > MAX_BODY {
                return Err(unreachable(format_args!("it has more than {} KiB", MAX_BODY / 1024)));
            }
        }
        Ok(body)
    }
}

impl fmt::Debug for JwkSetSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwkSetSource")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The keys that a service publishes. They are kept, and fetched again when they are old or a token names an unknown one.
pub(super) struct PublishedKeys {
    source: JwkSetSource,
    clock: Arc<dyn Clock>,
    known: Mutex<Known>,
    /// Taken by the one that fetches.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    keys: Arc<[Key]>,
    /// When the keys were fetched.
    fetched: Option<Duration>,
    /// When the last attempt to fetch them began.
    tried: Option<Duration>,
}

impl Known {
    /// Returns the keys with their age, if they may be used.
    fn usable(&self, now: Duration) -> Option<(Arc<[Key]>, Duration)> {
        let age = now.saturating_sub(self.fetched?);
        (age < MAX_STALE).then(|| (Arc::clone(&self.keys), age))
    }
}

impl PublishedKeys {
    pub(super) fn new(source: JwkSetSource, clock: Arc<dyn Clock>) -> Self {
        Self {
            source,
            clock,
            known: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the keys; `None` if there are none, or only ones that are too old to be used. Old keys are fetched again meanwhile.
    pub(super) fn keys(self: &Arc<Self>) -> Option<Arc<[Key]>> {
        let now = self.clock.monotonic();
        let usable = self.known().usable(now);
        if usable.as_ref().is_some_and(|(_, age)| *age >= MAX_AGE) && self.may_fetch(now) {
            // No request waits for it: the keys can still be used.
            let published = Arc::clone(self);
            tokio::spawn(async move {
                let _fetching = published.fetching.lock().await;
                // An error was logged.
                drop(published.fetch().await);
            });
        }
        usable.map(|(keys, _)| keys)
    }

    /// Returns other keys than those that did not fit a token: fetched now, unless that was tried a moment ago.
    pub(super) async fn newer_than(&self, seen: Option<&Arc<[Key]>>) -> Option<Arc<[Key]>> {
        let _fetching = self.fetching.lock().await;
        let usable = self.known().usable(self.clock.monotonic());
        match usable.filter(|(keys, _)| seen.is_none_or(|seen| !Arc::ptr_eq(seen, keys))) {
            // Another request has fetched them.
            Some((keys, _)) => Some(keys),
            None => self.fetch().await.ok().flatten(),
        }
    }

    /// Fetches the keys now.
    ///
    /// # Errors
    /// The reason there are none. Keys that are known stay in use.
    pub(super) async fn load(&self) -> Result<(), JwkSetError> {
        let _fetching = self.fetching.lock().await;
        self.known().tried = None;
        self.fetch().await.map(drop)
    }

    /// Sets the keys without fetching them.
    pub(super) fn set(&self, keys: Vec<Key>) {
        let mut known = self.known();
        known.keys = keys.into();
        known.fetched = Some(self.clock.monotonic());
    }

    async fn fetch(&self) -> Result<Option<Arc<[Key]>>, JwkSetError> {
        let now = self.clock.monotonic();
        if !self.may_fetch(now) {
            return Ok(None);
        }
        self.known().tried = Some(now);
        let keys = self.source.fetch(&*self.clock).await.inspect_err(|error| {
            tracing::warn!(%error, source = ?self.source, "the keys of tokens were not fetched");
        })?;
        self.set(keys);
        Ok(Some(Arc::clone(&self.known().keys)))
    }

    fn may_fetch(&self, now: Duration) -> bool {
        let known = self.known();
        let pause = if known.keys.is_empty() { FIRST_PAUSE } else { PAUSE };
        known.tried.is_none_or(|tried| now.saturating_sub(tried) >= pause)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unreachable(reason: impl fmt::Display) -> JwkSetError {
    JwkSetError::Unreachable {
        reason: reason.to_string(),
    }
}

//! [`SharedCooldowns`]: the cooldowns of a key pool, for all processes that use the same keys.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use agcore_chat::Clock;
use agcore_llm::layer::key_pool::{KeyCooldown, KeyPool, KeyPoolState};
use agcore_session::{Journal, Record, SessionError, SessionErrorKind, Timestamp};
use tokio_util::sync::CancellationToken;

/// The kind of the records.
const KIND: &str = "key_cooldowns";

/// The pause between two reads of the journal. Until then, another process may ask a vendor once with a key that cools down.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of attempts to write while other processes write as well.
const ATTEMPTS: usize = 16;

/// Shares the cooldowns of a [`KeyPool`] by a journal, with other processes that use the same keys, and with those that start
/// later.
///
/// When a key is rate-limited in one process, the others use their other keys as soon as they have read the journal. Keys are
/// known by their labels, so give a key the same label everywhere; the journal contains no keys. A key that a vendor has refused,
/// or whose quota is exhausted, is not shared: it may have been replaced or restored elsewhere, and costs each process a single
/// refusal. [`KeyPool::restore`] applies to its own process.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use agcore_agent::SharedCooldowns;
/// use agcore_chat::{ChatRequest, ChatResponse, Message, SystemClock};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt,
///     layer::key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
///     provider_fn,
/// };
/// use agcore_session::{InMemoryJournal, Journal};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = || {
///     let busy = provider_fn(|_| async {
///         Err(LlmError::new(LlmErrorKind::RateLimit, "slow down").with_retry_after(Some(Duration::from_secs(20))))
///     });
///     let fine = provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
///     let keys = [PoolKey::new("team", busy), PoolKey::new("spare", fine)];
///     KeyPool::new(keys, KeyPoolPolicy::new(), SystemClock::shared())
/// };
/// // In programs, this is a store on PostgreSQL, and each pool is in a process of its own.
/// let journal: Arc<dyn Journal> = Arc::new(InMemoryJournal::new());
/// let (here, there) = (pool()?, pool()?);
/// let mut shared_here = SharedCooldowns::new("openai", here.clone(), journal.clone(), SystemClock::shared());
/// let mut shared_there = SharedCooldowns::new("openai", there.clone(), journal, SystemClock::shared());
///
/// here.chat(ChatRequest::new([Message::user("Hello")])).await?;
/// shared_here.exchange().await?;
/// shared_there.exchange().await?;
/// assert!(there.status()[0].cooldown.is_some());
/// // Programs spawn this instead, which exchanges again and again:
/// // tokio::spawn(shared_here.run(stop));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct SharedCooldowns {
    pool: KeyPool,
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    stream: String,
    pause: Duration,
    /// The number of the last record that was read or written.
    version: u64,
    /// The cooldowns in it.
    shared: Vec<KeyCooldown>,
}

impl SharedCooldowns {
    /// Shares the cooldowns of a pool. `name` is that of the pool in the journal: pools with the same name share their cooldowns.
    /// The clock is that of the pool.
    pub fn new(name: &str, pool: KeyPool, journal: Arc<dyn Journal>, clock: Arc<dyn Clock>) -> Self {
        Self {
            pool,
            journal,
            clock,
            stream: format!("key-cooldowns/{name}"),
            pause: PAUSE,
            version: 0,
            shared: Vec::new(),
        }
    }

    /// Sets the pause between two reads of the journal; 1 s by default. Cooldowns of this process are written at once.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Exchanges cooldowns regularly, and whenever a key of this process begins to cool down, until `stop` is cancelled. Errors of
    /// the journal are logged, and the next attempt is after the pause.
    ///
    /// Cancel safe: dropping the future ends it.
    pub async fn run(mut self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.exchange().await {
                tracing::warn!(
                    ?error,
                    stream = self.stream,
                    "cooldowns of keys were not shared; the next attempt is soon"
                );
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.pool.changed() => {}
                () = self.clock.sleep(self.pause) => {}
            }
        }
    }

    /// Takes over what others have written, and writes the cooldowns of this process that they do not know.
    ///
    /// Cancel safe: what was not written is written by the next call.
    ///
    /// # Errors
    /// When the journal fails, or a newer version of the program has written it.
    pub async fn exchange(&mut self) -> Result<(), SessionError> {
        for _ in 0..ATTEMPTS {
            self.read().await?;
            let merged = self.merged();
            if merged == self.shared {
                return Ok(());
            }
            match self.write(merged).await {
                // From the beginning: the stream may have been deleted, so that its numbers are lower now.
                Err(error) if matches!(error.kind(), SessionErrorKind::Conflict { .. }) => {
                    (self.version, self.shared) = (0, Vec::new());
                }
                written => return written,
            }
        }
        Err(SessionError::new(
            SessionErrorKind::Storage,
            "too many processes write cooldowns of keys at the same time",
        ))
    }

    async fn read(&mut self) -> Result<(), SessionError> {
        let entries = self.journal.read(&self.stream, self.version.saturating_add(1)).await?;
        let Some(last) = entries.into_iter().next_back() else {
            return Ok(());
        };
        let damaged = |error| {
            let message = format!(
                "the record `{}` is damaged, or was written by a newer version",
                self.stream
            );
            SessionError::with_source(SessionErrorKind::Serialization, message, error)
        };
        let state: KeyPoolState = serde_json::from_value(last.record.data).map_err(damaged)?;
        let imported = self.pool.import(&state);
        imported.map_err(|error| SessionError::new(SessionErrorKind::Serialization, error.to_string()))?;
        (self.version, self.shared) = (last.seq, state.keys);
        Ok(())
    }

    /// Returns the cooldowns of all processes that are not over.
    fn merged(&self) -> Vec<KeyCooldown> {
        let now = self.clock.now().duration_since(SystemTime::UNIX_EPOCH);
        let now = u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(u64::MAX);
        let mut merged: Vec<KeyCooldown> = self.shared.clone();
        for own in self.pool.export().keys {
            if own.until_ms.is_none() {
                continue;
            }
            match merged.iter_mut().find(|other| other.label == own.label) {
                // What was taken over from others differs by rounding.
                Some(other) if own.until_ms <= other.until_ms.map(|until| until.saturating_add(1)) => {}
                Some(other) => *other = own,
                None => merged.push(own),
            }
        }
        let is_new = merged != self.shared;
        if is_new {
            // The end of a cooldown alone need not be written.
            merged.retain(|key| key.until_ms.is_some_and(|until| until > now));
        }
        merged
    }

    async fn write(&mut self, keys: Vec<KeyCooldown>) -> Result<(), SessionError> {
        let state = KeyPoolState::new(keys);
        let data = serde_json::to_value(&state).map_err(|error| {
            SessionError::with_source(SessionErrorKind::Serialization, "cooldowns cannot be written", error)
        })?;
        let record = Record::new(KIND, 1, Timestamp::from(self.clock.now()), data);
        let version = self.journal.append(&self.stream, self.version, vec![record]).await?;
        (self.version, self.shared) = (version, state.keys);
        // What is left here is removed with the next record.
        if let Err(error) = self.journal.trim(&self.stream, version).await {
            tracing::debug!(?error, "older cooldowns of keys were not removed");
        }
        Ok(())
    }
}

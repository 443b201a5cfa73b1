//! [`KeyPool`]: several keys of one vendor; a rate-limited key cools down while the others are used.

mod policy;
mod state;
mod keys;
mod unavailable;

pub use keys::{KeyStatus, KeyUse, Keys, NoKeyAvailable};
pub use policy::{DisabledReason, KeyChoice, KeyPoolPolicy, KeyVerdict};
pub use state::{KeyCooldown, KeyPoolState};

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_chat::{AnsweredBy, Clock, Fault, Text};

use self::unavailable::unavailable;
use super::{
    attempt::MidStream,
    failures::Failures,
    switch::{FailedAttempt, NextStep, SwitchStrategy, SwitchingStream, Target},
};
use crate::{
    provider::{Call, LlmProvider, ProviderInfo, ProviderRoute},
    reply::ReplyStream,
};
use agcore_wire::{LlmError, LlmErrorKind, failure::OutputLimit};
use tokio::sync::Notify;

/// A key of a [`KeyPool`]: a label, and a provider that uses the key.
#[derive(Debug, Clone)]
#[must_use]
pub struct PoolKey {
    label: Text,
    provider: Arc<dyn LlmProvider>,
}

impl PoolKey {
    /// Creates a key with this label. Labels are shown in errors, spans and responses, keys never.
    pub fn new(label: impl Into<Text>, provider: impl LlmProvider + 'static) -> Self {
        Self {
            label: label.into(),
            provider: Arc::new(provider),
        }
    }

    /// Returns the label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Wraps the provider of the key in a layer.
    ///
    /// # Errors
    /// Returns the error of the layer's constructor.
    pub(crate) fn wrap<P: LlmProvider + 'static>(
        self,
        layer: impl FnOnce(Arc<dyn LlmProvider>) -> Result<P, LlmError>,
    ) -> Result<Self, LlmError> {
        Ok(Self {
            label: self.label,
            provider: Arc::new(layer(self.provider)?),
        })
    }
}

/// Several keys of one vendor as one provider. Clones are handles to the same pool.
///
/// A key cools down after a rate limit, for as long as the server asks, and for longer if its quota is exhausted; a key that
/// the server refuses is disabled. The call continues with another key at once, unless parts of the answer were returned. If
/// no key is available, a call fails with `RateLimit` and its error states when the first one becomes available, or the
/// call waits for that if the policy allows.
///
/// The cooldowns can be [exported](Self::export), saved, and [imported](Self::import) after a restart.
///
/// Cancel safe: a call that is dropped releases its key.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock,
///     layer::key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
///     provider_fn,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let busy = provider_fn(|_| async {
///     let error = LlmError::new(LlmErrorKind::RateLimit, "slow down");
///     Err(error.with_retry_after(Some(Duration::from_secs(20))))
/// });
/// let fine = provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
/// let keys = [PoolKey::new("team", busy), PoolKey::new("spare", fine)];
/// let pool = KeyPool::new(keys, KeyPoolPolicy::new(), Arc::new(SystemClock::new()))?;
///
/// let response = pool.chat(ChatRequest::new([Message::user("Hello")])).await?;
/// assert_eq!(response.answered_by.unwrap().key.unwrap(), "spare");
/// assert!(pool.status()[0].cooldown.is_some());
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct KeyPool(Arc<Shared>);

struct Shared {
    info: ProviderInfo,
    targets: Vec<Target>,
    policy: KeyPoolPolicy,
    clock: Arc<dyn Clock>,
    keys: Mutex<Keys>,
    /// Notified when a key may have become unavailable.
    changed: Notify,
}

impl KeyPool {
    /// Creates a pool of these keys.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if there are no keys, or two keys have the same label.
    pub fn new(
        keys: impl IntoIterator<Item = PoolKey>,
        policy: KeyPoolPolicy,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, LlmError> {
        let keys: Vec<PoolKey> = keys.into_iter().collect();
        let info = check(&keys)?.provider.info().clone();
        let labels = Keys::new(keys.iter().map(|key| key.label.clone()), policy.clone());
        let target = |key: PoolKey| Target {
            provider: key.provider,
            model: None,
            key: Some(key.label),
        };
        Ok(Self(Arc::new(Shared {
            info,
            targets: keys.into_iter().map(target).collect(),
            policy,
            clock,
            keys: Mutex::new(labels),
            changed: Notify::new(),
        })))
    }

    /// Returns the status of each key.
    pub fn status(&self) -> Vec<KeyStatus> {
        let now = self.0.clock.monotonic();
        self.0.keys().status(now)
    }

    /// Makes a key available again, for example because its quota was raised. Returns `false` if there is no key with this
    /// label. Calls that are already waiting keep waiting.
    pub fn restore(&self, label: &str) -> bool {
        self.0.keys().restore(label)
    }

    /// Waits until a key has become unavailable since the last call, for example to [export](Self::export) the cooldowns then. Only
    /// one task at a time can wait for it.
    ///
    /// Cancel safe.
    pub async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// Returns the cooldowns of all keys, to be saved across a restart.
    pub fn export(&self) -> KeyPoolState {
        let clock = &self.0.clock;
        self.0.keys().export(clock.monotonic(), clock.now())
    }

    /// Restores saved cooldowns, which end when they would have ended. Returns the labels that no key has.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if the state was saved by a newer version; nothing is restored then.
    pub fn import(&self, state: &KeyPoolState) -> Result<Vec<String>, LlmError> {
        state.check()?;
        let clock = &self.0.clock;
        Ok(self.0.keys().import(state, clock.monotonic(), clock.now()))
    }
}

/// Returns the first key if the keys are valid for a pool.
fn check(keys: &[PoolKey]) -> Result<&PoolKey, LlmError> {
    let invalid = |message: String| LlmError::new(LlmErrorKind::InvalidRequest, message);
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].iter().any(|before| before.label == key.label) {
            return Err(invalid(format!(
                "two keys have the label `{}`; labels must be unique",
                key.label
            )));
        }
    }
    keys.first()
        .ok_or_else(|| invalid("a key pool needs at least one key".to_owned()))
}

impl fmt::Debug for KeyPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPool")
            .field("provider", &self.0.info.name)
            .field("keys", &self.status())
            .field("policy", &self.0.policy)
            .finish()
    }
}

impl LlmProvider for KeyPool {
    fn open(&self, call: Call) -> ReplyStream {
        let strategy = KeyPoolStrategy {
            shared: Arc::clone(&self.0),
            current: 0,
            used: None,
            tried: Vec::new(),
            failures: Failures::default(),
            waited: Duration::ZERO,
        };
        SwitchingStream::open(strategy, call)
    }

    fn info(&self) -> &ProviderInfo {
        &self.0.info
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        for target in &self.0.targets {
            target.visit_routes(model, visit);
        }
    }
}

impl Shared {
    // Nothing panics while the lock is held, and the keys would stay consistent anyway, so poisoning is ignored.
    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tries one key after the other.
struct KeyPoolStrategy {
    shared: Arc<Shared>,
    /// The index of the current key.
    current: usize,
    /// Its use, which ends when the strategy is dropped.
    used: Option<KeyUse>,
    tried: Vec<usize>,
    failures: Failures,
    waited: Duration,
}

impl KeyPoolStrategy {
    fn current(&self) -> &Target {
        &self.shared.targets[self.current]
    }

    /// Waits for a key if the policy and the deadline allow it.
    fn without_key(&mut self, none: NoKeyAvailable, left: Option<Duration>) -> NextStep {
        let wait = none.next.map(|next| next.saturating_sub(self.shared.clock.monotonic()));
        let max = self.shared.policy.max_wait.saturating_sub(self.waited);
        let max = left.map_or(max, |left| left.min(max));
        match wait {
            Some(delay) if delay <= max && !max.is_zero() => {
                // A wait of zero counts too, so that a call does not wait forever.
                self.waited += delay.max(Duration::from_millis(1));
                self.tried.clear();
                let limit = Text::from("cooldown of all keys");
                NextStep::Wait { limit, delay }
            }
            wait => NextStep::Fail(self.exhausted(none, wait)),
        }
    }

    /// Returns the error after all keys were tried.
    fn exhausted(&mut self, none: NoKeyAvailable, wait: Option<Duration>) -> LlmError {
        let mut failures = std::mem::take(&mut self.failures);
        let tried = failures.len();
        let error = match failures.take_only() {
            Some(only) => Some(only),
            None => failures.into_summary(format_args!("{tried} keys were tried and failed")),
        };
        let error = error.map(|error| match wait {
            // A retry makes sense when the first key is available again, whatever the hint for this one was.
            Some(wait) if error.is_retryable() => error.with_retry_after(Some(wait)),
            _ => error,
        });
        match error {
            Some(error) if error.provider().is_none() => error.with_provider(&*self.shared.info.name),
            Some(error) => error,
            None => {
                let error = unavailable(self.shared.targets.len(), none.disabled, wait);
                error.with_provider(&*self.shared.info.name)
            }
        }
    }

    fn release(&mut self) {
        if let Some(used) = self.used.take() {
            self.shared.keys().release(used);
        }
    }
}

impl Drop for KeyPoolStrategy {
    fn drop(&mut self) {
        self.release();
    }
}

impl SwitchStrategy for KeyPoolStrategy {
    fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    fn mid_stream(&self) -> MidStream {
        self.shared.policy.mid_stream
    }

    fn next_step(&mut self, _: &Call, left: Option<Duration>) -> NextStep {
        let acquired = {
            let clock = &self.shared.clock;
            self.shared.keys().acquire(&self.tried, || clock.monotonic())
        };
        match acquired {
            Ok(used) => {
                self.current = used.key;
                self.used = Some(used);
                NextStep::Open
            }
            Err(none) => self.without_key(none, left),
        }
    }

    fn open(&self, call: Call) -> ReplyStream {
        self.current().open(call)
    }

    fn answered_by(&self, call: &Call) -> Option<AnsweredBy> {
        Some(self.current().answered_by(call))
    }

    fn succeeded(&mut self) {
        if let Some(used) = self.used.take() {
            let mut keys = self.shared.keys();
            keys.succeeded(used);
            keys.release(used);
        }
    }

    fn failed(&mut self, attempt: FailedAttempt) -> Result<Fault, LlmError> {
        let has_time = attempt.left != Some(Duration::ZERO);
        let FailedAttempt {
            error, is_repeatable, ..
        } = attempt;
        let Some(used) = self.used else {
            return Err(error);
        };
        let now = self.shared.clock.monotonic();
        // A proxy that asks for a password has not checked the key.
        let is_from_proxy = error.status() == Some(http::StatusCode::PROXY_AUTHENTICATION_REQUIRED.as_u16());
        // An account that can pay for a shorter reply is still of use.
        let is_costly = OutputLimit::of(&error, None).is_some_and(|limit| limit.is_by_credit);
        let another_may_help =
            is_costly || !is_from_proxy && self.shared.keys().failed(used, error.kind(), error.retry_after(), now);
        if another_may_help {
            self.shared.changed.notify_one();
        }
        self.release();
        self.tried.push(self.current);
        let name = self.current().key.clone().unwrap_or_default();
        if !(is_repeatable && has_time && another_may_help) {
            return Err(std::mem::take(&mut self.failures).end_with(name, error));
        }
        let fault = error.fault();
        self.failures.push(name, error);
        Ok(fault)
    }
}

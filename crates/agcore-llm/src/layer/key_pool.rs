//! [`KeyPool`]: several keys of one vendor, used in turn; one that was told to wait rests, the others go on.

mod policy;
mod state;
mod keys;

pub use keys::{KeyStatus, Keys, NoneFree, Use};
pub use policy::{KeyChoice, KeyPoolPolicy, Reason, Verdict};
pub use state::{KeyPoolState, RestingKey};

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_chat::{Clock, Text};

use super::{
    failures::Failures,
    switch::{Course, Next, Switching, Target},
};
use crate::{
    error::{LlmError, LlmErrorKind},
    provider::{Call, LlmProvider, ProviderInfo},
    reply::ReplyStream,
};

/// A key of a [`KeyPool`]: a label, and a provider that uses it.
#[derive(Debug, Clone)]
pub struct PoolKey {
    label: Text,
    provider: Arc<dyn LlmProvider>,
}

impl PoolKey {
    /// A key of this label; the label is shown, the key never.
    pub fn new(label: impl Into<Text>, provider: impl LlmProvider + 'static) -> Self {
        Self {
            label: label.into(),
            provider: Arc::new(provider),
        }
    }

    /// The label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The same key with a layer around its provider.
    ///
    /// # Errors
    /// What the layer's constructor says.
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
/// A key rests after a rate limit, for as long as the server says; for longer when its quota is used up; one that the
/// server does not know is out. The call goes on with another key at once, unless parts of the answer were handed out. When
/// all rest, a call fails with `RateLimit` and says when the first is free, or waits for it where the policy allows.
///
/// Who rests until when can be [exported](Self::export), kept, and [imported](Self::import) after a restart.
///
/// Cancel safe: a call that is dropped gives its key back.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt, SystemClock, provider_fn,
///     layer::key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
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
/// assert!(pool.status()[0].rests_for.is_some());
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct KeyPool(Arc<Shared>);

struct Shared {
    info: ProviderInfo,
    targets: Vec<Arc<Target>>,
    policy: KeyPoolPolicy,
    clock: Arc<dyn Clock>,
    keys: Mutex<Keys>,
}

impl KeyPool {
    /// A pool of these keys.
    ///
    /// # Errors
    /// `InvalidRequest` when there is none, or two have one label.
    pub fn new(
        keys: impl IntoIterator<Item = PoolKey>,
        policy: KeyPoolPolicy,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, LlmError> {
        let keys: Vec<PoolKey> = keys.into_iter().collect();
        let info = checked(&keys)?.provider.info().clone();
        let labels = Keys::new(keys.iter().map(|key| key.label.clone()), policy.clone());
        let target = |key: PoolKey| {
            Arc::new(Target {
                provider: key.provider,
                model: None,
                key: Some(key.label),
            })
        };
        Ok(Self(Arc::new(Shared {
            info,
            targets: keys.into_iter().map(target).collect(),
            policy,
            clock,
            keys: Mutex::new(labels),
        })))
    }

    /// How the keys are.
    pub fn status(&self) -> Vec<KeyStatus> {
        let now = self.0.clock.monotonic();
        self.0.keys().status(now)
    }

    /// Ends every rest of a key, also of one that is out: its quota was raised, it was unlocked. False when there is none
    /// of this label. Calls that wait already wait on.
    pub fn restore(&self, label: &str) -> bool {
        self.0.keys().restore(label)
    }

    /// Which keys rest until when, to be kept over a restart.
    pub fn export(&self) -> KeyPoolState {
        let clock = &self.0.clock;
        self.0.keys().export(clock.monotonic(), clock.now())
    }

    /// Takes over what was kept: rests end when they would have ended. Gives the labels that no key has any more.
    ///
    /// # Errors
    /// `InvalidRequest` for the state of a newer version; nothing is taken over then.
    pub fn import(&self, state: &KeyPoolState) -> Result<Vec<String>, LlmError> {
        state.check()?;
        let clock = &self.0.clock;
        Ok(self.0.keys().import(state, clock.monotonic(), clock.now()))
    }
}

/// The first key, when the keys can be a pool.
fn checked(keys: &[PoolKey]) -> Result<&PoolKey, LlmError> {
    let invalid = |message: String| LlmError::new(LlmErrorKind::InvalidRequest, message);
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].iter().any(|before| before.label == key.label) {
            return Err(invalid(format!(
                "two keys have the label `{}`; give each its own",
                key.label
            )));
        }
    }
    keys.first()
        .ok_or_else(|| invalid("a key pool without keys; give it at least one".to_owned()))
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
        let course = PoolCourse {
            shared: Arc::clone(&self.0),
            lease: None,
            tried: Vec::new(),
            failures: Failures::default(),
            waited: Duration::ZERO,
        };
        Switching::stream(course, call, Arc::clone(&self.0.clock), self.0.policy.mid_stream)
    }

    fn info(&self) -> &ProviderInfo {
        &self.0.info
    }
}

impl Shared {
    // Nothing can panic while the lock is held, and the keys stay whole anyway: poison says nothing.
    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a call that tried nothing in vain could not be made.
    fn none_free(&self, none: NoneFree, wait: Option<Duration>) -> LlmError {
        let all = match self.targets.len() {
            1 => "the only key".to_owned(),
            count => format!("each of the {count} keys"),
        };
        let (kind, message) = match (wait, none.out) {
            (Some(wait), _) => {
                let wait = wait.as_secs_f64();
                let message = format!("{all} is resting after a limit or out; the first is free in {wait:.1} s");
                (LlmErrorKind::RateLimit, message)
            }
            (None, Some(Reason::Quota)) => {
                let message = format!("the quota of {all} is used up; raise it, then restore the key");
                (LlmErrorKind::QuotaExhausted, message)
            }
            (None, _) => {
                let message = format!("{all} was refused by the server; replace it, or restore it if it is right");
                (LlmErrorKind::Authentication, message)
            }
        };
        LlmError::new(kind, message)
            .with_provider(&*self.info.name)
            .with_retry_after(wait)
    }
}

/// A key in use, given back when this is dropped.
struct Lease {
    shared: Arc<Shared>,
    used: Use,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.keys().put_back(self.used);
    }
}

/// A call's way from key to key.
struct PoolCourse {
    shared: Arc<Shared>,
    lease: Option<Lease>,
    tried: Vec<usize>,
    failures: Failures,
    waited: Duration,
}

impl PoolCourse {
    fn without_key(&mut self, none: NoneFree, left: Option<Duration>) -> Next {
        let wait = none
            .first
            .map(|first| first.saturating_sub(self.shared.clock.monotonic()));
        let most = self.shared.policy.max_wait.saturating_sub(self.waited);
        let most = left.map_or(most, |left| left.min(most));
        match wait {
            Some(delay) if delay <= most && !most.is_zero() => {
                // Even a wait that is over counts, so that they come to an end.
                self.waited += delay.max(Duration::from_millis(1));
                self.tried.clear();
                let limit = Text::from("rest of all keys");
                Next::Wait { limit, delay }
            }
            wait => Next::Fail(self.failed_for_good(none, wait)),
        }
    }

    fn failed_for_good(&mut self, none: NoneFree, wait: Option<Duration>) -> LlmError {
        let mut failures = std::mem::take(&mut self.failures);
        let tried = failures.len();
        let error = match failures.only() {
            Some(only) => Some(only),
            None => failures.into_error(format_args!("{tried} keys were tried and failed")),
        };
        let error = error.map(|error| match wait {
            // A retry makes sense when the first key is free again, whatever that of one key was.
            Some(wait) if error.is_retryable() => error.with_retry_after(Some(wait)),
            _ => error,
        });
        match error {
            Some(error) if error.provider().is_none() => error.with_provider(&*self.shared.info.name),
            Some(error) => error,
            None => self.shared.none_free(none, wait),
        }
    }
}

impl Course for PoolCourse {
    fn choose(&mut self, _: &Call, left: Option<Duration>) -> Next {
        let taken = {
            let clock = &self.shared.clock;
            self.shared.keys().take(&self.tried, || clock.monotonic())
        };
        match taken {
            Ok(used) => {
                let shared = Arc::clone(&self.shared);
                let target = Arc::clone(&shared.targets[used.key]);
                self.lease = Some(Lease { shared, used });
                Next::Ask(target)
            }
            Err(none) => self.without_key(none, left),
        }
    }

    fn succeeded(&mut self) {
        if let Some(lease) = self.lease.take() {
            self.shared.keys().succeeded(lease.used);
        }
    }

    fn failed(&mut self, error: LlmError, may_switch: bool) -> Option<LlmError> {
        let Some(Lease { used, .. }) = self.lease.as_ref() else {
            return Some(error);
        };
        let (used, now) = (*used, self.shared.clock.monotonic());
        // A proxy that wants a password says nothing of the key.
        let of_proxy = error.status() == Some(http::StatusCode::PROXY_AUTHENTICATION_REQUIRED.as_u16());
        let other_may = !of_proxy && self.shared.keys().failed(used, error.kind(), error.retry_after(), now);
        self.lease = None;
        self.tried.push(used.key);
        let who = self.shared.targets[used.key].key.clone().unwrap_or_default();
        self.failures.push(who, error);
        if may_switch && other_may {
            return None;
        }
        std::mem::take(&mut self.failures).into_last()
    }
}

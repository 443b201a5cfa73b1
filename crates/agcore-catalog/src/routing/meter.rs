//! [`Meter`]: counts the usage of a key.

use std::sync::atomic::{AtomicU64, Ordering};

use agcore_chat::Usage;

/// The usage of a key. The counters contain no key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyUsage {
    /// The name of the vendor.
    pub vendor: String,
    /// The name of the key.
    pub key: String,
    /// Whether the resolver found the key.
    pub is_available: bool,
    /// The number of requests that were sent.
    pub requests: u64,
    /// The number of replies that reported their usage.
    pub replies_with_usage: u64,
    /// The prompt tokens of these replies.
    pub prompt_tokens: u64,
    /// The generated tokens of these replies.
    pub completion_tokens: u64,
}

/// The counters of a key, shared by all calls with it.
#[derive(Debug, Default)]
pub(super) struct Meter {
    requests: AtomicU64,
    replies_with_usage: AtomicU64,
    prompt_tokens: AtomicU64,
    completion_tokens: AtomicU64,
}

impl Meter {
    pub(super) fn sent(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn used(&self, usage: &Usage) {
        self.replies_with_usage.fetch_add(1, Ordering::Relaxed);
        self.prompt_tokens
            .fetch_add(usage.prompt_tokens.unwrap_or(0), Ordering::Relaxed);
        self.completion_tokens
            .fetch_add(usage.completion_tokens.unwrap_or(0), Ordering::Relaxed);
    }

    pub(super) fn read(&self, vendor: &str, key: &str, is_available: bool) -> KeyUsage {
        KeyUsage {
            vendor: vendor.to_owned(),
            key: key.to_owned(),
            is_available,
            requests: self.requests.load(Ordering::Relaxed),
            replies_with_usage: self.replies_with_usage.load(Ordering::Relaxed),
            prompt_tokens: self.prompt_tokens.load(Ordering::Relaxed),
            completion_tokens: self.completion_tokens.load(Ordering::Relaxed),
        }
    }
}

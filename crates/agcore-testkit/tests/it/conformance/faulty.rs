//! [`Faulty`]: a sound provider with one fault.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore_chat::ChatRequest;
use agcore_llm::{Call, LlmProvider, ProviderInfo, reply::ReplyStream};

/// What a faulty provider does in place of `open`.
pub(super) type Fault = fn(&Faulty, Call) -> ReplyStream;

/// A sound provider with one fault.
pub(super) struct Faulty {
    pub(super) inner: Arc<dyn LlmProvider>,
    pub(super) requests: Mutex<Vec<Arc<ChatRequest>>>,
    fault: Fault,
    infos: [ProviderInfo; 2],
    asked: AtomicUsize,
}

impl Faulty {
    pub(super) fn around(inner: Arc<dyn LlmProvider>, fault: Fault) -> Arc<dyn LlmProvider> {
        let infos = [inner.info().clone(), ProviderInfo::new("other", "other-model")];
        Arc::new(Self {
            inner,
            requests: Mutex::default(),
            fault,
            infos,
            asked: AtomicUsize::new(0),
        })
    }

    /// Notes the request and says how many there were before it.
    pub(super) fn note(&self, request: &Arc<ChatRequest>) -> usize {
        let mut requests = self.requests.lock().unwrap();
        requests.push(Arc::clone(request));
        requests.len() - 1
    }
}

impl LlmProvider for Faulty {
    fn open(&self, call: Call) -> ReplyStream {
        (self.fault)(self, call)
    }

    /// Says something else each second time; only one check asks twice.
    fn info(&self) -> &ProviderInfo {
        &self.infos[self.asked.fetch_add(1, Ordering::Relaxed) % 2]
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

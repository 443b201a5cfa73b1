//! [`Faulty`]: a correct provider with one fault.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore_chat::ChatRequest;
use agcore_llm::{Call, LlmProvider, ProviderInfo, ReplyStream};

/// The function that a faulty provider calls in `open`.
pub(super) type Fault = fn(&Faulty, Call) -> ReplyStream;

/// A correct provider with one fault.
pub(super) struct Faulty {
    pub(super) inner: Arc<dyn LlmProvider>,
    pub(super) requests: Mutex<Vec<Arc<ChatRequest>>>,
    fault: Fault,
    infos: [ProviderInfo; 2],
    info_calls: AtomicUsize,
}

impl Faulty {
    pub(super) fn wrap(inner: Arc<dyn LlmProvider>, fault: Fault) -> Arc<dyn LlmProvider> {
        let infos = [inner.info().clone(), ProviderInfo::new("other", "other-model")];
        Arc::new(Self {
            inner,
            requests: Mutex::default(),
            fault,
            infos,
            info_calls: AtomicUsize::new(0),
        })
    }

    /// Records a request and returns the number of requests before it.
    pub(super) fn record(&self, request: &Arc<ChatRequest>) -> usize {
        let mut requests = self.requests.lock().unwrap();
        requests.push(Arc::clone(request));
        requests.len() - 1
    }
}

impl LlmProvider for Faulty {
    fn open(&self, call: Call) -> ReplyStream {
        (self.fault)(self, call)
    }

    /// Alternates between two descriptions. Only one check calls this method more than once.
    fn info(&self) -> &ProviderInfo {
        &self.infos[self.info_calls.fetch_add(1, Ordering::Relaxed) % 2]
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

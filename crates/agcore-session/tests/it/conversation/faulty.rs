//! [`Faulty`]: a journal whose next calls fail or hang.

use std::{
    future::{Future, pending, ready},
    sync::{Mutex, PoisonError},
};

use agcore_session::{Entry, InMemoryJournal, Journal, Record, SessionError, SessionErrorKind};
use async_trait::async_trait;

/// The fate of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It fails and does nothing.
    FailBefore,
    /// It fails, but has done what it should.
    FailAfter,
    /// It does nothing and does not return.
    HangBefore,
    /// It does what it should, but does not return.
    HangAfter,
}

impl Fault {
    pub(super) const ALL: [Self; 4] = [Self::FailBefore, Self::FailAfter, Self::HangBefore, Self::HangAfter];

    /// Returns whether the call takes effect.
    pub(super) fn is_stored(self) -> bool {
        matches!(self, Self::FailAfter | Self::HangAfter)
    }
}

#[derive(Debug)]
pub(super) struct Faulty {
    inner: InMemoryJournal,
    appends: Mutex<Vec<Fault>>,
    trims: Mutex<Vec<Fault>>,
}

impl Faulty {
    pub(super) fn new(inner: InMemoryJournal) -> Self {
        Self {
            inner,
            appends: Mutex::default(),
            trims: Mutex::default(),
        }
    }

    pub(super) fn fail_next_append(&self, fault: Fault) {
        self.appends.lock().unwrap().push(fault);
    }

    pub(super) fn fail_next_trim(&self, fault: Fault) {
        self.fail_next_trims(fault, 1);
    }

    pub(super) fn fail_next_trims(&self, fault: Fault, count: usize) {
        self.trims.lock().unwrap().extend(vec![fault; count]);
    }

    /// Forgets the faults that did not happen.
    pub(super) fn repair(&self) {
        self.appends.lock().unwrap().clear();
        self.trims.lock().unwrap().clear();
    }
}

async fn with<T>(
    faults: &Mutex<Vec<Fault>>,
    call: impl Future<Output = Result<T, SessionError>>,
) -> Result<T, SessionError> {
    let fault = faults.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let failed = || SessionError::new(SessionErrorKind::Unavailable, "the connection was lost");
    match fault {
        None => call.await,
        Some(Fault::FailBefore) => Err(failed()),
        Some(Fault::HangBefore) => pending().await,
        Some(Fault::FailAfter) => call.await.and_then(|_| Err(failed())),
        Some(Fault::HangAfter) => match call.await {
            Ok(_) => pending().await,
            Err(error) => Err(error),
        },
    }
}

#[async_trait]
impl Journal for Faulty {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        with(&self.appends, self.inner.append(stream, expected, records)).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        self.inner.read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        with(&self.trims, self.inner.trim(stream, before)).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        self.inner.delete(stream).await
    }
}

/// Polls a future once, and drops it if it is not ready.
pub(super) async fn polled_once<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        value = future => Some(value),
        () = ready(()) => None,
    }
}

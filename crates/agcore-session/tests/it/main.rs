//! Runs the conformance suites on the stores of this crate, and tests the layers above them. Shows that each check of the
//! suites can fail.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and one reads the variable AGCORE_SOAK"
)]

mod conversation;
mod fenced;
mod flawed;
mod flawed_leases;
mod flawed_quotas;
mod lease_model;
mod mutants;
mod observed;
mod quotas;
mod redacted;

use std::{sync::Arc, time::Duration};

use agcore_session::{CheckpointStore, Clock, InMemoryJournal, InMemorySessionStore, Journal, SessionStore};
use agcore_testkit::{
    clock::ManualClock,
    stores::{CheckpointStoreSubject, JournalSubject, LeaseStore, RunLeasesSubject, SessionStoreSubject, StoreSubject},
};
use async_trait::async_trait;

struct InMemory;

impl StoreSubject for InMemory {}

#[async_trait]
impl JournalSubject for InMemory {
    async fn journal(&self) -> Arc<dyn Journal> {
        Arc::new(InMemoryJournal::new())
    }
}

#[async_trait]
impl SessionStoreSubject for InMemory {
    async fn session_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SessionStore> {
        Arc::new(InMemorySessionStore::new(clock))
    }
}

#[async_trait]
impl CheckpointStoreSubject for InMemory {
    async fn checkpoint_store(&self, clock: Arc<dyn Clock>) -> (Arc<dyn SessionStore>, Arc<dyn CheckpointStore>) {
        let store = Arc::new(InMemorySessionStore::new(clock));
        (Arc::clone(&store) as _, store)
    }
}

/// Has one store, whose clock it moves.
#[derive(Default)]
struct Leases(Arc<ManualClock>);

impl StoreSubject for Leases {}

#[async_trait]
impl RunLeasesSubject for Leases {
    async fn lease_stores(&self) -> [Arc<dyn LeaseStore>; 2] {
        let store = Arc::new(InMemorySessionStore::new(Arc::clone(&self.0) as _));
        [Arc::clone(&store) as _, store]
    }

    async fn pass(&self, duration: Duration) {
        self.0.advance(duration);
    }
}

mod run_leases {
    agcore_testkit::run_leases_tests!(super::Leases::default());
}

mod journal {
    agcore_testkit::journal_tests!(super::InMemory);
}

mod session_store {
    agcore_testkit::session_store_tests!(super::InMemory);
}

mod checkpoints {
    agcore_testkit::checkpoint_tests!(super::InMemory);
}

/// The journal of a session store is a journal like any other.
mod session_journal {
    use agcore_testkit::{
        clock::ManualClock,
        stores::{JournalSubject, StoreSubject},
    };

    use super::{Arc, InMemorySessionStore, Journal, async_trait};

    struct Sessions;

    impl StoreSubject for Sessions {}

    #[async_trait]
    impl JournalSubject for Sessions {
        async fn journal(&self) -> Arc<dyn Journal> {
            Arc::new(InMemorySessionStore::new(Arc::new(ManualClock::new())))
        }
    }

    agcore_testkit::journal_tests!(Sessions);
}

mod journal_faults {
    agcore_testkit::journal_fault_tests!(super::InMemory);
}

//! Runs the conformance suite on the store of webhooks in memory together with that of the runs, which know nothing of each other,
//! and shows that each check of the suite can fail.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

mod flawed;

use std::{sync::Arc, time::Duration};

use agcore_session::{InMemorySessionStore, RunStatus, SessionStore};
use agcore_testkit::{
    clock::ManualClock,
    stores::{StoreSubject, WebhookStoreSubject},
};
use agcore_webhook::{EventKind, InMemoryWebhooks, WebhookStore};
use async_trait::async_trait;

/// Has one store of runs and one of webhooks, whose clock it moves.
#[derive(Default)]
struct InMemory(Arc<ManualClock>);

impl StoreSubject for InMemory {}

#[async_trait]
impl WebhookStoreSubject for InMemory {
    async fn webhook_stores(&self) -> [(Arc<dyn SessionStore>, Arc<dyn WebhookStore>); 2] {
        let webhooks = Arc::new(InMemoryWebhooks::new(Arc::clone(&self.0) as _));
        let outbox = Arc::clone(&webhooks);
        let sessions =
            InMemorySessionStore::new(Arc::clone(&self.0) as _).with_run_observer(move |owner, thread, run| {
                outbox.run_changed(owner, thread, &run.id, run.status.as_str(), run.updated_at);
            });
        let (sessions, other) = (Arc::new(sessions), Arc::clone(&webhooks));
        [(Arc::clone(&sessions) as _, webhooks as _), (sessions, other)]
    }

    async fn pass(&self, duration: Duration) {
        self.0.advance(duration);
    }
}

mod webhook_store {
    agcore_testkit::webhook_store_tests!(super::InMemory::default());
}

#[test]
fn the_statuses_of_runs_have_the_names_that_webhooks_expect() {
    let kinds = RunStatus::ALL.map(|status| EventKind::of_run(status.as_str()));
    for (status, kind) in RunStatus::ALL.into_iter().zip(kinds) {
        let is_event = status.is_over() || status == RunStatus::Interrupted;
        assert_eq!(kind.is_some(), is_event, "{status}");
    }
    let known = kinds.into_iter().flatten().count();
    assert_eq!(known, EventKind::ALL.len() - 1, "all but the test");
}

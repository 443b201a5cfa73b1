//! [`Sessions`]: the store of the runs, which reports them to a flawed store of webhooks.

use std::sync::Arc;

use agcore_session::{
    Actor, Approval, Commit, Committed, Entry, Hold, InMemorySessionStore, Journal, NewSession, Record, RunChange,
    RunFilter, Session, SessionError, SessionReader, SessionWriter, StoreLayer,
};
use agcore_webhook::Clock;
use async_trait::async_trait;
use serde_json::Value;

use super::{flaw::Flaw, store::Flawed};

#[derive(Debug)]
pub(super) struct Sessions {
    inner: Arc<InMemorySessionStore>,
    webhooks: Arc<Flawed>,
}

impl Sessions {
    pub(super) fn new(webhooks: Arc<Flawed>, clock: Arc<dyn Clock>) -> Self {
        let observer = Arc::clone(&webhooks);
        let is_reported_here = matches!(observer.flaw, Flaw::MessagesComeFirst | Flaw::EveryWriteIsReported);
        let inner = InMemorySessionStore::new(clock).with_run_observer(move |owner, thread, run| {
            if !is_reported_here || run.lease.dead_at.is_some() {
                observer.report(owner, thread, run);
            }
        });
        let inner = Arc::new(inner);
        webhooks.sessions.set(Arc::downgrade(&inner)).unwrap();
        Self { inner, webhooks }
    }

    /// Reports the runs of a commit.
    async fn report(&self, tenant: &str, thread: &str, runs: Vec<RunChange>) {
        let Some(session) = self.inner.get_session(tenant, thread).await.unwrap() else {
            return;
        };
        for change in runs {
            let known = self
                .inner
                .runs(tenant, thread, &RunFilter::new().with_id(&*change.id))
                .await;
            let mut run = change.clone().create(session.updated_at);
            if let Some(known) = known.unwrap().pop() {
                run.updated_at = known.updated_at;
            }
            self.webhooks.report(&session.owner, thread, &run);
        }
    }
}

impl StoreLayer for Sessions {
    type Inner = InMemorySessionStore;

    fn inner(&self) -> &InMemorySessionStore {
        &self.inner
    }
}

#[async_trait]
impl Journal for Sessions {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        self.inner.append(stream, expected, records).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        self.inner.read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.inner.trim(stream, before).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        self.inner.delete(stream).await
    }
}

#[async_trait]
impl SessionWriter for Sessions {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        self.inner.create(session).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, SessionError> {
        let runs = commit.runs.clone();
        if self.webhooks.has(Flaw::MessagesComeFirst) {
            self.report(tenant, session, runs.clone()).await;
        }
        let committed = self.inner.commit(tenant, session, expected, commit).await?;
        let found = self.inner.get_session(tenant, session).await?;
        let is_part = found.is_some_and(|session| session.part_of.is_some());
        if self.webhooks.has(Flaw::EveryWriteIsReported) || (is_part && self.webhooks.has(Flaw::PartsAreReported)) {
            self.report(tenant, session, runs).await;
        }
        Ok(committed)
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        self.inner.rename(tenant, session, title).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        self.inner.answer(tenant, session, question, answer, by).await
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        self.inner.hold(name).await
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        self.inner.hold_shared(name).await
    }
}

//! [`InMemorySessionStore`]: a store that keeps sessions in the memory of the process.

mod stored;
mod changes;
mod erasure;
mod pruning;
mod checkpoints;
mod holds;
mod leases;
mod administration;
mod observer;
mod run_list;
mod reports;
mod retention;

use std::{
    collections::{BTreeMap, btree_map::Entry as Place},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::{Actor, Clock, Timestamp, id};
use async_trait::async_trait;
use serde_json::Value;

use self::{
    changes::Changes,
    holds::Holds,
    observer::Observer,
    stored::{Stored, limit},
};
use super::{
    NewSession, Session, SessionWriter,
    approval::{Approval, ApprovalChange},
    call::StoredCall,
    commit::{Commit, Committed},
    document::SessionDocument,
    event::StoredEvent,
    filter::{ApprovalFilter, EventFilter, ListedRun, MessageFilter, RunFilter, RunListFilter, SessionFilter},
    message::StoredMessage,
    run::{Run, RunProgress},
    store::SessionReader,
};
use crate::{
    checkpoint::RunKey,
    error::{SessionError, SessionErrorKind},
    hold::Hold,
    journal::{Entry, Journal, Record, Streams},
    lease::{TenantShare, Worker},
};

/// A [`SessionStore`](crate::SessionStore), [`Journal`], [`CheckpointStore`](crate::CheckpointStore) and
/// [`RunLeases`](crate::RunLeases) in the memory of the process: for tests, for short-lived programs, and as the reference for
/// other stores. Nothing survives the process.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::SystemClock;
/// use agcore_session::{
///     Commit, InMemorySessionStore, MessageFilter, MessageRole, NewMessage, NewSession, SessionReader, SessionWriter,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = InMemorySessionStore::new(Arc::new(SystemClock::new()));
/// let session = store.create(NewSession::new("tea")).await?;
/// let commit = Commit::new().with_message(NewMessage::new("m1", MessageRole::User, "Hello"));
/// store.commit("local", "tea", session.end, commit).await?;
///
/// let messages = store.messages("local", "tea", &MessageFilter::new()).await?;
/// assert_eq!((messages[0].seq, messages[0].content.as_str()), (1, "Hello"));
/// # Ok::<(), agcore_session::SessionError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct InMemorySessionStore {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    holds: Holds,
}

#[derive(Debug, Default)]
struct State {
    /// The sessions of each tenant by id.
    tenants: BTreeMap<String, BTreeMap<String, Stored>>,
    streams: Streams,
    shares: BTreeMap<String, TenantShare>,
    workers: BTreeMap<String, Worker>,
    observer: Observer,
}

impl InMemorySessionStore {
    /// Creates an empty store.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            state: Mutex::default(),
            holds: Holds::default(),
        }
    }

    /// Sets a function that is called with the owner and the id of a session and with a run, when the run is new or has got another
    /// status: after everything that was written together is known to be stored, and before anybody else sees it. It must not call
    /// the store, which is locked. Runs of [parts](NewSession::with_part_of) of a session are not reported.
    ///
    /// An outbox in memory uses this to get its messages exactly if the status was stored.
    #[must_use]
    pub fn with_run_observer(mut self, observe: impl Fn(&Actor, &str, &Run) + Send + Sync + 'static) -> Self {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.observer = Observer::new(observe);
        self
    }

    fn now(&self) -> Timestamp {
        self.clock.now().into()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Journal for InMemorySessionStore {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        id::check_named("the name of the stream", stream)?;
        records.iter().try_for_each(Record::check)?;
        let mut state = self.state();
        state.streams.check_end(stream, expected)?;
        Ok(state.streams.append(stream, records))
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        Ok(self.state().streams.read(stream, from))
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.state().streams.trim(stream, before);
        Ok(())
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        Ok(self.state().streams.delete(stream))
    }
}

#[async_trait]
impl SessionReader for InMemorySessionStore {
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError> {
        let state = self.state();
        Ok(state.get(tenant, session).map(|stored| state.session(stored)))
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError> {
        let state = self.state();
        let all = state
            .tenants
            .get(&*filter.tenant)
            .into_iter()
            .flat_map(BTreeMap::values);
        let mut selected: Vec<&Stored> = all.filter(|stored| filter.matches(&stored.session)).collect();
        selected.sort_by(|one, other| {
            let place = |stored: &Stored| (stored.session.updated_at, stored.session.id.clone());
            place(other).cmp(&place(one))
        });
        let page = selected.into_iter().take(limit(filter.limit));
        Ok(page.map(|stored| state.session(stored)).collect())
    }

    async fn document(&self, tenant: &str, session: &str) -> Result<Option<SessionDocument>, SessionError> {
        let state = self.state();
        Ok(state.get(tenant, session).and_then(|stored| stored.document.clone()))
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        let state = self.state();
        let stored = state.get(tenant, session);
        Ok(stored.map(|stored| stored.messages(filter)).unwrap_or_default())
    }

    async fn events(
        &self,
        tenant: &str,
        session: &str,
        filter: &EventFilter,
    ) -> Result<Vec<StoredEvent>, SessionError> {
        let state = self.state();
        let all = state.get(tenant, session).into_iter().flat_map(|stored| &stored.events);
        let selected = all.filter(|event| filter.matches(event));
        if !filter.is_last {
            return Ok(selected.take(limit(filter.limit)).cloned().collect());
        }
        let mut last: Vec<_> = selected.rev().take(limit(filter.limit)).cloned().collect();
        last.reverse();
        Ok(last)
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        let state = self.state();
        let all = state.get(tenant, session).into_iter().flat_map(|stored| &stored.runs);
        let newest = all.rev().map(|run| &run.run).filter(|run| filter.matches(run));
        let mut runs: Vec<Run> = newest.take(limit(filter.last)).cloned().collect();
        runs.reverse();
        Ok(runs)
    }

    async fn run_list(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, SessionError> {
        Ok(self.state().listed_runs(filter))
    }

    async fn progress(&self, runs: &[RunKey<'_>]) -> Result<Vec<Option<RunProgress>>, SessionError> {
        let state = self.state();
        let found = runs.iter().map(|key| {
            let stored = state.get(key.tenant, key.session)?;
            let run = &stored.run(key.run)?.run;
            Some(RunProgress::new(
                run.status,
                run.lease.dead_at.is_some(),
                stored.last_event,
            ))
        });
        Ok(found.collect())
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError> {
        let state = self.state();
        let run = state.get(tenant, session).and_then(|stored| stored.run(run));
        Ok(run.map(|run| run.calls.clone()).unwrap_or_default())
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        let state = self.state();
        let sessions = state
            .tenants
            .get(&*filter.tenant)
            .into_iter()
            .flat_map(BTreeMap::values);
        let selected = sessions.flat_map(|stored| {
            let approvals = stored.approvals.values();
            approvals.filter(|approval| filter.matches(approval, &stored.session.owner))
        });
        // Sessions and ids are in order already.
        let mut selected: Vec<&Approval> = selected.collect();
        selected.sort_by_key(|approval| approval.asked_at);
        Ok(selected.into_iter().take(limit(filter.limit)).cloned().collect())
    }
}

#[async_trait]
impl SessionWriter for InMemorySessionStore {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        session.check()?;
        let now = self.now();
        let mut session = session.create(now);
        let mut state = self.state();
        session.part_of = state.whole_of(&session)?;
        let sessions = state.tenants.entry(session.owner.tenant.to_string()).or_default();
        match sessions.entry(session.id.clone()) {
            Place::Occupied(_) => Err(SessionError::new(
                SessionErrorKind::AlreadyExists,
                format!("there is a session `{}` already", session.id),
            )),
            Place::Vacant(place) => Ok(place.insert(Stored::new(session)).session.clone()),
        }
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, SessionError> {
        commit.check()?;
        let now = self.now();
        let mut state = self.state();
        let owner = &state
            .get(tenant, session)
            .ok_or_else(|| missing(session))?
            .session
            .owner;
        state.check_limits(owner, commit.limits)?;
        state.check_fence(tenant, commit.fence.as_ref(), now)?;
        let State {
            tenants,
            streams,
            observer,
            ..
        } = &mut *state;
        let stored = find(tenants, tenant, session)?;
        let stream = stored.session.stream();
        streams.check_end(&stream, expected)?;
        let mut changes = Changes::of(commit, stored, now)?;
        let records = std::mem::take(&mut changes.records);
        let messages = changes.messages.iter().map(|message| message.seq).collect();
        let events = changes.events.iter().map(|event| event.seq).collect();
        let changed = observer.changed(&changes, stored);
        changes.apply_to(stored);
        let end = streams.append(&stream, records);
        changed.iter().for_each(|run| observer.report(&stored.session, run));
        Ok(Committed::new(end, messages, events))
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        let now = self.now();
        let mut state = self.state();
        let stored = find(&mut state.tenants, tenant, session)?;
        if stored.session.is_erased() {
            return Err(missing(session));
        }
        stored.session.title = title.map(str::to_owned);
        stored.session.updated_at = stored.session.updated_at.max(now);
        Ok(())
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        let change = ApprovalChange::answer(question, answer, by.clone());
        change.check()?;
        let now = self.now();
        let mut state = self.state();
        let stored = find(&mut state.tenants, tenant, session)?;
        let known = stored.approvals.get(question).cloned();
        let approval = change.apply(session, known.clone(), now)?;
        if known.as_ref() != Some(&approval) {
            stored.approvals.insert(question.to_owned(), approval.clone());
            stored.session.updated_at = stored.session.updated_at.max(now);
        }
        Ok(approval)
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        id::check_named("the name of the hold", name)?;
        self.holds.take(name, false, self.now())
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        id::check_named("the name of the hold", name)?;
        self.holds.take(name, true, self.now())
    }
}

impl State {
    fn get(&self, tenant: &str, session: &str) -> Option<&Stored> {
        self.tenants.get(tenant)?.get(session)
    }

    /// Returns the id of the session that contains a new one as a part: the whole, if a part is named.
    fn whole_of(&self, new: &Session) -> Result<Option<String>, SessionError> {
        let Some(named) = &new.part_of else { return Ok(None) };
        let of_user = |session: &&Session| session.owner.user == new.owner.user && !session.is_erased();
        let find = |id: &str| {
            self.get(&new.owner.tenant, id)
                .map(|stored| &stored.session)
                .filter(of_user)
        };
        let found = find(named).ok_or_else(|| missing(named))?;
        let whole = found.part_of.as_ref().unwrap_or(&found.id);
        find(whole)
            .map(|whole| Some(whole.id.clone()))
            .ok_or_else(|| missing(named))
    }

    /// Returns the ids of the parts of a session, also of those that were erased.
    fn parts_of(&self, tenant: &str, session: &str) -> Vec<String> {
        let sessions = self.tenants.get(tenant).into_iter().flat_map(BTreeMap::values);
        let parts = sessions.filter(|stored| stored.session.part_of.as_deref() == Some(session));
        parts.map(|stored| stored.session.id.clone()).collect()
    }

    fn session(&self, stored: &Stored) -> Session {
        Session {
            end: self.streams.end(&stored.session.stream()),
            ..stored.session.clone()
        }
    }
}

fn find<'s>(
    tenants: &'s mut BTreeMap<String, BTreeMap<String, Stored>>,
    tenant: &str,
    session: &str,
) -> Result<&'s mut Stored, SessionError> {
    let sessions = tenants.get_mut(tenant);
    let stored = sessions.and_then(|sessions| sessions.get_mut(session));
    stored.ok_or_else(|| missing(session))
}

fn missing(session: &str) -> SessionError {
    SessionError::not_found(format!("there is no session `{session}`"))
}

//! [`OwnedThread`] and [`OwnedRun`]: threads and runs of the user who asks for them.
//!
//! Stores find sessions by their tenant, so ownership is checked here and nowhere else. What a thread contains can only be reached
//! through an [`OwnedThread`], and the events of a run through an [`OwnedRun`]; neither can be made in another way.

mod lists;

use std::{collections::HashMap, ops::Deref, sync::Arc};

use agcore_chat::Actor;
use agcore_session::{
    Approval, ApprovalFilter, Commit, CostEntry, DocumentChange, EventFilter, MessageFilter, MessagePart, NewSession,
    Run, RunFilter, Session, SessionCursor, SessionDocument, SessionError, SessionErrorKind, SessionFilter,
    SessionStore, StoredEvent, StoredMessage,
};

use super::state::{Service, check_id, is_thread};
use crate::{log::RunLog, problem::Problem, run::RunJob, telemetry::span};

/// The number of times a change is tried while a run writes to the thread.
const ATTEMPTS: usize = 50;

/// A thread of the actor who has asked for it.
pub(crate) struct OwnedThread<'a> {
    service: &'a Service,
    session: Session,
}

/// The messages with a bill that were returned so far: the last number in each session, of its conversation and of its audit
/// messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct BilledSoFar(HashMap<(String, bool), u64>);

/// A run of a thread of the actor who has asked for it: the permission to read its events.
#[derive(Debug, Clone)]
pub(crate) struct OwnedRun {
    job: RunJob,
}

impl Service {
    /// Returns a thread of the actor.
    ///
    /// # Errors
    /// `not_found` if there is none, also if the thread belongs to someone else.
    pub(crate) async fn own(&self, actor: &Actor, thread: &str) -> Result<OwnedThread<'_>, Problem> {
        let found = self.find_own(actor, thread).await?;
        found.ok_or_else(|| Problem::unknown("thread"))
    }

    /// Returns a thread of the actor; `None` if no user has a thread with this id.
    ///
    /// # Errors
    /// `not_found` if the id cannot be one of the actor's: it belongs to someone else, was erased or is that of a part of a thread.
    pub(crate) async fn find_own(&self, actor: &Actor, thread: &str) -> Result<Option<OwnedThread<'_>>, Problem> {
        check_id("thread", thread).map_err(|_| Problem::unknown("thread"))?;
        span::is_about_thread(thread);
        let Some(session) = self.store().get_session(&actor.tenant, thread).await? else {
            return Ok(None);
        };
        match session.owner == *actor && is_thread(&session) && !session.is_erased() {
            true => Ok(Some(OwnedThread { service: self, session })),
            false => Err(Problem::unknown("thread")),
        }
    }

    /// Creates a thread of the actor.
    ///
    /// # Errors
    /// When the store fails, or a session with this id exists.
    pub(super) async fn create_own(&self, actor: &Actor, session: NewSession) -> Result<OwnedThread<'_>, SessionError> {
        let session = self.store().create(session.with_owner(actor.clone())).await?;
        Ok(OwnedThread { service: self, session })
    }

    /// Returns a page of the threads of an actor, those changed last first, and the place at which the next page begins.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn own_threads(
        &self,
        actor: &Actor,
        after: Option<SessionCursor>,
        limit: u64,
        with_erased: bool,
    ) -> Result<(Vec<OwnedThread<'_>>, Option<SessionCursor>), Problem> {
        let mut filter = SessionFilter::owned_by(actor.clone()).with_limit(limit);
        if with_erased {
            filter = filter.with_erased();
        }
        if let Some(after) = after {
            filter = filter.after(after);
        }
        let sessions = self.store().sessions(&filter).await?;
        let is_full = u64::try_from(sessions.len()).is_ok_and(|count| count == limit);
        let last = sessions.last().filter(|_| is_full).map(SessionCursor::of);
        let own = sessions
            .into_iter()
            .filter(|session| session.owner == *actor && is_thread(session))
            .map(|session| OwnedThread { service: self, session });
        Ok((own.collect(), last))
    }

    /// Returns events of a run.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn events(&self, run: &OwnedRun, filter: EventFilter) -> Result<Vec<StoredEvent>, SessionError> {
        let (tenant, thread) = run.session();
        let filter = filter.with_run(&*run.run);
        self.store().events(tenant, thread, &filter).await
    }

    /// Returns the log of a run if it is active.
    pub(crate) fn log(&self, run: &OwnedRun) -> Option<Arc<RunLog>> {
        self.active.get(run)
    }
}

impl OwnedThread<'_> {
    /// Returns the session.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Returns a run.
    ///
    /// # Errors
    /// `not_found` if there is none.
    pub(crate) async fn run(&self, run: &str) -> Result<(OwnedRun, Run), Problem> {
        let found = self.find_run(run).await?;
        found.ok_or_else(|| Problem::unknown("run"))
    }

    /// Returns a run; `None` if the thread has none with this id.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn find_run(&self, run: &str) -> Result<Option<(OwnedRun, Run)>, SessionError> {
        let found = self.runs(&RunFilter::new().with_id(run)).await?.pop();
        Ok(found.map(|run| (self.with_run(&run.id), run)))
    }

    /// Returns a run of this thread that is stored, or is about to be.
    pub(super) fn with_run(&self, run: &str) -> OwnedRun {
        span::is_about_run(run);
        let job = RunJob::new(self.session.owner.clone(), &*self.session.id, run);
        OwnedRun { job }
    }

    /// # Errors
    /// When the store fails.
    pub(crate) async fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        let (store, session) = self.parts();
        store.runs(&session.owner.tenant, &session.id, filter).await
    }

    /// # Errors
    /// When the store fails.
    pub(crate) async fn messages(&self, filter: &MessageFilter) -> Result<Vec<StoredMessage>, SessionError> {
        let (store, session) = self.parts();
        store.messages(&session.owner.tenant, &session.id, filter).await
    }

    /// Returns whether the thread has a state, which its agents share with the client.
    pub(crate) fn has_state(&self) -> bool {
        self.session.document_version > 0
    }

    /// Returns the state of the thread.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn document(&self) -> Result<Option<SessionDocument>, SessionError> {
        let (store, session) = self.parts();
        store.document(&session.owner.tenant, &session.id).await
    }

    /// Changes the state of the thread, also while a run is active.
    ///
    /// # Errors
    /// When the store fails, or the state has another version than the change is based on.
    pub(crate) async fn change_document(&self, change: &DocumentChange) -> Result<(), SessionError> {
        let (store, session) = self.parts();
        let mut end = session.end;
        for _ in 0..ATTEMPTS {
            let commit = Commit::new().with_document(change.clone());
            match store.commit(&session.owner.tenant, &session.id, end, commit).await {
                Err(error) => match error.kind() {
                    // A run that is active writes as well.
                    SessionErrorKind::Conflict { found, .. } => end = found,
                    _ => return Err(error),
                },
                Ok(_) => return Ok(()),
            }
        }
        Err(SessionError::new(
            SessionErrorKind::Unavailable,
            "the session changes too often; try again",
        ))
    }

    /// Returns the questions that a filter of the owner selects.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn questions(
        &self,
        select: impl FnOnce(ApprovalFilter) -> ApprovalFilter,
    ) -> Result<Vec<Approval>, SessionError> {
        let (store, session) = self.parts();
        let filter = ApprovalFilter::owned_by(session.owner.clone());
        store.approvals(&select(filter).with_session(&*session.id)).await
    }

    /// Returns the model calls of the thread and of its parts.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn costs(&self) -> Result<Vec<CostEntry>, SessionError> {
        let (store, session) = self.parts();
        let tenant = &session.owner.tenant;
        let mut entries = Vec::new();
        for part in self.service.parts_of(tenant, &session.id).await? {
            let part = store.get_session(tenant, &part).await?;
            if let Some(part) = part.filter(|part| part.owner == session.owner) {
                entries.extend(CostEntry::of_session(&**store, &part).await?);
            }
        }
        entries.extend(CostEntry::of_session(&**store, session).await?);
        Ok(entries)
    }

    /// Returns the messages of a run that have a bill and were not returned before, with those of the sessions in which the agents
    /// of its flow have worked, if it is one of a flow.
    ///
    /// # Errors
    /// When the store fails. What was read until then is not returned again.
    pub(crate) async fn new_billed_messages(
        &self,
        run: &str,
        is_flow: bool,
        so_far: &mut BilledSoFar,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        let (store, session) = self.parts();
        let tenant = &session.owner.tenant;
        let mut places = vec![(session.id.clone(), Some(run.to_owned()))];
        if is_flow {
            let prefix = part_prefix(&session.id, run);
            let parts = self.service.parts_of(tenant, &session.id).await?.into_iter();
            places.extend(parts.filter(|part| part.starts_with(&prefix)).map(|part| (part, None)));
        }
        let mut billed = Vec::new();
        let mut last = so_far.clone();
        for (place, run) in places {
            for part in [MessageFilter::new(), MessageFilter::audit()] {
                let seen = last
                    .0
                    .entry((place.clone(), part.part == MessagePart::Audit))
                    .or_default();
                let mut filter = part.after(*seen);
                filter.run.clone_from(&run);
                let messages = store.messages(tenant, &place, &filter).await?;
                *seen = messages.last().map_or(*seen, |message| message.seq.unsigned_abs());
                let has_bill = |message: &StoredMessage| !CostEntry::of(message).is_empty();
                billed.extend(messages.into_iter().filter(has_bill));
            }
        }
        *so_far = last;
        Ok(billed)
    }

    /// Sets or removes the title. Returns the session as it is then.
    ///
    /// # Errors
    /// When the store fails, or the thread was erased in the meantime.
    pub(crate) async fn rename(self, title: Option<&str>) -> Result<Session, Problem> {
        let (store, session) = self.parts();
        store.rename(&session.owner.tenant, &session.id, title).await?;
        let renamed = self.service.own(&session.owner, &session.id).await?;
        Ok(renamed.session)
    }

    /// Erases the thread with its parts. The caller holds the lock of the thread, and no run is active.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn erase(self) -> Result<(), SessionError> {
        let (store, session) = self.parts();
        store.erase_session(&session.owner.tenant, &session.id).await.map(drop)
    }

    /// Removes the thread, which was created for a run that was refused. The caller holds the lock of the thread.
    pub(super) async fn remove_empty(self) {
        let (store, session) = self.parts();
        if let Err(error) = store.delete_session(&session.owner.tenant, &session.id).await {
            tracing::warn!(?error, "a thread without runs is left");
        }
    }

    fn parts(&self) -> (&Arc<dyn SessionStore>, &Session) {
        (self.service.store(), &self.session)
    }
}

/// Returns the beginning of the ids of the sessions in which the agents of a flow work in a run.
fn part_prefix(thread: &str, run: &str) -> String {
    format!("{thread}/{run}/")
}

impl OwnedRun {
    /// Returns the ids of the run.
    pub(crate) fn into_job(self) -> RunJob {
        self.job
    }
}

impl Deref for OwnedRun {
    type Target = RunJob;

    fn deref(&self) -> &RunJob {
        &self.job
    }
}

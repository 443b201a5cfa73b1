//! [`Flawed`]: a store of sessions with a flaw.

use std::sync::Arc;

use agcore_session::{
    Actor, Approval, ApprovalFilter, CancelRequest, Checkpoint, CheckpointStore, ClaimRequest, Claims, Clock, Commit,
    Committed, DeadLetter, DeadLetterFilter, DocumentChange, Entry, EventFilter, HeldRun, Hold, InMemorySessionStore,
    Journal, Lease, ListedRun, MessageFilter, MessagePart, NewCheckpoint, NewSession, Pruned, Record, Release, Renewal,
    Retention, Run, RunAdministration, RunFilter, RunKey, RunLeases, RunListFilter, RunProgress, Session,
    SessionDocument, SessionError, SessionErrorKind, SessionFilter, SessionReader, SessionRetention, SessionWriter,
    StoredCall, StoredEvent, StoredMessage, TenantRuns, TenantShare, Visibility, Worker, WorkerReport, stream_of,
};
use async_trait::async_trait;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    None,
    ConflictsAreOverwritten,
    ConflictsOfEmptyCommitsAreMissed,
    CommitsAreTorn,
    RecordsAreLost,
    TenantsAreMixed,
    SessionsAreReplaced,
    TitlesAreReplaced,
    BadStatusesAreIgnored,
    CostsAreDropped,
    CurrenciesAreNotChecked,
    ContentEndsAtNul,
    VisibilityIsIgnored,
    TheLastAreTheFirst,
    AuditIsConversation,
    RunsAreIgnored,
    EventsAreDoubled,
    RunsAreSorted,
    PagesOfRunsRepeat,
    RunsOfAllAgentsAreListed,
    PagesOfQuestionsRepeat,
    TheLastEventsAreTheFirst,
    MessagesOfAllRunsAreRead,
    /// Selects runs that are over as well.
    AllRunsAreOpen,
    InputsAreListed,
    CountsHaveNoLimit,
    RunsWithoutEventsAreLeftOut,
    BillsOfPartsAreForgotten,
    SpendingOfLinesIsAdded,
    PagesOfSpendingRepeat,
    MissingRunsAreLeftOut,
    NewEventsAreMissed,
    CallsBeginTwice,
    StaleDocumentsAreWritten,
    ChangesOfDocumentsHaveNoNames,
    AnswersAreForgotten,
    AllAnswersAreAccepted,
    SessionsAreSortedById,
    TiesAreSkipped,
    EverybodyHolds,
    HoldsAreKept,
    /// Shares nothing: every hold excludes others.
    SharingIsRefused,
    SharedHoldsAreKept,
    /// Gives a hold back with the first of those who share it.
    OneSharerCounts,
    /// Lets others share what one holder has alone.
    HoldsAreShared,
    SharersDoNotCount,
    RecordsSurviveDeletion,
    LinesSurviveErasure,
    ErasureTakesTheBill,
    PartsAreForgotten,
    PartsSurviveErasure,
    PartsSurviveDeletion,
    PartsGrowOldAlone,
    OnlyAgesCount,
    BatchesHaveNoLimit,
    CountingPrunes,
    PatchesComeFirst,
    CheckpointsAreOverwritten,
    EverythingIsLatest,
    TooMuchIsTrimmed,
}

/// A store that behaves like [`InMemorySessionStore`], except for its flaw.
#[derive(Debug)]
pub(super) struct Flawed {
    pub(super) flaw: Flaw,
    pub(super) store: InMemorySessionStore,
}

impl Flawed {
    pub(super) fn new(flaw: Flaw, clock: Arc<dyn Clock>) -> Self {
        Self {
            flaw,
            store: InMemorySessionStore::new(clock),
        }
    }

    async fn end(&self, tenant: &str, session: &str) -> Result<u64, SessionError> {
        let session = self.store.get_session(tenant, session).await?;
        Ok(session.map_or(0, |session| session.end))
    }

    /// Changes a commit as the flaw does.
    fn spoil(&self, commit: &mut Commit) {
        match self.flaw {
            Flaw::BadStatusesAreIgnored => commit.state = None,
            Flaw::CallsBeginTwice => commit.calls.truncate(usize::from(commit.calls.len() != 1)),
            Flaw::StaleDocumentsAreWritten => {
                commit.document = commit.document.take().map(|change| DocumentChange::new(change.value));
            }
            Flaw::ChangesOfDocumentsHaveNoNames => {
                if let Some(change) = &mut commit.document {
                    change.name = None;
                }
            }
            Flaw::RecordsAreLost => commit.records.truncate(1),
            Flaw::AuditIsConversation => {
                for message in &mut commit.messages {
                    message.is_audit = false;
                }
            }
            Flaw::CostsAreDropped | Flaw::CurrenciesAreNotChecked => {
                for message in &mut commit.messages {
                    message.cost = None;
                }
            }
            Flaw::ContentEndsAtNul => {
                for message in &mut commit.messages {
                    let end = message.content.find('\0').unwrap_or(message.content.len());
                    message.content.truncate(end);
                }
            }
            Flaw::EventsAreDoubled => commit.events.extend(commit.events.clone()),
            _ => {}
        }
    }
}

#[async_trait]
impl Journal for Flawed {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        self.store.append(stream, expected, records).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        self.store.read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.store.trim(stream, before).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        self.store.delete(stream).await
    }
}

#[async_trait]
impl SessionReader for Flawed {
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError> {
        let found = self.store.get_session(tenant, session).await?;
        if found.is_none() && self.flaw == Flaw::TenantsAreMixed {
            return self.store.get_session("one", session).await;
        }
        Ok(found)
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError> {
        let mut filter = filter.clone();
        if self.flaw == Flaw::TiesAreSkipped {
            // By the time alone, sessions that changed at the same time are skipped.
            if let Some(place) = &mut filter.after {
                place.id.clear();
            }
        }
        let mut sessions = self.store.sessions(&filter).await?;
        if self.flaw == Flaw::SessionsAreSortedById {
            sessions.sort_by(|one, other| other.id.cmp(&one.id));
        }
        Ok(sessions)
    }

    async fn document(&self, tenant: &str, session: &str) -> Result<Option<SessionDocument>, SessionError> {
        self.store.document(tenant, session).await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        let mut filter = filter.clone();
        match self.flaw {
            Flaw::VisibilityIsIgnored => filter.visibility = Visibility::NOWHERE,
            Flaw::TheLastAreTheFirst => filter.is_last = false,
            Flaw::MessagesOfAllRunsAreRead => filter.run = None,
            Flaw::AuditIsConversation => filter.part = MessagePart::Conversation,
            _ => {}
        }
        self.store.messages(tenant, session, &filter).await
    }

    async fn events(
        &self,
        tenant: &str,
        session: &str,
        filter: &EventFilter,
    ) -> Result<Vec<StoredEvent>, SessionError> {
        let mut filter = filter.clone();
        if self.flaw == Flaw::RunsAreIgnored {
            filter.run = None;
        }
        filter.is_last &= self.flaw != Flaw::TheLastEventsAreTheFirst;
        self.store.events(tenant, session, &filter).await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        let mut filter = filter.clone();
        filter.is_open &= self.flaw != Flaw::AllRunsAreOpen;
        let mut runs = self.store.runs(tenant, session, &filter).await?;
        if self.flaw == Flaw::RunsAreSorted {
            runs.sort_by(|one, other| one.id.cmp(&other.id));
        }
        Ok(runs)
    }

    async fn run_list(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, SessionError> {
        let mut filter = filter.clone();
        if self.flaw == Flaw::PagesOfRunsRepeat {
            filter.after = None;
        }
        if self.flaw == Flaw::RunsOfAllAgentsAreListed {
            filter.metadata = None;
        }
        let mut listed = self.store.run_list(&filter).await?;
        if self.flaw == Flaw::InputsAreListed {
            listed
                .iter_mut()
                .for_each(|listed| listed.run.input = Some(Value::Null));
        }
        Ok(listed)
    }

    async fn progress(&self, runs: &[RunKey<'_>]) -> Result<Vec<Option<RunProgress>>, SessionError> {
        let mut progress = self.store.progress(runs).await?;
        match self.flaw {
            Flaw::MissingRunsAreLeftOut => progress.retain(Option::is_some),
            Flaw::NewEventsAreMissed => progress.iter_mut().flatten().for_each(|run| run.last_event = 1),
            _ => {}
        }
        Ok(progress)
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError> {
        self.store.calls(tenant, session, run).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        let mut filter = filter.clone();
        if self.flaw == Flaw::PagesOfQuestionsRepeat {
            filter.after = None;
        }
        self.store.approvals(&filter).await
    }
}

#[async_trait]
impl SessionWriter for Flawed {
    async fn create(&self, mut session: NewSession) -> Result<Session, SessionError> {
        if matches!(
            self.flaw,
            Flaw::PartsAreForgotten | Flaw::PartsSurviveErasure | Flaw::PartsSurviveDeletion | Flaw::PartsGrowOldAlone
        ) {
            session.part_of = None;
        }
        if self.flaw == Flaw::SessionsAreReplaced {
            self.store.delete_session(&session.owner.tenant, &session.id).await?;
        }
        self.store.create(session).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        mut commit: Commit,
    ) -> Result<Committed, SessionError> {
        let end = self.end(tenant, session).await?;
        let expected = match self.flaw {
            Flaw::ConflictsAreOverwritten => end,
            Flaw::ConflictsOfEmptyCommitsAreMissed if commit.records.is_empty() => end,
            _ => expected,
        };
        self.spoil(&mut commit);
        if self.flaw == Flaw::CommitsAreTorn {
            let mut first = Commit::new();
            first.records = std::mem::take(&mut commit.records);
            let end = self.store.commit(tenant, session, expected, first).await?.end;
            return self.store.commit(tenant, session, end, commit).await;
        }
        let title = commit.title.clone();
        let committed = self.store.commit(tenant, session, expected, commit).await?;
        if self.flaw == Flaw::TitlesAreReplaced && title.is_some() {
            self.store.rename(tenant, session, title.as_deref()).await?;
        }
        Ok(committed)
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        self.store.rename(tenant, session, title).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        let filter = ApprovalFilter::new(tenant).with_session(session);
        let known = self
            .store
            .approvals(&filter)
            .await?
            .into_iter()
            .find(|known| known.id == question);
        match (self.flaw, known) {
            (Flaw::AnswersAreForgotten, Some(known)) => Ok(known),
            (Flaw::AllAnswersAreAccepted, Some(mut known)) => {
                let stored = self.store.answer(tenant, session, question, answer.clone(), by).await;
                known.answer = Some(answer);
                Ok(stored.unwrap_or(known))
            }
            _ => self.store.answer(tenant, session, question, answer, by).await,
        }
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        match self.flaw {
            Flaw::EverybodyHolds => Ok(Hold::granted()),
            Flaw::HoldsAreKept => {
                // Leaked, as by a store that never gives a hold back.
                Box::leak(Box::new(self.store.hold(name).await?));
                Ok(Hold::granted())
            }
            _ => self.store.hold(name).await,
        }
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        let shared = self.store.hold_shared(name).await;
        match self.flaw {
            Flaw::SharingIsRefused => {
                drop(shared);
                self.store.hold(name).await
            }
            Flaw::SharedHoldsAreKept => {
                Box::leak(Box::new(shared?));
                Ok(Hold::granted())
            }
            Flaw::OneSharerCounts => {
                drop(shared?);
                let is_first = self.store.hold(name).await.is_ok();
                if is_first {
                    self.store.hold_shared(name).await
                } else {
                    Ok(Hold::granted())
                }
            }
            Flaw::HoldsAreShared => shared.or_else(|_| Ok(Hold::granted())),
            Flaw::SharersDoNotCount => Ok(Hold::granted()),
            _ => shared,
        }
    }
}

#[async_trait]
impl SessionRetention for Flawed {
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        let stream = stream_of(tenant, session);
        let records = self.store.read(&stream, 0).await?;
        let is_deleted = self.store.delete_session(tenant, session).await?;
        if self.flaw == Flaw::RecordsSurviveDeletion {
            let records = records.into_iter().map(|entry| entry.record).collect();
            self.store.append(&stream, 0, records).await?;
        }
        Ok(is_deleted)
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        match self.flaw {
            Flaw::ErasureTakesTheBill => self.store.delete_session(tenant, session).await,
            _ => self.store.erase_session(tenant, session).await,
        }
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError> {
        if self.flaw != Flaw::LinesSurviveErasure {
            return self.store.erase_sessions(owner).await;
        }
        let sessions = self.store.sessions(&SessionFilter::owned_by(owner.clone())).await?;
        for session in &sessions {
            self.store.erase_session(session.tenant(), &session.id).await?;
        }
        Ok(sessions.len() as u64)
    }

    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError> {
        match self.flaw {
            Flaw::BatchesHaveNoLimit => self.store.prune(retention, u64::MAX).await,
            Flaw::OnlyAgesCount => {
                let mut retention = *retention;
                (retention.runs_per_session, retention.sessions_per_user) = (None, None);
                self.store.prune(&retention, limit).await
            }
            _ => self.store.prune(retention, limit).await,
        }
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError> {
        match self.flaw {
            Flaw::CountingPrunes => self.store.prune(retention, u64::MAX).await,
            _ => self.store.prunable(retention).await,
        }
    }
}

#[async_trait]
impl CheckpointStore for Flawed {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        mut checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        checkpoint.is_snapshot |= self.flaw == Flaw::PatchesComeFirst;
        let saved = self.store.save_checkpoint(run, expected, checkpoint.clone()).await;
        match saved.as_ref().map_err(SessionError::kind) {
            Err(SessionErrorKind::Conflict { found, .. }) if self.flaw == Flaw::CheckpointsAreOverwritten => {
                self.store.save_checkpoint(run, found, checkpoint).await
            }
            _ => saved,
        }
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        match self.flaw {
            Flaw::EverythingIsLatest => self.store.checkpoints(run, 0).await,
            _ => self.store.latest_checkpoints(run).await,
        }
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.store.checkpoints(run, from).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        match self.flaw {
            Flaw::TooMuchIsTrimmed => self.store.trim_checkpoints(run, before.saturating_add(3)).await,
            _ => self.store.trim_checkpoints(run, before).await,
        }
    }
}

/// Has no flaw: leases have a suite of their own.
#[async_trait]
impl RunLeases for Flawed {
    async fn claim(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        self.store.claim(request).await
    }

    async fn renew(&self, leases: &[Lease]) -> Result<Vec<Renewal>, SessionError> {
        self.store.renew(leases).await
    }

    async fn cancel_requests(&self, leases: &[Lease]) -> Result<Vec<bool>, SessionError> {
        self.store.cancel_requests(leases).await
    }

    async fn release(&self, lease: &Lease, release: Release) -> Result<bool, SessionError> {
        self.store.release(lease, release).await
    }

    async fn end_delays(&self, tenant: &str, session: &str) -> Result<u64, SessionError> {
        self.store.end_delays(tenant, session).await
    }

    async fn take_over(&self, cancels: bool) -> Result<u64, SessionError> {
        self.store.take_over(cancels).await
    }

    async fn request_cancel(&self, tenant: &str, session: &str, run: &str) -> Result<CancelRequest, SessionError> {
        self.store.request_cancel(tenant, session, run).await
    }

    async fn dead_letters(&self, tenant: Option<&str>, limit: u64) -> Result<Vec<DeadLetter>, SessionError> {
        self.store.dead_letters(tenant, limit).await
    }

    async fn revive(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        self.store.revive(tenant, session, run).await
    }

    async fn set_share(&self, tenant: &str, share: TenantShare) -> Result<(), SessionError> {
        self.store.set_share(tenant, share).await
    }

    async fn share(&self, tenant: &str) -> Result<TenantShare, SessionError> {
        self.store.share(tenant).await
    }
}

#[async_trait]
impl RunAdministration for Flawed {
    async fn tenants(&self, after: Option<&str>, limit: u64) -> Result<Vec<TenantRuns>, SessionError> {
        self.store.tenants(after, limit).await
    }

    async fn tenant(&self, tenant: &str) -> Result<Option<TenantRuns>, SessionError> {
        self.store.tenant(tenant).await
    }

    async fn delete_share(&self, tenant: &str) -> Result<bool, SessionError> {
        self.store.delete_share(tenant).await
    }

    async fn dead_letter_page(&self, filter: &DeadLetterFilter) -> Result<Vec<DeadLetter>, SessionError> {
        self.store.dead_letter_page(filter).await
    }

    async fn discard_dead_letter(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        self.store.discard_dead_letter(tenant, session, run).await
    }

    async fn held_runs(&self, holder: &str, limit: u64) -> Result<Vec<HeldRun>, SessionError> {
        self.store.held_runs(holder, limit).await
    }

    async fn report_worker(&self, report: &WorkerReport) -> Result<Worker, SessionError> {
        self.store.report_worker(report).await
    }

    async fn forget_worker(&self, id: &str) -> Result<bool, SessionError> {
        self.store.forget_worker(id).await
    }

    async fn workers(&self, limit: u64) -> Result<Vec<Worker>, SessionError> {
        self.store.workers(limit).await
    }

    async fn drain_worker(&self, id: &str, drains: bool) -> Result<Option<Worker>, SessionError> {
        self.store.drain_worker(id, drains).await
    }

    async fn is_outdated(&self) -> Result<bool, SessionError> {
        self.store.is_outdated().await
    }
}

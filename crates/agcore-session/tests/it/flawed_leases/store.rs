//! [`Flawed`]: a store of leases with a flaw.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use agcore_session::{
    Actor, Approval, ApprovalChange, CallChange, CancelRequest, Checkpoint, CheckpointStore, ClaimRequest, Claims,
    Clock, Commit, Committed, DeadLetter, HeldRun, Hold, InMemorySessionStore, Lease, NewCheckpoint, NewSession,
    Release, ReleaseReason, Renewal, Run, RunFilter, RunKey, RunLeases, RunScope, RunStatus, Session, SessionError,
    SessionErrorKind, SessionEvents, SessionFilter, SessionReader, SessionWriter, TenantShare,
};
use async_trait::async_trait;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    None,
    ClaimsBeginRuns,
    HoldersAreForgotten,
    TimesAreIgnored,
    PrioritiesAreIgnored,
    RunsDoNotAge,
    SessionsHaveManyHolders,
    DrivenRunsAreTaken,
    TenantsAreMixed,
    RenewalsDoNothing,
    EverythingIsRenewed,
    LeasesDoNotExpire,
    EpochsAreReused,
    ReleasesDoNothing,
    InterruptedRunsKeepTheirWorkers,
    CancelRequestsAreLost,
    CancelRequestsAreNotListed,
    DelaysDoNotEnd,
    TakingOverDoesNothing,
    HoldsAreNotShared,
    TakingOverCancelsAll,
    /// Ignores a limit.
    Ignores(RunScope),
    BadRequestsAreAnswered,
    /// Ignores the fence of commits that consist of this.
    ForgetsFenceOf(Part),
    ConflictsComeFirst,
    FencesAreOfTheSessionWritten,
    RunsThatAreOverAreWritten,
    AttemptsAreNotCounted,
    EveryClaimCounts,
    DeadLettersStayDead,
    DeadRunsLookAlive,
    FirstTenantsComeFirst,
    WeightsAreIgnored,
    CeilingsAreIgnored,
    LeasesAreGivenTwice,
    PagesOfTenantsRepeat,
    ExpiredLeasesLookHeld,
    SharesAreNotListed,
    EveryTenantExists,
    SharesAreNotDeleted,
    DeadLettersAreOfAll,
    PagesSkipDeadLetters,
    DiscardedLettersStay,
    DiscardedLettersAreQueued,
    HoldersAreMixed,
    LostRunsLookHeld,
    WorkersNeverEnd,
    ReportsBeginAgain,
    WorkersAreNotForgotten,
    DrainRequestsAreLost,
    DrainsStay,
    AllAreDrained,
}

/// A kind of write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Records,
    Messages,
    AuditMessages,
    Costs,
    Events,
    Statuses,
    CallsThatBegin,
    CallsThatEnd,
    Questions,
    Answers,
    Titles,
    Batches,
    Checkpoints,
    Trimming,
}

/// A store that behaves like [`InMemorySessionStore`], except for its flaw.
#[derive(Debug)]
pub(super) struct Flawed {
    pub(super) flaw: Flaw,
    pub(super) store: InMemorySessionStore,
    asked: AtomicU64,
    /// The leases of the last claim.
    last: Mutex<Vec<Lease>>,
    /// The last runs that were found to be held.
    pub(super) held: Mutex<Vec<HeldRun>>,
    /// The tenants in the order in which their first sessions were created.
    tenants: Mutex<Vec<String>>,
}

impl Part {
    /// Returns whether a commit consists of this.
    fn is_in(self, commit: &Commit) -> bool {
        let message = commit.messages.first();
        match self {
            Self::Records => !commit.records.is_empty(),
            Self::Messages => message.is_some_and(|message| !message.is_audit && message.cost.is_none()),
            Self::AuditMessages => message.is_some_and(|message| message.is_audit),
            Self::Costs => message.is_some_and(|message| message.cost.is_some()),
            Self::Events => !commit.events.is_empty(),
            Self::Statuses => commit.state.is_some() || !commit.runs.is_empty(),
            Self::CallsThatBegin => matches!(commit.calls[..], [CallChange::Start { .. }]),
            Self::CallsThatEnd => matches!(commit.calls[..], [CallChange::Finish { .. }]),
            Self::Questions => matches!(commit.approvals[..], [ApprovalChange::Ask(_)]),
            Self::Answers => matches!(commit.approvals[..], [ApprovalChange::Answer { .. }]),
            Self::Titles => commit.title.is_some(),
            Self::Batches | Self::Checkpoints | Self::Trimming => false,
        }
    }
}

impl Flawed {
    pub(super) fn new(flaw: Flaw, clock: Arc<dyn Clock>) -> Self {
        Self {
            flaw,
            store: InMemorySessionStore::new(clock),
            asked: AtomicU64::new(0),
            last: Mutex::default(),
            held: Mutex::default(),
            tenants: Mutex::default(),
        }
    }

    /// Changes a commit as the flaw does.
    fn spoil(&self, session: &str, commit: &mut Commit) {
        for run in &mut commit.runs {
            match self.flaw {
                Flaw::TimesAreIgnored => run.not_before = None,
                Flaw::PrioritiesAreIgnored => run.priority = 0,
                Flaw::RunsDoNotAge => run.priority = run.priority.saturating_mul(1000),
                _ => {}
            }
        }
        match self.flaw {
            Flaw::ForgetsFenceOf(part) if part.is_in(commit) => commit.fence = None,
            Flaw::FencesAreOfTheSessionWritten => {
                if let Some(fence) = &mut commit.fence {
                    fence.session = session.into();
                }
            }
            _ => {}
        }
    }

    /// Returns all runs that no worker should get now, but this store gives away.
    async fn others(&self, tenants: &[String]) -> Result<Vec<(Session, Run)>, SessionError> {
        let mut others = Vec::new();
        for tenant in tenants {
            for session in self.store.sessions(&SessionFilter::new(&**tenant)).await? {
                let runs = self.store.runs(tenant, &session.id, &RunFilter::new().open()).await?;
                let is_held = runs.iter().any(|run| run.lease.holder.is_some());
                let is_given = |run: &Run| match self.flaw {
                    Flaw::SessionsHaveManyHolders => is_held && run.lease.holder.is_none(),
                    _ => run.status == RunStatus::Running && run.lease.epoch == 0,
                };
                others.extend(runs.into_iter().filter(is_given).map(|run| (session.clone(), run)));
            }
        }
        Ok(others)
    }

    fn tenants(&self) -> Vec<String> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Claims as a queue without tenants does.
    async fn claim_in_order(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        let mut claims = Claims::default();
        for tenant in self.tenants() {
            let mut of_tenant = request.clone().with_tenant(tenant.clone());
            of_tenant.holder += &tenant;
            of_tenant.limit -= u32::try_from(claims.leases.len()).unwrap();
            if of_tenant.limit > 0 {
                claims.leases.extend(self.store.claim(&of_tenant).await?.leases);
            }
        }
        Ok(claims)
    }

    /// Changes what a claim has returned as the flaw does.
    async fn spoil_claims(&self, claims: &mut Claims) -> Result<(), SessionError> {
        match self.flaw {
            Flaw::ClaimsBeginRuns => {
                for lease in &claims.leases {
                    let run = agcore_session::RunChange::new(&*lease.run, RunStatus::Running);
                    self.store
                        .commit(&lease.tenant, &lease.session, 0, Commit::new().with_run(run))
                        .await?;
                }
            }
            Flaw::SessionsHaveManyHolders | Flaw::DrivenRunsAreTaken => {
                for (session, run) in self.others(&self.tenants()).await? {
                    let key = (session.tenant().clone(), &*session.id, &*run.id);
                    let length = Duration::from_secs(600);
                    claims
                        .leases
                        .push(Lease::new(key, (run.status, &run.lease), length, run.created_at));
                }
            }
            Flaw::EpochsAreReused => claims.leases.iter_mut().for_each(|lease| lease.epoch = 1),
            Flaw::LeasesAreGivenTwice => {
                let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                let before = std::mem::replace(&mut *last, claims.leases.clone());
                claims.leases.extend(before);
            }
            _ => {}
        }
        Ok(())
    }
}

#[async_trait]
impl RunLeases for Flawed {
    async fn claim(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        let mut request = request.clone();
        match self.flaw {
            Flaw::HoldersAreForgotten => request.holder += &self.asked.fetch_add(1, Ordering::Relaxed).to_string(),
            Flaw::TenantsAreMixed => request.tenants.clear(),
            Flaw::LeasesDoNotExpire => request.length *= 100,
            Flaw::AttemptsAreNotCounted => request.max_attempts = u32::MAX,
            Flaw::BadRequestsAreAnswered if request.check().is_err() => return Ok(Claims::default()),
            Flaw::FirstTenantsComeFirst => return self.claim_in_order(&request).await,
            _ => {}
        }
        let mut claims = self.store.claim(&request).await?;
        self.spoil_claims(&mut claims).await?;
        Ok(claims)
    }

    async fn renew(&self, leases: &[Lease]) -> Result<Vec<Renewal>, SessionError> {
        let held = |lease: &Lease| Renewal::Held {
            remaining: lease.length,
            cancel_requested: false,
        };
        match self.flaw {
            Flaw::RenewalsDoNothing => Ok(leases.iter().map(held).collect()),
            Flaw::EverythingIsRenewed => self
                .store
                .renew(leases)
                .await
                .map(|_| leases.iter().map(held).collect()),
            Flaw::CancelRequestsAreLost => {
                let mut renewals = self.store.renew(leases).await?;
                for renewal in &mut renewals {
                    if let Renewal::Held { cancel_requested, .. } = renewal {
                        *cancel_requested = false;
                    }
                }
                Ok(renewals)
            }
            _ => self.store.renew(leases).await,
        }
    }

    async fn release(&self, lease: &Lease, mut release: Release) -> Result<bool, SessionError> {
        match self.flaw {
            Flaw::ReleasesDoNothing => return Ok(true),
            Flaw::EveryClaimCounts => release.reason = ReleaseReason::Failed,
            _ => {}
        }
        self.store.release(lease, release).await
    }

    async fn cancel_requests(&self, leases: &[Lease]) -> Result<Vec<bool>, SessionError> {
        match self.flaw {
            Flaw::CancelRequestsAreNotListed => Ok(vec![false; leases.len()]),
            _ => self.store.cancel_requests(leases).await,
        }
    }

    async fn end_delays(&self, tenant: &str, session: &str) -> Result<u64, SessionError> {
        match self.flaw {
            Flaw::DelaysDoNotEnd => Ok(1),
            _ => self.store.end_delays(tenant, session).await,
        }
    }

    async fn take_over(&self, cancels: bool) -> Result<u64, SessionError> {
        match self.flaw {
            Flaw::TakingOverDoesNothing => Ok(3),
            Flaw::TakingOverCancelsAll => self.store.take_over(true).await,
            _ => self.store.take_over(cancels).await,
        }
    }

    async fn request_cancel(&self, tenant: &str, session: &str, run: &str) -> Result<CancelRequest, SessionError> {
        self.store.request_cancel(tenant, session, run).await
    }

    async fn dead_letters(&self, tenant: Option<&str>, limit: u64) -> Result<Vec<DeadLetter>, SessionError> {
        self.store.dead_letters(tenant, limit).await
    }

    async fn revive(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        match self.flaw {
            Flaw::DeadLettersStayDead => Ok(()),
            _ => self.store.revive(tenant, session, run).await,
        }
    }

    async fn set_share(&self, tenant: &str, mut share: TenantShare) -> Result<(), SessionError> {
        match self.flaw {
            Flaw::WeightsAreIgnored => share.weight = 1,
            Flaw::CeilingsAreIgnored => share.ceiling = None,
            _ => {}
        }
        self.store.set_share(tenant, share).await
    }

    async fn share(&self, tenant: &str) -> Result<TenantShare, SessionError> {
        let mut share = self.store.share(tenant).await?;
        if self.flaw == Flaw::WeightsAreIgnored && tenant == "heavy" {
            // It is kept, but nothing reads it.
            share.weight = 3;
        }
        Ok(share)
    }
}

#[async_trait]
impl SessionWriter for Flawed {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        let tenant = session.owner.tenant.to_string();
        let mut tenants = self.tenants();
        if !tenants.contains(&tenant) {
            tenants.push(tenant);
            *self.tenants.lock().unwrap_or_else(PoisonError::into_inner) = tenants;
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
        self.spoil(session, &mut commit);
        if let (Flaw::Ignores(scope), Some(limits)) = (self.flaw, &mut commit.limits) {
            match scope {
                RunScope::User => limits.user = u64::MAX,
                RunScope::Tenant => limits.tenant = u64::MAX,
                RunScope::Total => limits.total = u64::MAX,
            }
        }
        let end = self
            .store
            .get_session(tenant, session)
            .await?
            .map_or(0, |session| session.end);
        if self.flaw == Flaw::ConflictsComeFirst && end != expected {
            return Err(SessionError::conflict(session, expected, end));
        }
        let committed = self.store.commit(tenant, session, expected, commit.clone()).await;
        match (committed, commit.fence.take()) {
            (Err(error), Some(fence)) if self.flaw == Flaw::RunsThatAreOverAreWritten => {
                let filter = RunFilter::new().with_id(&*fence.run);
                let runs = self.store.runs(tenant, &fence.session, &filter).await?;
                let is_over = runs
                    .iter()
                    .any(|run| run.status.is_over() && run.lease.epoch == fence.epoch);
                match error.kind() == SessionErrorKind::Fenced && is_over {
                    true => self.store.commit(tenant, session, expected, commit).await,
                    false => Err(error),
                }
            }
            (committed, _) => committed,
        }
    }

    async fn commit_events(&self, mut batch: Vec<SessionEvents>) -> Vec<Result<Committed, SessionError>> {
        if self.flaw == Flaw::ForgetsFenceOf(Part::Batches) {
            batch.iter_mut().for_each(|part| part.fence = None);
        }
        self.store.commit_events(batch).await
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
        self.store.answer(tenant, session, question, answer, by).await
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        self.store.hold(name).await
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        match self.flaw {
            Flaw::HoldsAreNotShared => self.store.hold(name).await,
            _ => self.store.hold_shared(name).await,
        }
    }
}

#[async_trait]
impl CheckpointStore for Flawed {
    async fn save_checkpoint(
        &self,
        mut run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        if self.flaw == Flaw::ForgetsFenceOf(Part::Checkpoints) {
            run.fence = None;
        }
        self.store.save_checkpoint(run, expected, checkpoint).await
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        self.store.latest_checkpoints(run).await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.store.checkpoints(run, from).await
    }

    async fn trim_checkpoints(&self, mut run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        if self.flaw == Flaw::ForgetsFenceOf(Part::Trimming) {
            run.fence = None;
        }
        self.store.trim_checkpoints(run, before).await
    }
}

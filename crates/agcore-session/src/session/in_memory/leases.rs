//! Leases of runs.

use std::collections::BTreeMap;

use agcore_chat::{Actor, Timestamp, id};
use async_trait::async_trait;

use super::{
    InMemorySessionStore, State,
    stored::{Stored, StoredRun, limit},
};
use crate::{
    error::SessionError,
    lease::{
        CancelRequest, ClaimCandidate, ClaimRequest, Claims, DeadLetter, Fence, Lease, Release, Renewal, RunCounts,
        RunLimits, RunTurn, TenantLoad, TenantShare,
    },
    run_status::RunStatus,
    session::{status::SessionStatus, store::RunLeases},
};

/// The tenant, the id of the session and the id of the run.
type Key = (String, String, String);

#[async_trait]
impl RunLeases for InMemorySessionStore {
    async fn claim(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        request.check()?;
        let now = self.now();
        let mut state = self.state();
        let asked_before = state.held_by(request, now);
        if !asked_before.is_empty() {
            return Ok(Claims::new(asked_before, Vec::new()));
        }
        let (live, exhausted) = state.candidates(request, now);
        let dead = exhausted.iter().filter_map(|key| state.bury(key, now)).collect();
        let chosen = ClaimCandidate::order(live, |tenant| state.load(tenant, now));
        let chosen = chosen.into_iter().take(limit(Some(request.limit.into())));
        let leases = chosen.filter_map(|chosen| state.claim(&chosen.key, request, now));
        Ok(Claims::new(leases.collect(), dead))
    }

    async fn renew(&self, leases: &[Lease]) -> Result<Vec<Renewal>, SessionError> {
        let now = self.now();
        let mut state = self.state();
        let renew = |lease: &Lease| {
            let Some(run) = state.held(lease, now) else {
                return Renewal::Lost;
            };
            let state = &mut run.run.lease;
            state.lease_until = Some(now.after(lease.length));
            Renewal::Held {
                remaining: lease.length,
                cancel_requested: state.cancel_requested_at.is_some(),
            }
        };
        Ok(leases.iter().map(renew).collect())
    }

    async fn cancel_requests(&self, leases: &[Lease]) -> Result<Vec<bool>, SessionError> {
        let now = self.now();
        let mut state = self.state();
        let is_wanted = |lease: &Lease| {
            let held = state.held(lease, now);
            held.is_some_and(|run| run.run.lease.cancel_requested_at.is_some())
        };
        Ok(leases.iter().map(is_wanted).collect())
    }

    async fn release(&self, lease: &Lease, release: Release) -> Result<bool, SessionError> {
        let now = self.now();
        let mut state = self.state();
        let held = state.held(lease, now);
        Ok(held.map(|run| run.run.lease.release(&release, now)).is_some())
    }

    async fn end_delays(&self, tenant: &str, session: &str) -> Result<u64, SessionError> {
        let mut state = self.state();
        let stored = state
            .tenants
            .get_mut(tenant)
            .and_then(|sessions| sessions.get_mut(session));
        let runs = stored
            .into_iter()
            .flat_map(|stored| &mut stored.runs)
            .map(|stored| &mut stored.run);
        let mut ended = 0;
        for run in runs {
            ended += u64::from(run.lease.end_delay(run.status));
        }
        Ok(ended)
    }

    async fn take_over(&self, cancels: bool) -> Result<u64, SessionError> {
        let now = self.now();
        let mut state = self.state();
        let sessions = state.tenants.values_mut().flat_map(BTreeMap::values_mut);
        let runs = sessions
            .flat_map(|stored| &mut stored.runs)
            .map(|stored| &mut stored.run);
        let open = runs.filter(|run| run.lease.counts(run.status));
        Ok(open.map(|run| run.lease.take_back(cancels, now)).count() as u64)
    }

    async fn request_cancel(&self, tenant: &str, session: &str, run: &str) -> Result<CancelRequest, SessionError> {
        let now = self.now();
        let mut state = self.state();
        let run = &mut state.find_run(tenant, session, run)?.run;
        if run.status.is_over() {
            return Ok(CancelRequest::Over);
        }
        run.lease.cancel_requested_at.get_or_insert(now);
        Ok(match run.lease.is_held(run.status, now) {
            true => CancelRequest::Held,
            false => CancelRequest::Free,
        })
    }

    async fn dead_letters(&self, tenant: Option<&str>, count: u64) -> Result<Vec<DeadLetter>, SessionError> {
        let state = self.state();
        let sessions = state.tenants.values().flat_map(BTreeMap::values);
        let selected = sessions.filter(|stored| tenant.is_none_or(|tenant| stored.session.owner.tenant == tenant));
        let letters = selected.flat_map(|stored| stored.runs.iter().filter_map(|run| stored.dead_letter(run)));
        let mut letters: Vec<DeadLetter> = letters.collect();
        letters.sort_by_key(|letter| letter.at);
        letters.truncate(limit(Some(count)));
        Ok(letters)
    }

    async fn revive(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        let now = self.now();
        let mut state = self.state();
        let found = &mut state.find_run(tenant, session, run)?.run;
        if found.lease.dead_at.is_none() {
            return Err(DeadLetter::refuse(&found.id));
        }
        found.status = RunStatus::Queued;
        found.lease.revive(now);
        found.updated_at = found.updated_at.max(now);
        state.report(tenant, session, run);
        Ok(())
    }

    async fn set_share(&self, tenant: &str, share: TenantShare) -> Result<(), SessionError> {
        id::check_named("the tenant", tenant)?;
        share.check()?;
        self.state().shares.insert(tenant.to_owned(), share);
        Ok(())
    }

    async fn share(&self, tenant: &str) -> Result<TenantShare, SessionError> {
        Ok(self.state().shares.get(tenant).copied().unwrap_or_default())
    }
}

impl State {
    /// Checks that one more run of an actor is allowed.
    pub(super) fn check_limits(&self, owner: &Actor, limits: Option<RunLimits>) -> Result<(), SessionError> {
        let Some(limits) = limits else { return Ok(()) };
        let mut counts = RunCounts::default();
        for stored in self.tenants.values().flat_map(BTreeMap::values) {
            let runs = stored.runs.iter().map(|stored| &stored.run);
            let count = runs.filter(|run| run.lease.counts(run.status)).count() as u64;
            let other = &stored.session.owner;
            counts.total += count;
            counts.tenant += if other.tenant == owner.tenant { count } else { 0 };
            counts.user += if other == owner { count } else { 0 };
        }
        limits.check(counts)
    }

    /// Checks that the lease of a write holds.
    pub(super) fn check_fence(&self, tenant: &str, fence: Option<&Fence>, now: Timestamp) -> Result<(), SessionError> {
        let Some(fence) = fence else { return Ok(()) };
        let stored = self.get(tenant, &fence.session);
        let run = stored.and_then(|stored| stored.run(&fence.run)).map(|run| &run.run);
        match run.is_some_and(|run| run.lease.permits(run.status, fence.epoch, now)) {
            true => Ok(()),
            false => Err(fence.refuse()),
        }
    }

    /// Returns the leases that were given to this holder before.
    fn held_by(&self, request: &ClaimRequest, now: Timestamp) -> Vec<Lease> {
        let sessions = self.tenants.values().flat_map(BTreeMap::values);
        let all = sessions.flat_map(|stored| stored.runs.iter().map(move |run| (stored, run)));
        let held = all.filter(|(_, StoredRun { run, .. })| {
            run.lease.is_held(run.status, now) && run.lease.holder.as_ref() == Some(&request.holder)
        });
        held.map(|(stored, run)| stored.lease(run, request, now)).collect()
    }

    /// Returns the runs that can be claimed, and those that were claimed too often.
    fn candidates(&self, request: &ClaimRequest, now: Timestamp) -> (Vec<ClaimCandidate<Key>>, Vec<Key>) {
        let (mut live, mut exhausted) = (Vec::new(), Vec::new());
        let selected = self.tenants.iter().filter(|(tenant, _)| request.selects(tenant));
        for stored in selected.flat_map(|(_, sessions)| sessions.values()) {
            for (turn, run) in stored.turns().zip(&stored.runs) {
                let others = stored.turns().filter(|other| other.number != turn.number);
                if !turn.may_be_claimed(others, now) {
                    continue;
                }
                let (tenant, lease) = (&stored.session.owner.tenant, &run.run.lease);
                let key = (tenant.to_string(), stored.session.id.clone(), run.run.id.clone());
                match lease.attempts < request.max_attempts {
                    true => live.push(ClaimCandidate::new(key, tenant.clone(), lease.due())),
                    false => exhausted.push(key),
                }
            }
        }
        (live, exhausted)
    }

    fn load(&self, tenant: &str, now: Timestamp) -> TenantLoad {
        let sessions = self.tenants.get(tenant).into_iter().flat_map(BTreeMap::values);
        let runs = sessions.flat_map(|stored| &stored.runs);
        let held = runs.filter(|run| run.run.lease.is_held(run.run.status, now)).count();
        TenantLoad::new(held as u64, self.shares.get(tenant).copied().unwrap_or_default())
    }

    fn claim(&mut self, (tenant, session, run): &Key, request: &ClaimRequest, now: Timestamp) -> Option<Lease> {
        let stored = self.tenants.get_mut(tenant)?.get_mut(session)?;
        stored.run_mut(run)?.run.lease.claim(request, now);
        Some(stored.lease(stored.run(run)?, request, now))
    }

    /// Makes a run a dead letter.
    fn bury(&mut self, (tenant, session, id): &Key, now: Timestamp) -> Option<DeadLetter> {
        let stored = self.tenants.get_mut(tenant)?.get_mut(session)?;
        let run = &mut stored.run_mut(id)?.run;
        run.status = RunStatus::Failed;
        run.lease.dead_at = Some(now);
        run.updated_at = run.updated_at.max(now);
        if stored.session.status == SessionStatus::Running {
            stored.session.status = SessionStatus::Failed;
            stored.session.updated_at = stored.session.updated_at.max(now);
        }
        let letter = stored.dead_letter(stored.run(id)?);
        self.report(tenant, session, id);
        letter
    }

    /// Reports the status of a run to the observer.
    fn report(&self, tenant: &str, session: &str, run: &str) {
        if let Some(stored) = self.get(tenant, session)
            && let Some(found) = stored.run(run)
        {
            self.observer.report(&stored.session, &found.run);
        }
    }

    /// Returns the run of a lease that holds.
    fn held(&mut self, lease: &Lease, now: Timestamp) -> Option<&mut StoredRun> {
        let found = self.find_run(&lease.tenant, &lease.session, &lease.run).ok()?;
        let run = &found.run;
        run.lease.permits(run.status, lease.epoch, now).then_some(found)
    }

    pub(super) fn find_run(&mut self, tenant: &str, session: &str, run: &str) -> Result<&mut StoredRun, SessionError> {
        let sessions = self.tenants.get_mut(tenant);
        let stored = sessions.and_then(|sessions| sessions.get_mut(session));
        let found = stored.and_then(|stored| stored.run_mut(run));
        found.ok_or_else(|| SessionError::not_found(format!("the session `{session}` has no run `{run}`")))
    }
}

impl Stored {
    fn turns(&self) -> impl Iterator<Item = RunTurn<'_>> {
        let numbered = (0..).zip(&self.runs);
        numbered.map(|(number, run)| RunTurn::new(number, run.run.status, &run.run.lease))
    }

    fn lease(&self, run: &StoredRun, request: &ClaimRequest, now: Timestamp) -> Lease {
        let session = &self.session;
        let key = (session.owner.tenant.clone(), &*session.id, &*run.run.id);
        Lease::new(key, (run.run.status, &run.run.lease), request.length, now)
    }

    pub(super) fn dead_letter(&self, run: &StoredRun) -> Option<DeadLetter> {
        let (session, lease) = (&self.session, &run.run.lease);
        let key = (session.owner.tenant.clone(), &*session.id, &*run.run.id);
        Some(DeadLetter::new(
            key,
            lease.attempts,
            lease.worker.clone(),
            lease.dead_at?,
        ))
    }
}

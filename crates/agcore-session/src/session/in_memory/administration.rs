//! Tenants, workers and dead letters.

use std::collections::{BTreeMap, BTreeSet};

use agcore_chat::Timestamp;
use async_trait::async_trait;

use super::{
    InMemorySessionStore, State,
    stored::{Stored, StoredRun, limit},
};
use crate::{
    error::SessionError,
    lease::{DeadLetter, DeadLetterFilter, HeldRun, TenantRuns, Worker, WorkerReport},
    session::store::RunAdministration,
};

/// The time in milliseconds after which a process is forgotten.
const KEPT: i64 = 24 * 3600 * 1000;

#[async_trait]
impl RunAdministration for InMemorySessionStore {
    async fn tenants(&self, after: Option<&str>, count: u64) -> Result<Vec<TenantRuns>, SessionError> {
        let now = self.now();
        let state = self.state();
        let names: BTreeSet<&String> = state.tenants.keys().chain(state.shares.keys()).collect();
        let selected = names
            .into_iter()
            .filter(|name| after.is_none_or(|after| ***name > *after));
        let found = selected.filter_map(|name| state.tenant(name, now));
        Ok(found.take(limit(Some(count))).collect())
    }

    async fn tenant(&self, tenant: &str) -> Result<Option<TenantRuns>, SessionError> {
        let now = self.now();
        Ok(self.state().tenant(tenant, now))
    }

    async fn delete_share(&self, tenant: &str) -> Result<bool, SessionError> {
        Ok(self.state().shares.remove(tenant).is_some())
    }

    async fn dead_letter_page(&self, filter: &DeadLetterFilter) -> Result<Vec<DeadLetter>, SessionError> {
        let state = self.state();
        let sessions = state
            .tenants
            .get(&*filter.tenant)
            .into_iter()
            .flat_map(BTreeMap::values);
        let letters = sessions.flat_map(|stored| stored.runs.iter().filter_map(|run| stored.dead_letter(run)));
        let after = |letter: &DeadLetter| filter.after.as_ref().is_none_or(|after| letter.cursor() > *after);
        let mut letters: Vec<DeadLetter> = letters.filter(after).collect();
        letters.sort_by_key(DeadLetter::cursor);
        letters.truncate(limit(Some(filter.limit)));
        Ok(letters)
    }

    async fn discard_dead_letter(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        let mut state = self.state();
        let found = &mut state.find_run(tenant, session, run)?.run;
        match found.lease.dead_at.take() {
            Some(_) => Ok(()),
            None => Err(DeadLetter::refuse(&found.id)),
        }
    }

    async fn held_runs(&self, holder: &str, count: u64) -> Result<Vec<HeldRun>, SessionError> {
        let now = self.now();
        let state = self.state();
        let sessions = state.tenants.values().flat_map(BTreeMap::values);
        let runs = sessions.flat_map(|stored| stored.runs.iter().map(move |run| (stored, run)));
        let held = runs.filter_map(|(stored, run)| stored.held_run(run, now));
        let mut held: Vec<HeldRun> = held.filter(|held| held.holder.starts_with(holder)).collect();
        held.sort_by(|one, other| {
            let key = |held: &HeldRun| (held.tenant.clone(), held.session.clone(), held.run.clone());
            key(one).cmp(&key(other))
        });
        held.truncate(limit(Some(count)));
        Ok(held)
    }

    async fn report_worker(&self, report: &WorkerReport) -> Result<Worker, SessionError> {
        report.check()?;
        let now = self.now();
        let mut state = self.state();
        let is_kept = |known: &Worker| known.until.as_millis().saturating_add(KEPT) > now.as_millis();
        state.workers.retain(|id, known| *id == report.id || is_kept(known));
        let worker = Worker::reported(report, state.workers.get(&report.id), now);
        state.workers.insert(report.id.clone(), worker.clone());
        Ok(worker)
    }

    async fn forget_worker(&self, id: &str) -> Result<bool, SessionError> {
        Ok(self.state().workers.remove(id).is_some())
    }

    async fn workers(&self, count: u64) -> Result<Vec<Worker>, SessionError> {
        let now = self.now();
        let state = self.state();
        let alive = state.workers.values().filter(|worker| worker.is_alive(now));
        let mut alive: Vec<Worker> = alive.cloned().collect();
        // Ids are in order already.
        alive.sort_by_key(|worker| worker.since);
        alive.truncate(limit(Some(count)));
        Ok(alive)
    }

    async fn drain_worker(&self, id: &str, drains: bool) -> Result<Option<Worker>, SessionError> {
        let now = self.now();
        let mut state = self.state();
        let found = state.workers.get_mut(id).filter(|worker| worker.is_alive(now));
        Ok(found.map(|worker| {
            worker.drain_requested_at = drains.then(|| worker.drain_requested_at.unwrap_or(now));
            worker.clone()
        }))
    }

    async fn is_outdated(&self) -> Result<bool, SessionError> {
        // Each process has a store of its own.
        Ok(false)
    }
}

impl State {
    fn tenant(&self, tenant: &str, now: Timestamp) -> Option<TenantRuns> {
        let (sessions, share) = (self.tenants.get(tenant), self.shares.get(tenant).copied());
        if share.is_none() && sessions.is_none_or(BTreeMap::is_empty) {
            return None;
        }
        let mut counts = [0; 3];
        for StoredRun { run, .. } in sessions
            .into_iter()
            .flat_map(BTreeMap::values)
            .flat_map(|stored| &stored.runs)
        {
            let is_held = run.lease.is_held(run.status, now);
            let is_waiting = run.lease.counts(run.status) && !is_held;
            for (count, counts_here) in counts
                .iter_mut()
                .zip([is_waiting, is_held, run.lease.dead_at.is_some()])
            {
                *count += u64::from(counts_here);
            }
        }
        Some(TenantRuns::new(tenant, counts, share))
    }
}

impl Stored {
    fn held_run(&self, StoredRun { run, .. }: &StoredRun, now: Timestamp) -> Option<HeldRun> {
        let (owner, lease) = (&self.session.owner, &run.lease);
        if !lease.is_held(run.status, now) {
            return None;
        }
        Some(HeldRun::new(
            (owner.tenant.clone(), &*self.session.id, &*run.id),
            (run.status, lease.lease_until?),
            (lease.holder.clone()?, lease.worker.clone()),
            (lease.epoch, lease.attempts),
        ))
    }
}

//! Claims and renewals.

use agcore_session::{Claims, DeadLetter, Lease, Renewal, RunStatus};

use super::Judge;
use crate::{
    call::MAX_ATTEMPTS,
    run::{Life, run_of},
    worker::{LEASE, Time, WorkerId},
};

/// A claim as it was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) worker: WorkerId,
    /// The number of the claim, from which the id of the holder is made.
    pub(crate) number: u32,
    pub(crate) slots: u32,
}

/// A run that was taken over from a worker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Takeover {
    pub(crate) run: u32,
    pub(crate) renewed_at: Time,
    pub(crate) expired_at: Time,
}

impl Judge {
    /// Compares the answer to a claim. Returns the runs that were taken over.
    pub(crate) fn claimed(&mut self, asked: Asked, claims: &Claims, now: Time) -> Vec<Takeover> {
        self.figures.claims += 1;
        self.figures.empty_claims += u64::from(claims.leases.is_empty());
        for letter in &claims.dead {
            self.died(letter, now);
        }
        let mut takeovers = Vec::new();
        let mut repeated = 0;
        for lease in &claims.leases {
            match run_of(&lease.session) {
                Some(run) if self.is_repeated(run, lease, asked, now) => repeated += 1,
                Some(run) if (run as usize) < self.runs.len() => takeovers.extend(self.took(run, lease, asked, now)),
                _ => self
                    .violations
                    .unless(false, || format!("{} does not exist", lease.session)),
            }
        }
        self.figures.repeated_claims += u64::from(repeated > 0);
        let found = claims.leases.len();
        self.violations.unless(found <= asked.slots as usize, || {
            format!("{found} runs for {} slots", asked.slots)
        });
        // A worker that finds less than it has asked for leaves nothing that it could have had.
        if repeated == 0 && found < asked.slots as usize {
            let left = self.waiting + self.expired;
            self.violations.unless(left == 0, || {
                format!(
                    "at {now} ms, {} found {found} runs for {} slots, but left {left}",
                    asked.worker, asked.slots
                )
            });
        }
        takeovers
    }

    fn is_repeated(&self, run: u32, lease: &Lease, asked: Asked, now: Time) -> bool {
        self.runs
            .get(run as usize)
            .is_some_and(|run| run.claimed_by == Some((asked.worker, asked.number)) && run.permits(lease.epoch, now))
    }

    /// A worker has got a run.
    fn took(&mut self, run: u32, lease: &Lease, asked: Asked, now: Time) -> Option<Takeover> {
        let _ = self.expire(run, self.runs[run as usize].epoch, now);
        let found = &mut self.runs[run as usize];
        let violations = &mut self.violations;
        violations.unless(found.is_open() && !found.is_held, || {
            format!(
                "at {now} ms, {} got run {run}, which is over or held by {:?}",
                asked.worker, found.claimed_by
            )
        });
        let status = match found.life {
            Life::Running => RunStatus::Running,
            _ => RunStatus::Queued,
        };
        let attempt = u32::from(found.attempts) + 1;
        violations.unless(
            (lease.status, lease.epoch, lease.attempt) == (status, found.epoch + 1, attempt),
            || {
                format!(
                    "run {run} is {status} with the epoch {} and was claimed as {lease:?}",
                    found.epoch
                )
            },
        );
        violations.unless(attempt <= u32::from(MAX_ATTEMPTS), || {
            format!("run {run} was claimed {attempt} times")
        });
        let takeover = (found.attempts > 0).then_some(Takeover {
            run,
            renewed_at: found.renewed_at,
            expired_at: found.until,
        });
        let tenant = &mut self.tenants[found.tenant as usize];
        match takeover {
            Some(_) => self.expired = self.expired.saturating_sub(1),
            None => {
                self.waiting = self.waiting.saturating_sub(1);
                tenant.waiting = tenant.waiting.saturating_sub(1);
                self.figures.waits[tenant.kind].push(millis(now - found.queued_at));
            }
        }
        tenant.held += u64::from(!found.is_held);
        (found.epoch, found.attempts) = (lease.epoch, found.attempts.saturating_add(1));
        (found.claimed_by, found.is_held) = (Some((asked.worker, asked.number)), true);
        (found.renewed_at, found.until) = (now, now + LEASE);
        self.moved_at = now;
        takeover
    }

    /// A run has become a dead letter.
    fn died(&mut self, letter: &DeadLetter, now: Time) {
        let Some(run) = run_of(&letter.session) else { return };
        let Some(found) = self.runs.get(run as usize) else {
            return;
        };
        let _ = self.expire(run, found.epoch, now);
        let found = &self.runs[run as usize];
        let last = found.claimed_by.map(|(worker, _)| worker.to_string());
        let is_right = found.is_open()
            && !found.is_held
            && found.attempts == MAX_ATTEMPTS
            && letter.attempts == u32::from(MAX_ATTEMPTS)
            && letter.worker == last
            && letter.reason().contains(&format!("{MAX_ATTEMPTS} workers"));
        self.violations.unless(is_right, || {
            format!(
                "run {run} with {} attempts, last by {last:?}, became {letter:?}",
                found.attempts
            )
        });
        self.figures.dead += 1;
        self.figures.dead_innocents += u64::from(!found.is_poison);
        if found.is_open() {
            self.end(run, Life::Dead);
        }
        self.moved_at = now;
    }

    /// Compares the answer to a renewal.
    pub(crate) fn renewed(&mut self, run: u32, epoch: u64, renewal: Renewal, now: Time) {
        let Some(found) = self.runs.get_mut(run as usize) else {
            return;
        };
        let permits = found.permits(epoch, now);
        let is_held = matches!(renewal, Renewal::Held { .. });
        self.violations.unless(permits == is_held, || {
            format!("at {now} ms, the lease of run {run} with the epoch {epoch} was renewed as {renewal:?}")
        });
        match is_held && permits {
            true => {
                (found.renewed_at, found.until) = (now, now + LEASE);
                self.figures.renewed += 1;
            }
            false => self.figures.renewed_too_late += u64::from(found.is_open()),
        }
    }
}

/// Returns a duration as it is kept.
pub(crate) fn millis(time: Time) -> u32 {
    u32::try_from(time).unwrap_or(u32::MAX)
}

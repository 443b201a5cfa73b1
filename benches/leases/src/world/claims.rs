//! Workers that claim runs: when they have a free slot, at once after a run has ended, and regularly.

use std::mem;

use agcore_session::Claims;

use super::World;
use crate::{
    call::Call,
    events::Event,
    judge::{Asked, Takeover},
    run::run_of,
    worker::{Held, IDLE, LEASE, Next, POLL, Time, WorkerId},
};

/// The longest pause between two claims while answers are lost.
const OUTAGE: Time = 5_000;

impl World<'_> {
    /// Has a worker claim runs after a pause. What it has planned before is void.
    pub(super) fn plan_claim(&mut self, place: usize, pause: Time) {
        let worker = &mut self.workers[place];
        worker.round = worker.round.wrapping_add(1);
        let event = Event::Claim {
            worker: worker.id,
            round: worker.round,
        };
        self.agenda.add(self.now + pause, event);
    }

    /// A worker asks for as many runs as it has free slots.
    pub(super) fn ask_for_runs(&mut self, id: WorkerId, round: u32) -> Option<Call> {
        let slots = self.scenario.size.slots;
        let worker = &mut self.workers[id.place as usize];
        let free = slots.saturating_sub(worker.held.len());
        if worker.round != round || free == 0 {
            return None;
        }
        if worker.is_claiming {
            worker.is_woken = true;
            return None;
        }
        worker.free_since.get_or_insert(self.now);
        let number = *worker.open_claim.get_or_insert_with(|| {
            self.claims += 1;
            self.claims
        });
        if self.lose() {
            self.ask_later(id);
            return None;
        }
        self.workers[id.place as usize].is_claiming = true;
        Some(Call::Claim {
            worker: id,
            number,
            slots: u32::try_from(free).unwrap_or(u32::MAX),
            is_lost: self.lose(),
        })
    }

    /// Has a worker ask again, with the same number, because the answer was lost.
    fn ask_later(&mut self, id: WorkerId) {
        let Some(worker) = self.living(id) else { return };
        worker.pause = (worker.pause * 2).min(OUTAGE);
        // Until then, it does not know what it has.
        worker.free_since = None;
        let pause = worker.real(worker.pause);
        self.plan_claim(id.place as usize, pause);
    }

    pub(super) fn take_runs(&mut self, (id, number, slots): (WorkerId, u32, u32), claims: Claims, is_lost: bool) {
        let now = self.now;
        let asked = Asked {
            worker: id,
            number,
            slots,
        };
        for takeover in self.judge.claimed(asked, &claims, now) {
            self.took_over(takeover);
        }
        for letter in &claims.dead {
            self.plan_deletion(run_of(&letter.session));
        }
        let runs = self.plan_expiry(&claims);
        let most = self.scenario.size.slots;
        let Some(worker) = self.living(id) else { return };
        worker.is_claiming = false;
        let is_woken = mem::take(&mut worker.is_woken);
        if is_lost {
            return self.ask_later(id);
        }
        worker.open_claim = None;
        worker.pause = match claims.leases.is_empty() {
            true => (worker.pause * 2).min(IDLE),
            false => POLL,
        };
        for (run, lease) in runs.iter().zip(&claims.leases) {
            worker.held.push(Held {
                run: *run,
                lease: lease.clone(),
                until: worker.usable_until(now),
                next: if lease.attempt == 1 { Next::Begin } else { Next::Read },
                done: 0,
                is_sending: false,
            });
        }
        let pause = if is_woken { 0 } else { worker.real(worker.pause) };
        let is_full = worker.held.len() >= most;
        if is_full {
            worker.free_since = None;
        }
        for (run, lease) in runs.into_iter().zip(&claims.leases) {
            let epoch = lease.epoch;
            self.agenda.add(now + 1, Event::Act { worker: id, run, epoch });
        }
        self.plan_claim(id.place as usize, pause);
        self.plan_renewal(id);
    }

    /// Plans the time at which leases expire unless they are renewed. Returns their runs.
    fn plan_expiry(&mut self, claims: &Claims) -> Vec<u32> {
        let mut runs = Vec::with_capacity(claims.leases.len());
        for lease in &claims.leases {
            let Some(run) = run_of(&lease.session) else { continue };
            let epoch = lease.epoch;
            self.agenda.add(self.now + LEASE, Event::Expire { run, epoch });
            runs.push(run);
        }
        runs
    }

    /// A run was taken over. If a worker had a free slot meanwhile, it must have claimed the run within its longest pause.
    fn took_over(
        &mut self,
        Takeover {
            run,
            renewed_at,
            expired_at,
        }: Takeover,
    ) {
        let now = self.now;
        let free = self
            .workers
            .iter()
            .filter(|worker| worker.is_alive && !worker.is_slow && worker.stopped_until <= now);
        let since = free.filter_map(|worker| worker.free_since).min();
        let time = crate::judge::millis(now - renewed_at);
        let figures = &mut self.judge.figures;
        figures.takeovers.push(time);
        if since.is_some_and(|since| since <= expired_at) {
            figures.free_takeovers.push(time);
        }
        let is_late = since.is_some_and(|since| since.max(expired_at) + IDLE < now);
        self.judge.violations.unless(!is_late, || {
            format!("at {now} ms, run {run} was taken over, whose lease has expired at {expired_at} ms, while a slot was free")
        });
    }
}

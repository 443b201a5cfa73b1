//! Workers that renew their leases, all in one call, every third of their length.

use agcore_session::{Lease, Renewal};

use super::World;
use crate::{call::Call, events::Event, run::run_of, worker::WorkerId};

impl World<'_> {
    /// Plans the next renewal of a worker that has runs.
    pub(super) fn plan_renewal(&mut self, id: WorkerId) {
        let now = self.now;
        let Some(worker) = self.living(id) else { return };
        if worker.is_renewing || worker.held.is_empty() {
            return;
        }
        worker.is_renewing = true;
        let time = worker.next_renewal(now);
        self.agenda.add(time, Event::Renew { worker: id });
    }

    /// Plans a renewal again whose answer was lost.
    fn renew_soon(&mut self, id: WorkerId) {
        let now = self.now;
        let Some(worker) = self.living(id) else { return };
        worker.is_renewing = true;
        let time = worker.next_check(now);
        self.agenda.add(time, Event::Renew { worker: id });
    }

    pub(super) fn ask_for_renewal(&mut self, id: WorkerId) -> Option<Call> {
        let now = self.now;
        let worker = &mut self.workers[id.place as usize];
        worker.is_renewing = false;
        let over: Vec<_> = worker
            .held
            .iter()
            .filter(|held| held.until <= now && !held.is_sending)
            .collect();
        let over: Vec<_> = over.into_iter().map(|held| (held.run, held.lease.epoch)).collect();
        for (run, epoch) in over {
            self.judge.figures.left_in_time += 1;
            self.leave(id, run, epoch);
        }
        let leases: Vec<Lease> = self.workers[id.place as usize]
            .held
            .iter()
            .map(|held| held.lease.clone())
            .collect();
        if leases.is_empty() {
            return None;
        }
        if self.lose() {
            self.renew_soon(id);
            return None;
        }
        let is_lost = self.lose();
        Some(Call::Renew {
            worker: id,
            leases,
            is_lost,
        })
    }

    pub(super) fn take_renewals(&mut self, id: WorkerId, leases: &[Lease], renewals: &[Renewal], is_lost: bool) {
        let now = self.now;
        self.judge.figures.renewals += 1;
        let is_complete = leases.len() == renewals.len();
        self.judge.violations.unless(is_complete, || {
            format!("{} answers for {} leases", renewals.len(), leases.len())
        });
        for (lease, renewal) in leases.iter().zip(renewals) {
            if let Some(run) = run_of(&lease.session) {
                self.judge.renewed(run, lease.epoch, *renewal, now);
            }
        }
        if is_lost {
            return self.renew_soon(id);
        }
        let Some(worker) = self.living(id) else { return };
        worker.renewed = now;
        for (lease, renewal) in leases.iter().zip(renewals) {
            let Some(run) = run_of(&lease.session) else { continue };
            let Some(worker) = self.living(id) else { return };
            let until = worker.usable_until(now);
            let Some(held) = worker.held(run, lease.epoch) else {
                continue;
            };
            match renewal {
                Renewal::Held { .. } => held.until = until,
                // What was sent already arrives nevertheless.
                Renewal::Lost if held.is_sending => {}
                Renewal::Lost => self.leave(id, run, lease.epoch),
            }
        }
        self.plan_renewal(id);
    }
}

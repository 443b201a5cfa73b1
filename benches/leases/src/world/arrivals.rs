//! Tenants that ask for runs.

use super::World;
use crate::{call::Call, events::Event};

impl World<'_> {
    /// Plans the next run of a tenant.
    pub(super) fn plan_arrival(&mut self, tenant: usize) {
        if let Some(next) = self.arrivals[tenant].next() {
            self.agenda.add(next.max(self.now), Event::Arrive { tenant });
        }
    }

    pub(super) fn arrive(&mut self, tenant: usize) -> Option<Call> {
        let arrivals = &mut self.arrivals[tenant];
        arrivals.left -= 1;
        let run = arrivals.run(tenant, self.scenario.faults.poison);
        let priority = run.priority;
        let run = self.judge.add(run);
        self.plan_arrival(tenant);
        let tenant = self.tenant_of(run);
        Some(Call::Queue { run, tenant, priority })
    }
}

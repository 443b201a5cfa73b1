//! Counting tool calls when they begin, for executors that report it.

use super::{BudgetShortage, Machine, Spending, Spent, shortage_in};
use crate::budget::Reservation;

impl Spending<'_> {
    /// Sets aside what one call spends when it begins. `calls` is the number of calls that have not started, including
    /// this one.
    pub(in crate::driver) fn reserve_tool(
        &self,
        machine: &Machine,
        calls: usize,
    ) -> Result<Option<Reservation>, Box<BudgetShortage>> {
        if !self.is_active() {
            return Ok(None);
        }
        self.admit(machine.account(), &spent(calls), None)?;
        let Some(pool) = &self.budgets.pool else {
            return Ok(None);
        };
        let reserved = pool.reserve(&spent(1));
        reserved
            .map(Some)
            .map_err(|resource| shortage_in(pool, resource, &spent(1)))
    }

    /// Counts calls that begin. Returns what they spend, or `None` if there are no budgets or no calls to count.
    pub(in crate::driver) fn begin_tools(&self, calls: usize, reservations: Vec<Reservation>) -> Option<Spent> {
        reservations
            .into_iter()
            .for_each(|reservation| reservation.settle(&spent(1)));
        (self.is_active() && calls > 0).then(|| spent(calls))
    }
}

fn spent(calls: usize) -> Spent {
    Spent::new().with_tool_calls(u64::try_from(calls).unwrap_or(u64::MAX))
}

//! The reports of a store with a flaw.

use agcore_session::{
    ApprovalFilter, BillPlace, BilledMessage, CostEntry, RunKey, SessionError, SessionReports, SpendingFilter,
    StoredEvent,
};
use async_trait::async_trait;

use super::store::{Flaw, Flawed};

#[async_trait]
impl SessionReports for Flawed {
    async fn count_approvals(&self, filter: &ApprovalFilter) -> Result<u64, SessionError> {
        let mut filter = filter.clone();
        if self.flaw == Flaw::CountsHaveNoLimit {
            filter.limit = None;
        }
        self.store.count_approvals(&filter).await
    }

    async fn last_events(&self, runs: &[RunKey<'_>], count: u64) -> Result<Vec<Vec<StoredEvent>>, SessionError> {
        let mut last = self.store.last_events(runs, count).await?;
        if self.flaw == Flaw::RunsWithoutEventsAreLeftOut {
            last.retain(|events| !events.is_empty());
        }
        Ok(last)
    }

    async fn bills(&self, tenant: &str, places: &[BillPlace]) -> Result<Vec<Vec<CostEntry>>, SessionError> {
        let mut places = places.to_vec();
        if self.flaw == Flaw::BillsOfPartsAreForgotten {
            places.iter_mut().for_each(|place| place.parts = None);
        }
        self.store.bills(tenant, &places).await
    }

    async fn spending(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, SessionError> {
        let mut filter = filter.clone();
        match self.flaw {
            Flaw::SpendingOfLinesIsAdded => filter.owner = filter.owner.map(|owner| owner.with_line("sales")),
            Flaw::PagesOfSpendingRepeat => filter.after = None,
            _ => {}
        }
        self.store.spending(&filter).await
    }
}

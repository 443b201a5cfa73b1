//! Lists over all threads of an actor, with what belongs to their entries.

use std::collections::HashMap;

use agcore_chat::Actor;
use agcore_session::{
    Approval, ApprovalFilter, BillPlace, BilledMessage, CostEntry, ListedRun, RunKey, RunListFilter, SessionError,
    SessionFilter, SpendingFilter, StoredEvent,
};

use super::part_prefix;
use crate::service::state::{Service, is_thread};

impl Service {
    /// Returns runs over all threads of the owner that the filter names.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn listed_runs(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, SessionError> {
        self.store().run_list(filter).await
    }

    /// Returns questions over all threads that a filter selects.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn listed_approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        self.store().approvals(filter).await
    }

    /// Returns the number of questions over all threads that a filter selects, up to its limit.
    ///
    /// # Errors
    /// When the store fails.
    #[cfg(feature = "console")]
    pub(crate) async fn count_listed_approvals(&self, filter: &ApprovalFilter) -> Result<u64, SessionError> {
        self.store().count_approvals(filter).await
    }

    /// Returns the titles of those of these threads that the actor has.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn titles_of(
        &self,
        actor: &Actor,
        threads: &[&str],
    ) -> Result<HashMap<String, Option<String>>, SessionError> {
        if threads.is_empty() {
            return Ok(HashMap::new());
        }
        let filter = SessionFilter::owned_by(actor.clone()).with_ids(threads.iter().copied());
        let sessions = self.store().sessions(&filter).await?;
        let own = sessions.into_iter().filter(is_thread);
        Ok(own.map(|session| (session.id, session.title)).collect())
    }

    /// Returns the model calls of runs that a list of the actor contains, with those of the sessions in which the agents of flows
    /// have worked.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn listed_bills(
        &self,
        actor: &Actor,
        runs: &[ListedRun],
        is_flow: impl Fn(&ListedRun) -> bool,
    ) -> Result<Vec<Vec<CostEntry>>, SessionError> {
        let places = runs.iter().map(|listed| {
            let place = BillPlace::new(&*listed.session, &*listed.run.id);
            match is_flow(listed) {
                true => place.with_parts(part_prefix(&listed.session, &listed.run.id)),
                false => place,
            }
        });
        let places: Vec<BillPlace> = places.collect();
        self.store().bills(&actor.tenant, &places).await
    }

    /// Returns messages with model calls over all threads that a filter selects.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn listed_spending(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, SessionError> {
        self.store().spending(filter).await
    }

    /// Returns the last events of runs that a list of the actor contains.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn listed_ends(
        &self,
        actor: &Actor,
        runs: &[&ListedRun],
        count: u64,
    ) -> Result<Vec<Vec<StoredEvent>>, SessionError> {
        let key = |listed: &&ListedRun| (listed.session.clone(), listed.run.id.clone());
        let ids: Vec<(String, String)> = runs.iter().map(key).collect();
        let keys = ids.iter().map(|(thread, run)| RunKey::new(&actor.tenant, thread, run));
        let keys: Vec<RunKey<'_>> = keys.collect();
        match keys.is_empty() {
            true => Ok(Vec::new()),
            false => self.store().last_events(&keys, count).await,
        }
    }
}

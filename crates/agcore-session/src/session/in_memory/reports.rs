//! Lists and reports over sessions.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{
    InMemorySessionStore, State,
    stored::{Stored, limit},
};
use crate::{
    checkpoint::RunKey,
    error::SessionError,
    session::{
        costs::CostEntry,
        event::StoredEvent,
        filter::{ApprovalFilter, BillPlace, BilledMessage, SpendingFilter},
        message::StoredMessage,
        store::{SessionReader, SessionReports},
    },
};

#[async_trait]
impl SessionReports for InMemorySessionStore {
    async fn count_approvals(&self, filter: &ApprovalFilter) -> Result<u64, SessionError> {
        Ok(self.approvals(filter).await?.len() as u64)
    }

    async fn last_events(&self, runs: &[RunKey<'_>], count: u64) -> Result<Vec<Vec<StoredEvent>>, SessionError> {
        let state = self.state();
        let last = runs.iter().map(|key| {
            let events = state
                .get(key.tenant, key.session)
                .into_iter()
                .flat_map(|stored| &stored.events);
            let newest = events.rev().filter(|event| event.run == key.run);
            let mut events: Vec<_> = newest.take(limit(Some(count))).cloned().collect();
            events.reverse();
            events
        });
        Ok(last.collect())
    }

    async fn bills(&self, tenant: &str, places: &[BillPlace]) -> Result<Vec<Vec<CostEntry>>, SessionError> {
        let state = self.state();
        Ok(places.iter().map(|place| state.bill(tenant, place)).collect())
    }

    async fn spending(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, SessionError> {
        let state = self.state();
        let sessions = state.tenants.get(&*filter.tenant);
        let sessions = sessions.into_iter().flat_map(BTreeMap::values);
        let selected =
            sessions.flat_map(|stored| messages(stored).filter_map(|message| filter.select(&stored.session, message)));
        let mut selected: Vec<BilledMessage> = selected.collect();
        selected.sort_by_cached_key(BilledMessage::place);
        selected.truncate(limit(filter.limit));
        Ok(selected)
    }
}

impl State {
    /// Returns the model calls in a place.
    fn bill(&self, tenant: &str, place: &BillPlace) -> Vec<CostEntry> {
        let all = self.tenants.get(tenant).into_iter().flat_map(BTreeMap::values);
        let calls = all.flat_map(|stored| {
            let session = &stored.session;
            let is_part = session.part_of.as_ref() == Some(&place.session)
                && place
                    .parts
                    .as_ref()
                    .is_some_and(|prefix| session.id.starts_with(prefix));
            let is_it = session.id == place.session;
            let messages = messages(stored).filter(move |message| is_part || message.run.as_ref() == Some(&place.run));
            messages.filter(move |_| is_part || is_it).flat_map(CostEntry::of)
        });
        calls.collect()
    }
}

/// Returns the messages of a session, first those of the conversation.
fn messages(stored: &Stored) -> impl Iterator<Item = &StoredMessage> {
    stored.conversation.iter().chain(&stored.audit)
}

//! Deleting, erasing and pruning sessions.

use std::collections::BTreeMap;

use agcore_chat::Actor;
use async_trait::async_trait;

use super::{
    InMemorySessionStore, State,
    stored::{Stored, limit},
};
use crate::{
    error::SessionError,
    session::{
        SessionRetention,
        retention::{Pruned, Retention},
    },
};

#[async_trait]
impl SessionRetention for InMemorySessionStore {
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        let mut state = self.state();
        let mut deleted = state.parts_of(tenant, session);
        deleted.push(session.to_owned());
        let State { tenants, streams, .. } = &mut *state;
        let Some(sessions) = tenants
            .get_mut(tenant)
            .filter(|sessions| sessions.contains_key(session))
        else {
            return Ok(false);
        };
        for stored in deleted.iter().filter_map(|id| sessions.remove(id)) {
            streams.delete(&stored.session.stream());
        }
        Ok(true)
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        let now = self.now();
        Ok(self.state().erase(tenant, session, now))
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError> {
        let now = self.now();
        let mut state = self.state();
        let of_user = |stored: &&Stored| {
            let session = &stored.session;
            session.owner.user == owner.user && session.part_of.is_none() && !session.is_erased()
        };
        let sessions = state.tenants.get(&*owner.tenant).into_iter();
        let found = sessions.flat_map(BTreeMap::values).filter(of_user);
        let ids: Vec<String> = found.map(|stored| stored.session.id.clone()).collect();
        for id in &ids {
            state.erase(&owner.tenant, id, now);
        }
        Ok(ids.len() as u64)
    }

    async fn prune(&self, retention: &Retention, count: u64) -> Result<Pruned, SessionError> {
        let now = self.now();
        Ok(self.state().prune(retention, limit(Some(count)), now))
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError> {
        let now = self.now();
        Ok(self.state().prunable(retention, now))
    }
}

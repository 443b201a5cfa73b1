//! Removing data that is older than a retention allows.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use agcore_chat::Timestamp;

use super::{State, stored::Stored};
use crate::session::{
    approval::ApprovalStatus,
    retention::{Pruned, Retention},
    status::SessionStatus,
};

/// The tenant and the id of a session.
type Key = (String, String);

impl State {
    /// Removes at most `limit` of each kind.
    pub(super) fn prune(&mut self, retention: &Retention, limit: usize, now: Timestamp) -> Pruned {
        let mut pruned = Pruned::default();
        for (tenant, id) in self.old_sessions(retention, now).into_iter().take(limit) {
            pruned.sessions += u64::from(self.erase(&tenant, &id, now));
        }
        let mut left = [limit; 3];
        let needed = self.needed();
        for stored in self.tenants.values_mut().flat_map(BTreeMap::values_mut) {
            let [runs, events, audit] = &mut left;
            if !needed.contains(&stored.whole()) {
                stored.delete_runs(retention, now, runs);
                stored.delete_events(retention, now, events);
            }
            stored.blank_audit(retention, now, audit);
        }
        let [runs, events, audit] = left.map(|left| (limit - left) as u64);
        pruned.add(Pruned::new(0, runs, events, audit));
        pruned
    }

    /// Counts what would be removed.
    pub(super) fn prunable(&self, retention: &Retention, now: Timestamp) -> Pruned {
        let sessions = self.old_sessions(retention, now).len();
        let mut pruned = Pruned::new(sessions as u64, 0, 0, 0);
        let needed = self.needed();
        for stored in self.tenants.values().flat_map(BTreeMap::values) {
            let (mut runs, mut events) = (0, 0);
            if !needed.contains(&stored.whole()) {
                runs = stored.old_runs(retention, now).len();
                events = stored.old_events(retention, now).len();
            }
            let audit = stored.old_audit(retention, now).len();
            pruned.add(Pruned::new(0, runs as u64, events as u64, audit as u64));
        }
        pruned
    }

    fn old_sessions(&self, retention: &Retention, now: Timestamp) -> Vec<Key> {
        let mut changed: BTreeMap<Key, Timestamp> = BTreeMap::new();
        for stored in self.tenants.values().flat_map(BTreeMap::values) {
            if !stored.session.is_erased() {
                let last = changed.entry(stored.whole()).or_insert(stored.session.updated_at);
                *last = stored.session.updated_at.max(*last);
            }
        }
        let mut of_user: BTreeMap<(&str, &str), Vec<(Timestamp, Key)>> = BTreeMap::new();
        for (key, changed) in changed {
            if let Some(whole) = self.get(&key.0, &key.1) {
                let owner = &whole.session.owner;
                of_user
                    .entry((&owner.tenant, &owner.user))
                    .or_default()
                    .push((changed, key));
            }
        }
        let needed = self.needed();
        let mut old = Vec::new();
        for mut sessions in of_user.into_values() {
            sessions.sort();
            sessions.reverse();
            for (number, (changed, key)) in (0_u64..).zip(sessions) {
                let is_over = retention.sessions_per_user.is_some_and(|count| number >= count);
                let is_due = is_over || is_old(retention.sessions, changed, now);
                if is_due && !needed.contains(&key) && !self.is_running(&key) {
                    old.push(key);
                }
            }
        }
        old
    }

    /// Returns the sessions with a run in progress or an open question, in themselves or in one of their parts.
    fn needed(&self) -> BTreeSet<Key> {
        let all = self.tenants.values().flat_map(BTreeMap::values);
        all.filter(|stored| stored.is_needed()).map(Stored::whole).collect()
    }

    /// Returns whether a session or a part of it is running.
    fn is_running(&self, key: &Key) -> bool {
        let sessions = self.tenants.get(&key.0).into_iter().flat_map(BTreeMap::values);
        let mut members = sessions.filter(|stored| stored.whole() == *key);
        members.any(|stored| stored.session.status == SessionStatus::Running)
    }
}

impl Stored {
    /// Returns the key of the session, or of the one that contains it as a part.
    fn whole(&self) -> Key {
        let session = &self.session;
        let id = session.part_of.as_ref().unwrap_or(&session.id);
        (session.owner.tenant.to_string(), id.clone())
    }

    /// Returns whether a run is going on, or a person is asked.
    fn is_needed(&self) -> bool {
        let is_open = |status| status == ApprovalStatus::Open;
        self.runs.iter().any(|run| !run.run.status.is_over())
            || self.approvals.values().any(|approval| is_open(approval.status))
    }

    fn old_runs(&self, retention: &Retention, now: Timestamp) -> Vec<String> {
        let numbered = (0_u64..).zip(self.runs.iter().rev());
        let old = numbered.filter(|(number, run)| {
            retention.runs_per_session.is_some_and(|count| *number >= count)
                || is_old(retention.runs, run.run.updated_at, now)
        });
        old.map(|(_, run)| run.run.id.clone()).collect()
    }

    fn delete_runs(&mut self, retention: &Retention, now: Timestamp, limit: &mut usize) {
        for id in self.old_runs(retention, now).into_iter().take(*limit) {
            self.runs.retain(|run| run.run.id != id);
            self.events.retain(|event| event.run != id);
            self.approvals.retain(|_, approval| approval.run != id);
            *limit -= 1;
        }
    }

    fn old_events(&self, retention: &Retention, now: Timestamp) -> Vec<u64> {
        let is_due = |run: &str| {
            self.run(run)
                .is_some_and(|run| is_old(retention.events, run.run.updated_at, now))
        };
        let old = self.events.iter().filter(|event| is_due(&event.run));
        old.map(|event| event.seq).collect()
    }

    fn delete_events(&mut self, retention: &Retention, now: Timestamp, limit: &mut usize) {
        let mut old = self.old_events(retention, now);
        old.truncate(*limit);
        *limit -= old.len();
        self.events.retain(|event| old.binary_search(&event.seq).is_err());
    }

    /// Returns the places of the audit messages that are due.
    fn old_audit(&self, retention: &Retention, now: Timestamp) -> Vec<usize> {
        let old = self
            .audit
            .iter()
            .enumerate()
            .filter(|(_, message)| !message.content.is_empty() && is_old(retention.audit, message.created_at, now));
        old.map(|(index, _)| index).collect()
    }

    fn blank_audit(&mut self, retention: &Retention, now: Timestamp, limit: &mut usize) {
        for index in self.old_audit(retention, now).into_iter().take(*limit) {
            if let Some(message) = self.audit.get_mut(index) {
                message.content.clear();
                *limit -= 1;
            }
        }
    }
}

fn is_old(age: Option<Duration>, time: Timestamp, now: Timestamp) -> bool {
    age.is_some_and(|age| time < Retention::before(age, now))
}

//! [`TenantTotals`]: how much the users of a tenant have uploaded, as a record of the journal.

use std::collections::BTreeMap;

use agcore_chat::Actor;
use agcore_session::{Clock, Journal, Record, SessionError, SessionErrorKind, Timestamp, id};
use serde::{Deserialize, Serialize};

use super::{
    error::FileError,
    list::{ATTEMPTS, FileList, changes_too_often, owner_hash, replace, stream_of},
    quota::{FileQuota, Total},
};

/// The kind of a record with all totals.
const KIND: &str = "file_totals";

/// The number and size of the files of each user of a tenant. Users are named by hashes, as in the storage.
///
/// A total is computed from the list of the user whenever that has changed, never added to: if a process ends between the two, the
/// next change corrects it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct TenantTotals {
    users: BTreeMap<String, Total>,
}

impl TenantTotals {
    /// Checks whether a user may have this much more, without taking it.
    pub(super) async fn check(
        journal: &dyn Journal,
        actor: &Actor,
        more: Total,
        quota: &FileQuota,
    ) -> Result<(), FileError> {
        let (totals, _) = Self::read(journal, &stream_of_tenant(&actor.tenant)).await?;
        Ok(quota.check_tenant(totals.sum() + more)?)
    }

    /// Updates the total of a user from the user's list, if the tenant then has no more than allowed: the check and the change are
    /// one write.
    pub(super) async fn take(
        journal: &dyn Journal,
        clock: &dyn Clock,
        actor: &Actor,
        quota: &FileQuota,
    ) -> Result<(), FileError> {
        Self::update(journal, clock, actor, |sum| Ok(quota.check_tenant(sum)?)).await
    }

    /// Updates the total of a user from the user's list.
    pub(super) async fn refresh(journal: &dyn Journal, clock: &dyn Clock, actor: &Actor) -> Result<(), SessionError> {
        Self::update(journal, clock, actor, |_| Ok(())).await
    }

    /// Updates the total of a user from the user's list, if `check` allows the new sum.
    async fn update<E: From<SessionError>>(
        journal: &dyn Journal,
        clock: &dyn Clock,
        actor: &Actor,
        check: impl Fn(Total) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let stream = stream_of_tenant(&actor.tenant);
        for _ in 0..ATTEMPTS {
            let (mut totals, end) = Self::read(journal, &stream).await?;
            // Read after the totals: if the list changes after this, so do they, which is a conflict.
            let (list, _) = FileList::read(journal, &stream_of(actor)).await?;
            if !totals.set(owner_hash(actor), list.total()) {
                return Ok(());
            }
            check(totals.sum())?;
            if replace(journal, &stream, end, totals.record(Timestamp::from(clock.now()))?).await? {
                return Ok(());
            }
        }
        Err(changes_too_often().into())
    }

    /// Forgets a user whose files are erased.
    pub(super) async fn forget(journal: &dyn Journal, actor: &Actor) -> Result<(), SessionError> {
        let stream = stream_of_tenant(&actor.tenant);
        for _ in 0..ATTEMPTS {
            let Some(last) = journal.read(&stream, 1).await?.pop() else {
                return Ok(());
            };
            let (at, end) = (last.record.at, last.seq);
            let mut totals = Self::of(last.record, &stream)?;
            if !totals.set(owner_hash(actor), Total::default()) {
                return Ok(());
            }
            if replace(journal, &stream, end, totals.record(at)?).await? {
                return Ok(());
            }
        }
        Err(changes_too_often())
    }

    async fn read(journal: &dyn Journal, stream: &str) -> Result<(Self, u64), SessionError> {
        match journal.read(stream, 1).await?.pop() {
            Some(last) => Ok((Self::of(last.record, stream)?, last.seq)),
            None => Ok((Self::default(), 0)),
        }
    }

    fn of(record: Record, stream: &str) -> Result<Self, SessionError> {
        serde_json::from_value(record.data).map_err(|error| {
            let message = format!("the record `{stream}` is damaged, or was written by a newer version");
            SessionError::with_source(SessionErrorKind::Serialization, message, error)
        })
    }

    fn record(&self, at: Timestamp) -> Result<Record, SessionError> {
        let data = serde_json::to_value(self).map_err(|error| {
            let message = "the totals of uploaded files cannot be written";
            SessionError::with_source(SessionErrorKind::Serialization, message, error)
        })?;
        Ok(Record::new(KIND, 1, at, data))
    }

    /// Sets the total of a user. Returns whether it has changed.
    fn set(&mut self, owner: String, total: Total) -> bool {
        match total == Total::default() {
            true => self.users.remove(&owner).is_some(),
            false => self.users.insert(owner, total) != Some(total),
        }
    }

    fn sum(&self) -> Total {
        self.users.values().copied().fold(Total::default(), Total::add_to)
    }
}

fn stream_of_tenant(tenant: &str) -> String {
    id::join(["server", "file_totals", tenant])
}

//! [`QuotaStore`]: the contract of stores of quotas.

use std::fmt::Debug;

use agcore_chat::Actor;
use async_trait::async_trait;

use super::{
    allowance::{Allowance, AllowanceKey, QuotaReport},
    amount::QuotaAmount,
    defaults::QuotaDefaults,
    limit::{Quota, QuotaScope},
    shortage::QuotaShortage,
    usage::QuotaUsage,
    window::QuotaWindow,
};
use crate::error::SessionError;

/// A store of quotas and of the amounts that were used of them, which many processes share.
///
/// The time is that of the store: the server's for PostgreSQL, and that of the clock with which the store was opened otherwise.
///
/// # How quotas are kept
///
/// What is used and what allowances hold never exceeds a quota together, unless the quota was lowered, a call used more than it
/// held, an allowance that has [expired](super::HELD_FOR) comes back, or the clock goes backwards. Each amount counts in the
/// windows in which it is reported. What is held counts in all of them, so a call that begins in one window and ends in another
/// fits both.
///
/// Everything that is reported counts in the windows of all lengths, for the tenant and for the user. So a quota that is set counts
/// what was reported before as well. Nothing is reported about runs to which no quota applied when they were started.
///
/// Users are those of one tenant: amounts of one tenant never change those of another.
///
/// # Cancel safety
///
/// Dropping the future of a write leaves open whether it took place, but it takes place completely or not at all. Amounts that are
/// reported are totals, so that a report can be repeated.
///
/// Every implementation must pass the suite `agcore_testkit::stores::quotas`.
#[async_trait]
pub trait QuotaStore: Debug + Send + Sync {
    /// Sets a quota of a tenant. It replaces that with the same scope and window; the amounts used stay.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if it is [not acceptable](Quota::check), or in another currency than
    /// the other quotas of the tenant, or if the tenant is not acceptable as an [id](mod@agcore_chat::id). When the storage fails.
    async fn set_quota(&self, tenant: &str, quota: &Quota) -> Result<(), SessionError>;

    /// Returns the quotas of a tenant, in the order of their scopes and windows, the shortest windows first.
    ///
    /// # Errors
    /// When the storage fails.
    async fn quotas(&self, tenant: &str) -> Result<Vec<Quota>, SessionError>;

    /// Deletes a quota of a tenant. Returns whether there was one.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete_quota(&self, tenant: &str, scope: &QuotaScope, window: QuotaWindow) -> Result<bool, SessionError>;

    /// Returns the quotas that apply to a user, with the amounts used, in the order of [`QuotaDefaults::with_own`].
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the quotas have several currencies. When the storage fails.
    async fn quota_usage(&self, owner: &Actor, defaults: &QuotaDefaults) -> Result<Vec<QuotaUsage>, SessionError>;

    /// Counts a run that is about to be started, if it fits all quotas and none of them is used up. Does nothing if no
    /// quota applies.
    ///
    /// # Errors
    /// The inner error is a shortage; then nothing was counted. [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the
    /// quotas have several currencies, or the owner is [not acceptable](Actor::check). When the storage fails.
    async fn count_run(
        &self,
        owner: &Actor,
        defaults: &QuotaDefaults,
    ) -> Result<Result<(), QuotaShortage>, SessionError>;

    /// Takes back a run that was [counted](Self::count_run) a moment ago, because it could not be started: a start that is
    /// refused for another reason must not use up a quota. Does nothing if no run was counted in the windows of now.
    ///
    /// # Errors
    /// When the storage fails.
    async fn uncount_run(&self, owner: &Actor) -> Result<(), SessionError>;

    /// Opens the allowance of a run, from which the process that works on the run draws. Returns `None` if no quota applies.
    ///
    /// If there is an allowance of the run, its process has lost the run or has died: the amount that it holds counts as used, and
    /// its next draw fails.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the quotas have several currencies, or the key is
    /// [not acceptable](AllowanceKey::check). When the storage fails.
    async fn open_allowance(
        &self,
        key: &AllowanceKey,
        defaults: &QuotaDefaults,
    ) -> Result<Option<Allowance>, SessionError>;

    /// Reports what was used, and holds the first of the wanted amounts that fits. Returns its index, or 0 if nothing is wanted.
    ///
    /// What the allowance held before is replaced by what calls in flight may use and the wanted amount. If none of the wanted
    /// amounts fits, the report counts as well, and only what calls in flight may use is held.
    ///
    /// # Errors
    /// The inner error is the shortage of the last of the wanted amounts.
    /// [`Fenced`](crate::SessionErrorKind::Fenced) if the allowance was closed, erased or opened again.
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the quotas have several currencies; then nothing was counted.
    /// When the storage fails.
    async fn draw(
        &self,
        allowance: &Allowance,
        report: &QuotaReport,
        wanted: &[QuotaAmount],
    ) -> Result<Result<usize, QuotaShortage>, SessionError>;

    /// Reports everything that was used since the allowance was opened, and closes the allowance. Does nothing if it was closed,
    /// erased or opened again.
    ///
    /// # Errors
    /// When the storage fails.
    async fn close_allowance(&self, allowance: &Allowance, spent: &QuotaAmount) -> Result<(), SessionError>;

    /// Deletes the quota of a user, what the user has used, and the user's allowances. What the tenant has used stays, including
    /// what the allowances hold.
    ///
    /// # Errors
    /// When the storage fails.
    async fn erase_quotas(&self, owner: &Actor) -> Result<(), SessionError>;
}

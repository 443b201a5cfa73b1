//! [`QuotaUsage`]: a quota with the amounts that are used and held.

use agcore_chat::Timestamp;

use super::{
    amount::{QuotaAmount, QuotaResource},
    limit::Quota,
    shortage::QuotaShortage,
};

/// A quota with the amounts that are used and held in the current window.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotaUsage {
    /// The quota.
    pub quota: Quota,
    /// The amount that is used.
    pub used: QuotaAmount,
    /// The amount that calls in flight may use.
    pub held: QuotaAmount,
    /// The end of the window.
    pub resets_at: Timestamp,
}

impl QuotaUsage {
    /// Creates the usage of a quota at a moment. `used` was counted in the window that began at `start`: if that is over, it counts
    /// nothing.
    pub fn new(quota: Quota, used: QuotaAmount, start: Timestamp, held: QuotaAmount, now: Timestamp) -> Self {
        let is_current = quota.window.start(now) <= start;
        Self {
            used: if is_current { used } else { QuotaAmount::new() },
            held,
            resets_at: quota.window.end(now),
            quota,
        }
    }

    /// Returns the shortage of a resource.
    fn shortage(&self, resource: QuotaResource, wanted: &QuotaAmount, now: Timestamp) -> QuotaShortage {
        let quota = &self.quota;
        QuotaShortage {
            scope: quota.scope.clone(),
            window: quota.window,
            resource,
            limit: quota.limit(resource).unwrap_or(u64::MAX),
            used: self.used.of(resource),
            held: self.held.of(resource),
            wanted: wanted.of(resource),
            currency: quota.currency().filter(|_| resource == QuotaResource::Money).cloned(),
            resets_at: self.resets_at,
            resets_in: self.resets_at.since(now),
        }
    }

    /// Checks that `more` fits.
    ///
    /// # Errors
    /// A [`QuotaShortage`] if it does not.
    pub fn admit(&self, more: &QuotaAmount, now: Timestamp) -> Result<(), QuotaShortage> {
        let mut taken = self.used;
        taken.add(&self.held);
        match self.quota.exceeded(&taken, more) {
            None => Ok(()),
            Some(resource) => Err(self.shortage(resource, more, now)),
        }
    }
}

/// Checks that a run may start. This is the rule of [`QuotaStore::count_run`](super::QuotaStore::count_run), for implementations.
///
/// # Errors
/// The shortage that lasts longest, of the quotas that another run does not fit or that are used up.
pub fn admit_run(quotas: &[QuotaUsage], now: Timestamp) -> Result<(), QuotaShortage> {
    let one = QuotaAmount::new().with_runs(1);
    let shortages = quotas.iter().filter_map(|usage| {
        if let Err(shortage) = usage.admit(&one, now) {
            return Some(shortage);
        }
        let is_used_up = |&resource: &QuotaResource| {
            let limit = usage.quota.limit(resource);
            limit.is_some_and(|limit| usage.used.of(resource) >= limit)
        };
        let resource = QuotaResource::ALL.into_iter().find(is_used_up)?;
        Some(usage.shortage(resource, &QuotaAmount::new(), now))
    });
    longest(shortages).map_or(Ok(()), Err)
}

/// Returns the shortage that lasts longest: until the end of its window, unless it may end with calls in flight.
fn longest(shortages: impl Iterator<Item = QuotaShortage>) -> Option<QuotaShortage> {
    // The first of several that are the same.
    let first = |longest: QuotaShortage, other: QuotaShortage| {
        let length = |shortage: &QuotaShortage| (!shortage.is_temporary(), shortage.resets_in);
        if length(&other) > length(&longest) {
            other
        } else {
            longest
        }
    };
    shortages.reduce(first)
}

/// Returns the index of the first of the wanted amounts that fits all quotas. This is the rule of
/// [`QuotaStore::draw`](super::QuotaStore::draw), for implementations.
///
/// # Errors
/// The shortage of the last of them; that which lasts longest if several quotas have too little left.
pub fn first_fitting(quotas: &[QuotaUsage], wanted: &[QuotaAmount], now: Timestamp) -> Result<usize, QuotaShortage> {
    let mut shortage = None;
    for (index, more) in wanted.iter().enumerate() {
        match longest(quotas.iter().filter_map(|quota| quota.admit(more, now).err())) {
            None => return Ok(index),
            found => shortage = found,
        }
    }
    shortage.map_or(Ok(0), Err)
}

//! [`ScheduleFilter`].

use agcore_chat::Text;

use crate::schedule::Schedule;

/// A selection of schedules of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduleFilter {
    /// The tenant.
    pub tenant: Text,
    /// Selects schedules of this user, in all lines of business.
    pub user: Option<Text>,
    /// Selects schedules after the one with this id, which need not exist.
    pub after: Option<String>,
    /// The maximum number of schedules.
    pub limit: Option<u64>,
}

impl ScheduleFilter {
    /// Selects all schedules of a tenant.
    pub fn new(tenant: impl Into<Text>) -> Self {
        Self {
            tenant: tenant.into(),
            user: None,
            after: None,
            limit: None,
        }
    }

    /// Selects schedules of a user.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<Text>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Selects schedules after the one with this id.
    #[must_use]
    pub fn after(mut self, id: impl Into<String>) -> Self {
        self.after = Some(id.into());
        self
    }

    /// Sets the maximum number of schedules.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns whether the schedule is selected, apart from the limit. For implementations of
    /// [`ScheduleStore`](crate::ScheduleStore).
    pub fn matches(&self, schedule: &Schedule) -> bool {
        schedule.owner.tenant == self.tenant
            && self.user.as_ref().is_none_or(|user| schedule.owner.user == *user)
            && self.after.as_ref().is_none_or(|after| schedule.id > *after)
    }
}

//! [`ScheduleStore`]: the contract of stores of schedules.

mod filter;
#[cfg(feature = "in-memory")]
mod in_memory;

use std::fmt::Debug;

use agcore_chat::{Actor, Text, Timestamp};
use async_trait::async_trait;

use crate::{
    error::ScheduleError,
    occurrence::Occurrence,
    schedule::{NewSchedule, Schedule, ScheduleChange},
};

pub use self::filter::ScheduleFilter;
#[cfg(feature = "in-memory")]
pub use self::in_memory::InMemorySchedules;

/// The number of occurrences of a schedule that stores keep: the last ones.
pub const KEPT_OCCURRENCES: u64 = 1000;

/// Schedules that are due, at the time of the store.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Due {
    /// The time of the store, for [`plan`](Schedule::plan).
    pub now: Timestamp,
    /// The schedules, the one that has been due for longest first.
    pub schedules: Vec<Schedule>,
    /// The schedules that are due and cannot be read, because they are damaged or were written by a newer version. They keep no
    /// others from being due.
    pub unreadable: Vec<DuePlace>,
    /// The place after which the next page begins. There is none on the last page.
    pub next: Option<DuePlace>,
}

/// A place among the schedules that are due.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct DuePlace {
    /// The time of the next occurrence.
    pub at: Timestamp,
    /// The tenant.
    pub tenant: Text,
    /// The id of the schedule.
    pub id: String,
}

impl DuePlace {
    /// Creates a place.
    pub fn new(at: Timestamp, tenant: impl Into<Text>, id: impl Into<String>) -> Self {
        Self {
            at,
            tenant: tenant.into(),
            id: id.into(),
        }
    }
}

impl Due {
    /// Creates the answer of a store to a request for a number of schedules, from those that it has found, each with its place.
    pub fn new(now: Timestamp, limit: u64, found: Vec<(DuePlace, Option<Schedule>)>) -> Self {
        let is_full = u64::try_from(found.len()).is_ok_and(|count| count >= limit);
        let mut due = Self {
            now,
            schedules: Vec::with_capacity(found.len()),
            unreadable: Vec::new(),
            next: found.last().filter(|_| is_full).map(|(place, _)| place.clone()),
        };
        for (place, schedule) in found {
            match schedule {
                Some(schedule) => due.schedules.push(schedule),
                None => due.unreadable.push(place),
            }
        }
        due
    }
}

/// A store of schedules, which many processes share.
///
/// The time is that of the store: the server's for PostgreSQL, and that of the clock with which the store was opened otherwise. So
/// the clocks of the machines need not agree.
///
/// # How each occurrence happens once
///
/// Each process does this again and again, and needs no lock:
///
/// 1. Ask for the schedules that are [`due`](Self::due).
/// 2. Find out the state of the [run that was started last](Schedule::last_run), and [plan](Schedule::plan).
/// 3. If the plan is empty, there is nothing to do for now.
/// 4. If the plan has a start, start the run with the id [`run_id`](Schedule::run_id), and take it as success if a run with this id
///    exists already. Cancel the run before if the plan demands it.
/// 5. [Record](Self::record) the occurrences with the new `next_at`.
///
/// The id of the run is what makes the occurrence happen once, and the revision makes it recorded once:
///
/// | what happens | outcome |
/// |---|---|
/// | the process dies before 4 | the schedule stays due, and another process starts the occurrence |
/// | the process dies between 4 and 5 | the schedule stays due; another process plans the same occurrence, finds its run, and records it. If it plans a later one, because [`CatchUp::Once`](crate::CatchUp::Once) takes the last, both runs were started, each for an occurrence of its own |
/// | two processes do this at the same time | both start the same run, once; one of them records it, and the other gets `false` |
/// | a person changes the schedule between 1 and 5 | `record` returns `false`. The run was started. If the change has left `next_at` alone, the occurrence is planned again, and its run is found, unless the change has moved it to another thread; else it is missing from the list |
/// | the answer to 5 is lost | the occurrence was recorded or not; asking for what is due again decides |
///
/// In the second and third case, the job of the run is the one that the process has read that was first.
///
/// Every implementation must pass the suite `agcore_testkit::stores::schedules`.
#[async_trait]
pub trait ScheduleStore: Debug + Send + Sync {
    /// Creates a schedule. Its first occurrence is the first one after the time of the store.
    ///
    /// # Errors
    /// [`AlreadyExists`](crate::ScheduleErrorKind::AlreadyExists) if the tenant has a schedule with this id.
    /// [`InvalidInput`](crate::ScheduleErrorKind::InvalidInput) if it is not acceptable. When the storage fails.
    async fn create(&self, schedule: NewSchedule) -> Result<Schedule, ScheduleError>;

    /// Returns a schedule.
    ///
    /// # Errors
    /// When the storage fails.
    async fn get(&self, tenant: &str, id: &str) -> Result<Option<Schedule>, ScheduleError>;

    /// Returns schedules in the order of their ids.
    ///
    /// # Errors
    /// When the storage fails.
    async fn list(&self, filter: &ScheduleFilter) -> Result<Vec<Schedule>, ScheduleError>;

    /// Changes a schedule whose `revision` was read. Returns the schedule as it is now.
    ///
    /// # Errors
    /// [`NotFound`](crate::ScheduleErrorKind::NotFound) if there is no such schedule.
    /// [`Conflict`](crate::ScheduleErrorKind::Conflict) if it has another revision.
    /// [`InvalidInput`](crate::ScheduleErrorKind::InvalidInput) if the change is not acceptable. When the storage fails.
    async fn change(
        &self,
        tenant: &str,
        id: &str,
        revision: u64,
        change: ScheduleChange,
    ) -> Result<Schedule, ScheduleError>;

    /// Deletes a schedule with its occurrences. Returns whether there was one. Runs that were started are not affected.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, ScheduleError>;

    /// Returns schedules of all tenants that are not paused and whose next occurrence is not later than the time of the store. The
    /// one that has been due for longest comes first. Nothing is changed, so that another process gets the same ones.
    ///
    /// To read all of them page by page, pass [`next`](Due::next) of the page before. Schedules whose occurrences
    /// [wait](crate::Plan::waits) stay due, and would keep others from being seen otherwise.
    ///
    /// # Errors
    /// When the storage fails.
    async fn due(&self, after: Option<&DuePlace>, limit: u64) -> Result<Due, ScheduleError>;

    /// Records occurrences of a schedule as it was read, with the time of its next occurrence. Returns `false` without a change if
    /// the schedule has another revision by now, or does not exist any more.
    ///
    /// [`last`](Schedule::last) and [`last_run`](Schedule::last_run) follow from the occurrences. An occurrence that was recorded
    /// already stays as it is. The store keeps the last [`KEPT_OCCURRENCES`].
    ///
    /// # Errors
    /// [`InvalidInput`](crate::ScheduleErrorKind::InvalidInput) if an occurrence is not acceptable. When the storage fails.
    async fn record(
        &self,
        schedule: &Schedule,
        occurrences: Vec<Occurrence>,
        next_at: Option<Timestamp>,
    ) -> Result<bool, ScheduleError>;

    /// Returns the last occurrences of a schedule, newest first, or none if there is no such schedule.
    ///
    /// # Errors
    /// When the storage fails.
    async fn occurrences(&self, tenant: &str, id: &str, limit: u64) -> Result<Vec<Occurrence>, ScheduleError>;

    /// Deletes all schedules of a user with their occurrences, in all lines of business. Returns the number of schedules.
    ///
    /// # Errors
    /// When the storage fails.
    async fn erase(&self, owner: &Actor) -> Result<u64, ScheduleError>;
}

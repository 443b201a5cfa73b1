//! [`InMemorySchedules`].

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::{Actor, Clock, Timestamp};
use async_trait::async_trait;

use super::{Due, DuePlace, KEPT_OCCURRENCES, ScheduleFilter, ScheduleStore};
use crate::{
    error::ScheduleError,
    occurrence::Occurrence,
    schedule::{NewSchedule, Schedule, ScheduleChange},
};

/// A [`ScheduleStore`] in the memory of the process: for tests, for short-lived programs, and as the reference for other stores.
/// Nothing survives the process.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::SystemClock;
/// use agcore_schedule::{InMemorySchedules, NewSchedule, ScheduleStore, Timing};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = InMemorySchedules::new(Arc::new(SystemClock::new()));
/// store.create(NewSchedule::new("report", Timing::cron("0 9 * * 1-5"), json!({"prompt": "What is new?"}))).await?;
/// assert!(store.due(None, 10).await?.schedules.is_empty());
/// # Ok::<(), agcore_schedule::ScheduleError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct InMemorySchedules {
    clock: Arc<dyn Clock>,
    stored: Mutex<BTreeMap<Key, Stored>>,
}

/// The tenant and the id of a schedule.
type Key = (String, String);

#[derive(Debug)]
struct Stored {
    schedule: Schedule,
    occurrences: BTreeMap<Timestamp, Occurrence>,
}

impl InMemorySchedules {
    /// Creates an empty store.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            stored: Mutex::default(),
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.now().into()
    }

    fn stored(&self) -> MutexGuard<'_, BTreeMap<Key, Stored>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ScheduleStore for InMemorySchedules {
    async fn create(&self, schedule: NewSchedule) -> Result<Schedule, ScheduleError> {
        let mut stored = self.stored();
        let schedule = schedule.store(self.now())?;
        match stored.entry(key(schedule.tenant(), &schedule.id)) {
            Entry::Occupied(_) => Err(ScheduleError::already_exists(&schedule.id)),
            Entry::Vacant(place) => {
                place.insert(Stored {
                    schedule: schedule.clone(),
                    occurrences: BTreeMap::new(),
                });
                Ok(schedule)
            }
        }
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<Schedule>, ScheduleError> {
        let found = self.stored().get(&key(tenant, id)).map(|found| found.schedule.clone());
        Ok(found)
    }

    async fn list(&self, filter: &ScheduleFilter) -> Result<Vec<Schedule>, ScheduleError> {
        let stored = self.stored();
        let schedules = stored.values().map(|stored| &stored.schedule);
        let selected = schedules.filter(|schedule| filter.matches(schedule));
        Ok(selected.take(limit(filter.limit)).cloned().collect())
    }

    async fn change(
        &self,
        tenant: &str,
        id: &str,
        revision: u64,
        change: ScheduleChange,
    ) -> Result<Schedule, ScheduleError> {
        let mut stored = self.stored();
        let found = stored.get_mut(&key(tenant, id));
        let schedule = &mut found.ok_or_else(|| ScheduleError::not_found(id))?.schedule;
        schedule.check_revision(revision)?;
        *schedule = change.apply(schedule, self.now())?;
        Ok(schedule.clone())
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, ScheduleError> {
        Ok(self.stored().remove(&key(tenant, id)).is_some())
    }

    async fn due(&self, after: Option<&DuePlace>, count: u64) -> Result<Due, ScheduleError> {
        let (stored, now) = (self.stored(), self.now());
        let schedules = stored.values().map(|stored| &stored.schedule);
        let places = schedules.filter_map(|schedule| {
            let at = schedule.next_at.filter(|at| !schedule.is_paused && *at <= now)?;
            Some((DuePlace::new(at, schedule.tenant(), &*schedule.id), schedule))
        });
        let mut due: Vec<(DuePlace, &Schedule)> = places
            .filter(|(place, _)| after.is_none_or(|after| place > after))
            .collect();
        due.sort_by(|(one, _), (other, _)| one.cmp(other));
        let found = due.into_iter().take(limit(Some(count)));
        let found = found.map(|(place, schedule)| (place, Some(schedule.clone())));
        Ok(Due::new(now, count, found.collect()))
    }

    async fn record(
        &self,
        schedule: &Schedule,
        occurrences: Vec<Occurrence>,
        next_at: Option<Timestamp>,
    ) -> Result<bool, ScheduleError> {
        occurrences.iter().try_for_each(Occurrence::check)?;
        let mut stored = self.stored();
        let found = stored.get_mut(&key(schedule.tenant(), &schedule.id));
        let Some(found) = found.filter(|found| found.schedule.is_same(schedule)) else {
            return Ok(false);
        };
        found.schedule = found.schedule.recorded(&occurrences, next_at);
        for occurrence in occurrences {
            found.occurrences.entry(occurrence.at).or_insert(occurrence);
        }
        while found.occurrences.len() as u64 > KEPT_OCCURRENCES {
            found.occurrences.pop_first();
        }
        Ok(true)
    }

    async fn occurrences(&self, tenant: &str, id: &str, count: u64) -> Result<Vec<Occurrence>, ScheduleError> {
        let stored = self.stored();
        let found = stored.get(&key(tenant, id)).into_iter();
        let newest = found.flat_map(|found| found.occurrences.values().rev());
        Ok(newest.take(limit(Some(count))).cloned().collect())
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, ScheduleError> {
        let mut stored = self.stored();
        let before = stored.len();
        stored.retain(|_, stored| {
            let found = &stored.schedule.owner;
            (&found.tenant, &found.user) != (&owner.tenant, &owner.user)
        });
        Ok((before - stored.len()) as u64)
    }
}

fn key(tenant: &str, id: &str) -> Key {
    (tenant.to_owned(), id.to_owned())
}

fn limit(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

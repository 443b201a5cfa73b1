//! [`Flawed`]: a store of schedules with a flaw.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_schedule::{
    Actor, Clock, Due, DuePlace, InMemorySchedules, NewSchedule, Occurrence, Outcome, Schedule, ScheduleChange,
    ScheduleError, ScheduleErrorKind, ScheduleFilter, ScheduleStore, SkipReason, Timestamp, Timing,
};
use async_trait::async_trait;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    None,
    TitlesAreLost,
    LinesAreLost,
    SchedulesAreReplaced,
    BadOnesAreRepaired,
    TenantsAreMixed,
    TextsEndAtNul,
    LimitsAreIgnored,
    UsersAreIgnored,
    PagesRepeat,
    TitlesAreNotChanged,
    JobsAreForgotten,
    EveryChangeStartsAnew,
    RevisionsAreIgnored,
    TimingsAreNotChanged,
    PausesAreIgnored,
    PausedOnesAreDue,
    NothingIsResumed,
    OccurrencesSurvive,
    LinesSurvive,
    TenantsAreErased,
    DueOnesAreSortedById,
    EverythingIsDue,
    TheNextIsKept,
    RunsAreForgotten,
    OldestComeFirst,
    BadEntriesAreDropped,
    StaleRecordsAreWritten,
    NamesakesAreTheSame,
    OccurrencesAreReplaced,
    AllOccurrencesAreKept,
    EveryRecordSucceeds,
    RecordsAreLost,
}

/// A store that behaves like [`InMemorySchedules`], except for its flaw.
#[derive(Debug)]
pub(super) struct Flawed {
    flaw: Flaw,
    store: InMemorySchedules,
    /// All occurrences that were ever recorded, by the tenant and the id of the schedule.
    recorded: Mutex<Recorded>,
}

type Recorded = BTreeMap<(String, String), BTreeMap<Timestamp, Occurrence>>;

impl Flawed {
    pub(super) fn new(flaw: Flaw, clock: Arc<dyn Clock>) -> Self {
        Self {
            flaw,
            store: InMemorySchedules::new(clock),
            recorded: Mutex::default(),
        }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    fn tenant<'t>(&self, tenant: &'t str) -> &'t str {
        if self.has(Flaw::TenantsAreMixed) { "all" } else { tenant }
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn all(&self, tenant: &str) -> Vec<Schedule> {
        self.store.list(&ScheduleFilter::new(tenant)).await.unwrap()
    }
}

#[async_trait]
impl ScheduleStore for Flawed {
    async fn create(&self, mut new: NewSchedule) -> Result<Schedule, ScheduleError> {
        let tenant = self.tenant(&new.owner.tenant).to_owned();
        new.owner.tenant = tenant.into();
        match self.flaw {
            Flaw::TitlesAreLost => new.title = None,
            Flaw::LinesAreLost => new.owner.line = None,
            Flaw::TextsEndAtNul => {
                new.title = new
                    .title
                    .map(|title| title.split('\0').next().unwrap_or_default().to_owned());
            }
            Flaw::SchedulesAreReplaced => drop(self.store.delete(&new.owner.tenant, &new.id).await),
            _ => {}
        }
        let created = self.store.create(new).await;
        match created {
            Err(error) if self.has(Flaw::BadOnesAreRepaired) && error.kind() == ScheduleErrorKind::InvalidInput => {
                let timing = Timing::cron("* * * * *");
                self.store
                    .create(NewSchedule::new("repaired", timing, Value::Null))
                    .await
            }
            created => created,
        }
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<Schedule>, ScheduleError> {
        self.store.get(self.tenant(tenant), id).await
    }

    async fn list(&self, filter: &ScheduleFilter) -> Result<Vec<Schedule>, ScheduleError> {
        let mut filter = filter.clone();
        match self.flaw {
            Flaw::LimitsAreIgnored => filter.limit = None,
            Flaw::UsersAreIgnored => filter.user = None,
            Flaw::PagesRepeat => filter.after = None,
            _ => {}
        }
        self.store.list(&filter).await
    }

    async fn change(
        &self,
        tenant: &str,
        id: &str,
        mut revision: u64,
        mut change: ScheduleChange,
    ) -> Result<Schedule, ScheduleError> {
        let found = self.store.get(tenant, id).await?;
        match (self.flaw, found) {
            (Flaw::TitlesAreNotChanged, _) => change.title = None,
            (Flaw::JobsAreForgotten, _) => change.job = change.job.or(Some(Value::Null)),
            (Flaw::EveryChangeStartsAnew, _) => {
                change.timing = change.timing.or(Some(Timing::every(Duration::from_secs(3600))));
            }
            (Flaw::TimingsAreNotChanged, _) => change.timing = None,
            (Flaw::PausesAreIgnored, _) => change.is_paused = None,
            (Flaw::NothingIsResumed, _) => change.is_paused = change.is_paused.filter(|paused| *paused),
            (Flaw::RevisionsAreIgnored, Some(found)) => revision = found.revision,
            _ => {}
        }
        self.store.change(tenant, id, revision, change).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, ScheduleError> {
        self.store.delete(self.tenant(tenant), id).await
    }

    async fn due(&self, after: Option<&DuePlace>, limit: u64) -> Result<Due, ScheduleError> {
        let after = after.filter(|_| !self.has(Flaw::PagesRepeat));
        let limit = if self.has(Flaw::LimitsAreIgnored) {
            u64::MAX
        } else {
            limit
        };
        let mut due = self.store.due(after, limit).await?;
        match self.flaw {
            Flaw::DueOnesAreSortedById => due.schedules.sort_by(|one, other| one.id.cmp(&other.id)),
            Flaw::EverythingIsDue => due.schedules = self.all("acme").await,
            Flaw::PausedOnesAreDue => {
                let paused = self.all("acme").await.into_iter();
                due.schedules.extend(paused.filter(|schedule| schedule.is_paused));
            }
            _ => {}
        }
        Ok(due)
    }

    async fn record(
        &self,
        schedule: &Schedule,
        mut occurrences: Vec<Occurrence>,
        mut next_at: Option<Timestamp>,
    ) -> Result<bool, ScheduleError> {
        let (tenant, id) = (schedule.tenant(), &*schedule.id);
        let (mut schedule, found) = (schedule.clone(), self.store.get(tenant, id).await?);
        match (self.flaw, found) {
            (Flaw::StaleRecordsAreWritten, Some(found)) => schedule = found,
            (Flaw::NamesakesAreTheSame, Some(found)) => schedule.created_at = found.created_at,
            (Flaw::TheNextIsKept, _) => next_at = next_at.or(schedule.next_at),
            (Flaw::RunsAreForgotten, _) => {
                let skipped = |entry: &Occurrence| entry.outcome == Outcome::Skipped(SkipReason::Overlap);
                if occurrences.iter().all(skipped) {
                    occurrences.push(Occurrence::started(Timestamp::from_millis(0), None));
                }
                occurrences.iter_mut().for_each(|entry| entry.run = None);
            }
            (Flaw::BadEntriesAreDropped, _) => occurrences.retain(|entry| entry.count > 0),
            (Flaw::RecordsAreLost, _) => return Ok(true),
            _ => {}
        }
        let key = (schedule.tenant().to_owned(), schedule.id.clone());
        let entries = occurrences.iter().map(|entry| (entry.at, entry.clone()));
        self.recorded().entry(key).or_default().extend(entries);
        let recorded = self.store.record(&schedule, occurrences, next_at).await?;
        Ok(recorded || self.has(Flaw::EveryRecordSucceeds))
    }

    async fn occurrences(&self, tenant: &str, id: &str, limit: u64) -> Result<Vec<Occurrence>, ScheduleError> {
        let mut found = self.store.occurrences(self.tenant(tenant), id, limit).await?;
        match self.flaw {
            Flaw::OldestComeFirst => found.reverse(),
            Flaw::OccurrencesSurvive | Flaw::OccurrencesAreReplaced | Flaw::AllOccurrencesAreKept => {
                let recorded = self.recorded();
                let all = recorded.get(&(tenant.to_owned(), id.to_owned())).into_iter();
                found = all.flat_map(|all| all.values().rev().cloned()).collect();
            }
            _ => {}
        }
        Ok(found)
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, ScheduleError> {
        let is_erased = |schedule: &Schedule| match self.flaw {
            Flaw::LinesSurvive => schedule.owner == *owner,
            _ => true,
        };
        if !matches!(self.flaw, Flaw::LinesSurvive | Flaw::TenantsAreErased) {
            return self.store.erase(owner).await;
        }
        let mut erased = 0;
        for schedule in self
            .all(&owner.tenant)
            .await
            .iter()
            .filter(|schedule| is_erased(schedule))
        {
            erased += u64::from(self.store.delete(&owner.tenant, &schedule.id).await?);
        }
        Ok(erased)
    }
}

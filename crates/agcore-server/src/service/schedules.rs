//! The schedules of users: their access to them, and the start of runs when they are due.

mod due;

use agcore_agui::RunAgentInput;
use agcore_chat::{Actor, Timestamp, id};
use agcore_schedule::{
    NewSchedule, Occurrence, Schedule, ScheduleChange, ScheduleError, ScheduleErrorKind, ScheduleFilter,
};
use serde_json::{Map, Value, json};

use super::{
    agents::Work,
    owned::OwnedRun,
    start::{NewRun, request::agent_named},
    state::{Schedules, Service, check_id},
};
use crate::{
    flows::FlowInput,
    problem::{Problem, ProblemCode},
};

/// The factor by which a user may have more schedules if these are over.
const OVER: u64 = 10;

/// The number of attempts to change a schedule whose revision the client does not know.
const ATTEMPTS: u32 = 5;

/// A schedule of the actor who has asked for it.
pub(crate) struct OwnedSchedule<'a> {
    service: &'a Service,
    schedules: &'a Schedules,
    schedule: Schedule,
}

impl Service {
    /// # Errors
    /// `not_found` if the server keeps no schedules.
    fn kept_schedules(&self) -> Result<&Schedules, Problem> {
        self.schedules
            .as_ref()
            .ok_or_else(|| Problem::new(ProblemCode::NotFound, "this server keeps no schedules"))
    }

    /// Returns a schedule of the actor.
    ///
    /// # Errors
    /// `not_found` if there is none, also if the schedule belongs to someone else.
    pub(crate) async fn own_schedule(&self, actor: &Actor, id: &str) -> Result<OwnedSchedule<'_>, Problem> {
        let found = self.tenant_schedule(&actor.tenant, id).await?;
        match found.schedule.owner == *actor {
            true => Ok(found),
            false => Err(Problem::unknown("schedule")),
        }
    }

    /// Returns a schedule of any user of a tenant, for its administrators.
    ///
    /// # Errors
    /// `not_found` if there is none.
    pub(crate) async fn tenant_schedule(&self, tenant: &str, id: &str) -> Result<OwnedSchedule<'_>, Problem> {
        let schedules = self.kept_schedules()?;
        check_id("schedule", id).map_err(|_| Problem::unknown("schedule"))?;
        let found = schedules.store.get(tenant, id).await?;
        found
            .map(|schedule| self.owned(schedules, schedule))
            .ok_or_else(|| Problem::unknown("schedule"))
    }

    /// Returns schedules of the actor after one, in the order of their ids, and the id after which the next page begins. A page may
    /// have fewer than the limit, because the user may have schedules in other lines of business.
    ///
    /// # Errors
    /// When the server keeps no schedules, or the store fails.
    pub(crate) async fn own_schedules(
        &self,
        actor: &Actor,
        after: Option<String>,
        limit: u64,
    ) -> Result<(Vec<OwnedSchedule<'_>>, Option<String>), Problem> {
        let user = Some(actor.user.to_string());
        let (mut found, next) = self.tenant_schedules(&actor.tenant, user, after, limit).await?;
        found.retain(|found| found.schedule.owner == *actor);
        Ok((found, next))
    }

    /// Returns schedules of a tenant, or of one of its users, after one, in the order of their ids, and the id after which the next
    /// page begins.
    ///
    /// # Errors
    /// When the server keeps no schedules, or the store fails.
    pub(crate) async fn tenant_schedules(
        &self,
        tenant: &str,
        user: Option<String>,
        after: Option<String>,
        limit: u64,
    ) -> Result<(Vec<OwnedSchedule<'_>>, Option<String>), Problem> {
        let schedules = self.kept_schedules()?;
        let mut filter = ScheduleFilter::new(tenant).with_limit(limit);
        filter.user = user.map(Into::into);
        filter.after = after;
        let found = schedules.store.list(&filter).await?;
        let is_full = found.len() as u64 >= limit;
        let next = found.last().filter(|_| is_full).map(|schedule| schedule.id.clone());
        let found = found.into_iter().map(|schedule| self.owned(schedules, schedule));
        Ok((found.collect(), next))
    }

    /// Creates a schedule of the actor, if it has not as many as allowed.
    ///
    /// # Errors
    /// `invalid_request` if the schedule or its job is not acceptable, and `too_many_schedules`.
    pub(crate) async fn create_schedule(
        &self,
        actor: &Actor,
        schedule: NewSchedule,
    ) -> Result<OwnedSchedule<'_>, Problem> {
        let schedules = self.kept_schedules()?;
        self.check_job(actor, &schedule.job).await?;
        // No id of a thread has control characters.
        let name = format!("\0schedules\0{}", actor.user);
        let lock = self.admission.of(actor, &name);
        let _guard = lock.lock().await;
        let _hold = self.admission_to(actor, &id::join(["schedules", &actor.user])).await?;
        let limit = self.limits.max_schedules_per_user as u64;
        let filter = ScheduleFilter::new(actor.tenant.clone()).with_user(actor.user.clone());
        let known = schedules.store.list(&filter.with_limit(limit * OVER)).await?;
        let open = known
            .iter()
            .filter(|schedule| schedule.is_paused || schedule.next_at.is_some());
        if open.count() as u64 >= limit || known.len() as u64 >= limit * OVER {
            let detail = format!("there are as many schedules as allowed, which is {limit}; delete one of them");
            return Err(Problem::new(ProblemCode::TooManySchedules, detail));
        }
        let created = schedules.store.create(schedule.with_owner(actor.clone())).await?;
        schedules.changed.notify_one();
        Ok(self.owned(schedules, created))
    }

    fn owned<'a>(&'a self, schedules: &'a Schedules, schedule: Schedule) -> OwnedSchedule<'a> {
        OwnedSchedule {
            service: self,
            schedules,
            schedule,
        }
    }

    /// Checks that a job can be started, to the extent that this is known before its time.
    ///
    /// # Errors
    /// Those of a start.
    async fn check_job(&self, actor: &Actor, job: &Value) -> Result<(), Problem> {
        let new = self.run_of(actor, job, "schedule", "schedule").await?;
        let entry = self.agents.choose(new.agent.as_deref())?;
        if let (Work::Flow(flow), Some(message)) = (&entry.work, &new.input.message) {
            FlowInput::new(flow.file(), message.own_text().into_owned(), &new.values)?;
        }
        Ok(())
    }

    /// Returns the run that a job starts, in its thread or in this one.
    async fn run_of(&self, actor: &Actor, job: &Value, thread: &str, run: &str) -> Result<NewRun, Problem> {
        let invalid = || Problem::invalid("`input` must be an object with the members of the input of a run");
        let mut members: Map<String, Value> = job.as_object().cloned().ok_or_else(invalid)?;
        if members.contains_key("runId") || members.contains_key("resume") {
            let detail =
                "`input` starts runs with ids of their own and answers no questions; remove `runId` and `resume`";
            return Err(Problem::invalid(detail));
        }
        if members
            .get("tools")
            .is_some_and(|tools| tools.as_array().is_none_or(|tools| !tools.is_empty()))
        {
            let detail = "`input` starts runs without a front end that could run tools; remove `tools`";
            return Err(Problem::invalid(detail));
        }
        if members
            .get("forwardedProps")
            .is_some_and(|props| !props["stateVersion"].is_null())
        {
            let detail =
                "`input` is sent again with each run, when the state has changed; remove `forwardedProps.stateVersion`";
            return Err(Problem::invalid(detail));
        }
        if members.get("threadId").is_none_or(Value::is_null) {
            members.insert("threadId".to_owned(), json!(thread));
        }
        members.insert("runId".to_owned(), json!(run));
        let input = RunAgentInput::from_value(Value::Object(members), &self.input_limits())
            .map_err(|error| Problem::invalid(format!("`input` is not that of a run: {error}")))?;
        let agent = agent_named(&input)?;
        let mut new = self.new_run(actor, agent, &input).await?;
        let entry = self.agents.choose(new.agent.as_deref())?;
        if entry.is_flow() {
            // There is no user who waits for the answer.
            new.values.job.get_or_insert_with(|| json!({}));
        }
        Ok(new)
    }
}

impl OwnedSchedule<'_> {
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Changes the schedule, if it still has the revision that the client knows.
    ///
    /// # Errors
    /// `invalid_request`, or `schedule_changed` if it has another revision.
    pub(crate) async fn change(&mut self, revision: Option<u64>, change: ScheduleChange) -> Result<(), Problem> {
        if let Some(job) = &change.job {
            self.service.check_job(&self.schedule.owner, job).await?;
        }
        let store = &self.schedules.store;
        let mut attempt = 1;
        loop {
            let schedule = &self.schedule;
            let known = revision.unwrap_or(schedule.revision);
            let changed = store.change(schedule.tenant(), &schedule.id, known, change.clone());
            match changed.await {
                Ok(changed) => self.schedule = changed,
                // An occurrence was recorded meanwhile.
                Err(error)
                    if matches!(error.kind(), ScheduleErrorKind::Conflict { .. })
                        && revision.is_none()
                        && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                    let found = store.get(schedule.tenant(), &schedule.id).await?;
                    self.schedule = found.ok_or_else(|| Problem::unknown("schedule"))?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            self.schedules.changed.notify_one();
            return Ok(());
        }
    }

    /// Deletes the schedule. Runs that it has started continue.
    ///
    /// # Errors
    /// `not_found` if it was deleted meanwhile.
    pub(crate) async fn delete(self) -> Result<(), Problem> {
        let schedule = &self.schedule;
        match self.schedules.store.delete(schedule.tenant(), &schedule.id).await? {
            true => Ok(()),
            false => Err(Problem::unknown("schedule")),
        }
    }

    /// Returns what has become of the last occurrences, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn occurrences(&self, limit: u64) -> Result<Vec<Occurrence>, Problem> {
        let schedule = &self.schedule;
        let found = self.schedules.store.occurrences(schedule.tenant(), &schedule.id, limit);
        Ok(found.await?)
    }

    /// Starts the job now, besides its occurrences.
    ///
    /// # Errors
    /// Those of a start.
    pub(crate) async fn run_now(&self) -> Result<OwnedRun, Problem> {
        let (service, schedule) = (self.service, &self.schedule);
        let run = service.new_id("run");
        let new = service.run_of(&schedule.owner, &schedule.job, &run, &run).await?;
        service.start(new).await
    }
}

/// Returns the thread in which a schedule starts the run of a time. Without one in the job, it is known to the user only.
fn thread_of(schedule: &Schedule, at: Timestamp) -> String {
    let named = schedule.job.get("threadId").and_then(|thread| thread.as_str());
    match named {
        Some(thread) => thread.to_owned(),
        None => format!("{}-{:x}", schedule.run_id(at), schedule.created_at.as_millis()),
    }
}

impl From<ScheduleError> for Problem {
    fn from(error: ScheduleError) -> Self {
        match error.kind() {
            ScheduleErrorKind::NotFound => Self::unknown("schedule"),
            ScheduleErrorKind::InvalidInput => Self::invalid(error.message()),
            ScheduleErrorKind::Conflict { .. } => Self::new(
                ProblemCode::ScheduleChanged,
                "the schedule has changed since it was read; read it again and repeat the change",
            ),
            ScheduleErrorKind::Unavailable | ScheduleErrorKind::Storage => {
                tracing::warn!(?error, "the store of schedules failed");
                Self::new(
                    ProblemCode::StoreUnavailable,
                    "the database cannot be used at the moment; try again later",
                )
            }
            _ => {
                tracing::error!(?error, "a request about a schedule failed");
                Self::new(
                    ProblemCode::Internal,
                    "the request failed; the log of the server has the reason",
                )
            }
        }
    }
}

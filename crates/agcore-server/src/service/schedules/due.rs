//! Starting runs when their schedules are due.
//!
//! Each process that executes runs does this, and none has to know of the others: an occurrence has one run, whose id follows from
//! its time, and a run that exists is not started again.

use std::{
    collections::HashSet,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_chat::{Actor, Timestamp};
use agcore_schedule::{Due, Occurrence, Overlap, Plan, Previous, RunRef, Schedule, SkipReason};
use agcore_session::{Run, RunFilter};
use futures_util::{FutureExt, StreamExt, stream};

use super::thread_of;
use crate::{
    problem::{Problem, ProblemCode},
    service::{
        owned::OwnedThread,
        state::{Schedules, Service},
    },
    settings::BusyPolicy,
};

/// The pause between two checks which schedules are due.
const PAUSE: Duration = Duration::from_secs(5);

/// The pause after a check, also if schedules are changed meanwhile.
const REST: Duration = Duration::from_millis(200);

/// The number of schedules that are read at once.
const PAGE: u64 = 200;

/// The number of schedules that a process attends to at a time.
const AT_ONCE: usize = 8;

/// The time for which a start that was refused is tried again: a process that has just been replaced may not know an agent yet.
const PATIENCE: Duration = Duration::from_secs(60);

/// The result of the start of an occurrence.
enum Start {
    Started(RunRef),
    /// It cannot be started, now or later.
    Skipped(SkipReason),
    /// Another attempt may succeed.
    Later,
}

/// The users whose limits allow no further run, as one check has found out, so that it does not try their other schedules.
#[derive(Default)]
struct Full(Mutex<HashSet<Actor>>);

impl Full {
    fn owners(&self) -> MutexGuard<'_, HashSet<Actor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Starts runs when their schedules are due, until the server stops.
    pub(crate) async fn keep_schedules(self: Arc<Self>) {
        let Some(schedules) = &self.schedules else { return };
        loop {
            if let Err(problem) = self.start_due(schedules).await {
                tracing::warn!(%problem, "the schedules cannot be read at the moment");
            }
            let rested = async {
                self.clock.sleep(REST).await;
                tokio::select! {
                    () = schedules.changed.notified() => {}
                    () = self.clock.sleep(PAUSE) => {}
                }
            };
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.parking.cancelled() => return,
                () = rested => {}
            }
        }
    }

    /// Attends to all schedules that are due.
    async fn start_due(self: &Arc<Self>, schedules: &Schedules) -> Result<(), Problem> {
        let (full, mut after) = (Full::default(), None);
        loop {
            let due = schedules.store.due(after.as_ref(), PAGE).await?;
            for place in &due.unreadable {
                tracing::error!(schedule = place.id, tenant = %place.tenant, "a schedule cannot be read");
            }
            let Due {
                now,
                schedules: found,
                next,
                ..
            } = due;
            let attended = stream::iter(&found).for_each_concurrent(AT_ONCE, |schedule| {
                let attending = AssertUnwindSafe(self.attend(schedules, schedule, now, &full)).catch_unwind();
                async move {
                    match attending.await {
                        Ok(Ok(())) => {}
                        Ok(Err(problem)) => {
                            tracing::warn!(schedule = schedule.id, %problem, "a schedule is attended to later");
                        }
                        // The hook of panics has reported it. Others continue.
                        Err(_) => tracing::error!(schedule = schedule.id, "a schedule was not attended to"),
                    }
                }
            });
            attended.await;
            match next {
                Some(next) if !self.stopping.is_cancelled() => after = Some(next),
                _ => return Ok(()),
            }
        }
    }

    /// Does what a schedule demands at a time, and records it.
    async fn attend(
        self: &Arc<Self>,
        schedules: &Schedules,
        schedule: &Schedule,
        now: Timestamp,
        full: &Full,
    ) -> Result<(), Problem> {
        if self.stopping.is_cancelled() || full.owners().contains(&schedule.owner) {
            return Ok(());
        }
        let plan = schedule.plan(now, self.previous(schedule).await?);
        if plan.is_empty() {
            return Ok(());
        }
        // It may have been changed or deleted since the page was read.
        let current = schedules.store.get(schedule.tenant(), &schedule.id).await?;
        if current.is_none_or(|current| !current.is_same(schedule)) {
            return Ok(());
        }
        let mut occurrences: Vec<Occurrence> = plan.skipped.iter().cloned().collect();
        let mut started = None;
        if let Some(at) = plan.start {
            occurrences.push(match self.start_occurrence(schedule, (at, now), &plan, full).await? {
                Start::Started(run) => Occurrence::started(at, started.insert(run).clone().into()),
                Start::Skipped(reason) => Occurrence::skipped(at, reason, 1),
                Start::Later => return Ok(()),
            });
        }
        let is_recorded = schedules.store.record(schedule, occurrences, plan.next_at).await?;
        if let (false, Some(run)) = (is_recorded, started) {
            self.cancel_if_deleted(schedules, schedule, &run).await?;
        }
        Ok(())
    }

    /// Cancels a run whose schedule was deleted while it was started, such as with everything that belongs to the user.
    async fn cancel_if_deleted(
        self: &Arc<Self>,
        schedules: &Schedules,
        schedule: &Schedule,
        run: &RunRef,
    ) -> Result<(), Problem> {
        if schedules.store.get(schedule.tenant(), &schedule.id).await?.is_none() {
            self.cancel(&schedule.owner, &run.thread, &run.run).await?;
        }
        Ok(())
    }

    /// Returns the state of the run that a schedule has started last.
    async fn previous(&self, schedule: &Schedule) -> Result<Previous, Problem> {
        let Some(last) = &schedule.last_run else {
            return Ok(Previous::None);
        };
        Ok(match self.run_in(schedule, &last.thread, &last.run).await? {
            None => Previous::None,
            Some(run) if run.status.is_over() => Previous::Over(run.updated_at),
            Some(_) => Previous::Open,
        })
    }

    async fn start_occurrence(
        self: &Arc<Self>,
        schedule: &Schedule,
        (at, now): (Timestamp, Timestamp),
        plan: &Plan,
        full: &Full,
    ) -> Result<Start, Problem> {
        let reference = RunRef::new(thread_of(schedule, at), schedule.run_id(at));
        // Before anything of the job is read, which may have changed since the run was started.
        let is_started = self
            .run_in(schedule, &reference.thread, &reference.run)
            .await?
            .is_some();
        if !is_started {
            // Another process may have started the run since it was looked for.
            if schedule.overlap == Overlap::Skip && self.is_busy_besides(schedule, &reference).await? {
                return Ok(Start::Skipped(SkipReason::Overlap));
            }
            if let Err(problem) = self.start_run(schedule, &reference).await {
                return self.refused(schedule, (at, now), plan, full, &problem).await;
            }
        }
        if plan.cancels_previous {
            self.cancel_previous(schedule, &reference.run).await?;
        }
        Ok(Start::Started(reference))
    }

    /// Starts the run of an occurrence.
    async fn start_run(&self, schedule: &Schedule, reference: &RunRef) -> Result<(), Problem> {
        let job = self.run_of(&schedule.owner, &schedule.job, &reference.thread, &reference.run);
        let mut new = job.await?;
        // For a thread that others use as well.
        new.input.busy = Some(match schedule.overlap {
            Overlap::Queue => BusyPolicy::Queue,
            Overlap::Interrupt => BusyPolicy::Interrupt,
            _ => BusyPolicy::Refuse,
        });
        self.start(new).await.map(drop)
    }

    /// Decides what a problem with the start of an occurrence means.
    async fn refused(
        self: &Arc<Self>,
        schedule: &Schedule,
        (at, now): (Timestamp, Timestamp),
        plan: &Plan,
        full: &Full,
        problem: &Problem,
    ) -> Result<Start, Problem> {
        let is_final = match problem.code() {
            ProblemCode::TooManyRuns | ProblemCode::QueueFull => {
                full.owners().insert(schedule.owner.clone());
                if plan.cancels_previous {
                    // It takes the place that this one needs.
                    self.cancel_previous(schedule, &schedule.run_id(at)).await?;
                }
                false
            }
            // Another process starts it, or another program drives the thread at the moment.
            ProblemCode::SessionBusy | ProblemCode::ShuttingDown | ProblemCode::StoreUnavailable => false,
            _ => now.since(at) >= PATIENCE,
        };
        match is_final {
            true => {
                tracing::warn!(schedule = schedule.id, %problem, "an occurrence of a schedule cannot be started");
                Ok(Start::Skipped(SkipReason::Refused))
            }
            false => {
                tracing::info!(schedule = schedule.id, %problem, "an occurrence of a schedule starts later");
                Ok(Start::Later)
            }
        }
    }

    /// Returns a run of the owner of a schedule; `None` if it does not exist.
    async fn run_in(&self, schedule: &Schedule, thread: &str, run: &str) -> Result<Option<Run>, Problem> {
        match self.thread_in(schedule, thread).await? {
            Some(own) => Ok(own.find_run(run).await?.map(|(_, run)| run)),
            None => Ok(None),
        }
    }

    /// Returns whether another run of the same thread is not over, such as one of a user.
    async fn is_busy_besides(&self, schedule: &Schedule, reference: &RunRef) -> Result<bool, Problem> {
        match self.thread_in(schedule, &reference.thread).await? {
            Some(own) => {
                let open = own.runs(&RunFilter::new().open()).await?;
                Ok(open.iter().any(|run| run.id != reference.run))
            }
            None => Ok(false),
        }
    }

    /// Returns a thread of the owner of a schedule; `None` if it does not exist, was erased, or belongs to someone else.
    async fn thread_in(&self, schedule: &Schedule, thread: &str) -> Result<Option<OwnedThread<'_>>, Problem> {
        match self.find_own(&schedule.owner, thread).await {
            Err(problem) if problem.code() == ProblemCode::NotFound => Ok(None),
            found => found,
        }
    }

    /// Cancels the run that a schedule has started before. One in the same thread was replaced already.
    async fn cancel_previous(self: &Arc<Self>, schedule: &Schedule, run: &str) -> Result<(), Problem> {
        let Some(last) = schedule.last_run.as_ref().filter(|last| last.run != run) else {
            return Ok(());
        };
        match self.cancel(&schedule.owner, &last.thread, &last.run).await {
            Err(problem) if problem.code() != ProblemCode::NotFound => Err(problem),
            _ => Ok(()),
        }
    }
}

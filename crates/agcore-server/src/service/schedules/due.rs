//! Starting runs when their schedules are due.
//!
//! Each process that executes runs does this, and none has to know of the others: an occurrence has one run, whose id follows from
//! its time, and a run that exists is not started again.

use std::{sync::Arc, time::Duration};

use agcore_chat::Timestamp;
use agcore_schedule::{Occurrence, Overlap, Plan, Previous, RunRef, Schedule, SkipReason};

use crate::{
    problem::{Problem, ProblemCode},
    run::RunJob,
    service::state::{Schedules, Service},
    settings::BusyPolicy,
};

/// The pause between two checks which schedules are due.
const PAUSE: Duration = Duration::from_secs(5);

/// The number of schedules that are read at once.
const PAGE: u64 = 200;

/// The result of the start of an occurrence.
enum Start {
    Started(RunRef),
    /// It cannot be started, now or later.
    Skipped(SkipReason),
    /// Another attempt may succeed.
    Later,
}

impl Service {
    /// Starts runs when their schedules are due, until the server stops.
    pub(crate) async fn keep_schedules(self: Arc<Self>) {
        let Some(schedules) = &self.schedules else { return };
        loop {
            if let Err(problem) = self.start_due(schedules).await {
                tracing::warn!(%problem, "the schedules cannot be read at the moment");
            }
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.parking.cancelled() => return,
                () = schedules.changed.notified() => {}
                () = self.clock.sleep(PAUSE) => {}
            }
        }
    }

    async fn start_due(self: &Arc<Self>, schedules: &Schedules) -> Result<(), Problem> {
        let mut last = None;
        loop {
            let due = schedules.store.due(last.as_ref(), PAGE).await?;
            for schedule in &due.schedules {
                if self.stopping.is_cancelled() {
                    return Ok(());
                }
                if let Err(problem) = self.attend(schedules, schedule, due.now).await {
                    tracing::warn!(schedule = schedule.id, %problem, "a schedule is attended to later");
                }
            }
            let is_full = due.schedules.len() as u64 >= PAGE;
            last = due.schedules.into_iter().next_back();
            if !is_full {
                return Ok(());
            }
        }
    }

    /// Does what a schedule demands at a time, and records it.
    async fn attend(
        self: &Arc<Self>,
        schedules: &Schedules,
        schedule: &Schedule,
        now: Timestamp,
    ) -> Result<(), Problem> {
        let plan = schedule.plan(now, self.previous(schedule).await?);
        if plan.is_empty() {
            return Ok(());
        }
        let mut occurrences: Vec<Occurrence> = plan.skipped.iter().cloned().collect();
        if let Some(at) = plan.start {
            occurrences.push(match self.start_occurrence(schedule, at, &plan).await? {
                Start::Started(run) => Occurrence::started(at, Some(run)),
                Start::Skipped(reason) => Occurrence::skipped(at, reason, 1),
                Start::Later => return Ok(()),
            });
        }
        schedules.store.record(schedule, occurrences, plan.next_at).await?;
        Ok(())
    }

    /// Returns the state of the run that a schedule has started last.
    async fn previous(&self, schedule: &Schedule) -> Result<Previous, Problem> {
        let Some(last) = &schedule.last_run else {
            return Ok(Previous::None);
        };
        let job = RunJob::new(schedule.owner.clone(), &*last.thread, &*last.run);
        Ok(match self.stored_run(&job, &last.run).await? {
            None => Previous::None,
            Some(run) if run.status.is_over() => Previous::Over(run.updated_at),
            Some(_) => Previous::Open,
        })
    }

    async fn start_occurrence(
        self: &Arc<Self>,
        schedule: &Schedule,
        at: Timestamp,
        plan: &Plan,
    ) -> Result<Start, Problem> {
        let run = schedule.run_id(at);
        let started = async {
            let mut new = self.run_of(&schedule.owner, &schedule.job, &run, &run).await?;
            // For a thread that others use as well.
            new.input.busy = Some(match schedule.overlap {
                Overlap::Queue => BusyPolicy::Queue,
                Overlap::Interrupt => BusyPolicy::Interrupt,
                _ => BusyPolicy::Refuse,
            });
            let thread = new.thread.clone();
            self.start(new).await.map(|_| thread)
        };
        let problem = match started.await {
            Ok(thread) => {
                if plan.cancels_previous {
                    self.cancel_previous(schedule, &run).await;
                }
                return Ok(Start::Started(RunRef::new(thread, run)));
            }
            Err(problem) => problem,
        };
        Ok(match problem.code() {
            ProblemCode::TooManyRuns
            | ProblemCode::QueueFull
            | ProblemCode::ShuttingDown
            | ProblemCode::StoreUnavailable => {
                tracing::info!(schedule = schedule.id, %problem, "an occurrence of a schedule starts later");
                Start::Later
            }
            ProblemCode::SessionBusy if schedule.overlap == Overlap::Skip => Start::Skipped(SkipReason::Overlap),
            // Another program drives the thread at the moment.
            ProblemCode::SessionBusy => Start::Later,
            // It was started before the job was changed.
            ProblemCode::RunIdTaken => Start::Started(RunRef::new(thread_of(schedule, &run), run)),
            _ => {
                tracing::warn!(schedule = schedule.id, %problem, "an occurrence of a schedule cannot be started");
                Start::Skipped(SkipReason::Refused)
            }
        })
    }

    /// Cancels the run that a schedule has started before. One in the same thread was replaced already.
    async fn cancel_previous(self: &Arc<Self>, schedule: &Schedule, run: &str) {
        let Some(last) = schedule.last_run.as_ref().filter(|last| last.run != run) else {
            return;
        };
        if let Err(problem) = self.cancel(&schedule.owner, &last.thread, &last.run).await {
            tracing::warn!(schedule = schedule.id, run = last.run, %problem, "the run before was not cancelled");
        }
    }
}

/// Returns the thread in which a run of a schedule is started.
fn thread_of(schedule: &Schedule, run: &str) -> String {
    let named = schedule.job.get("threadId").and_then(|thread| thread.as_str());
    named.unwrap_or(run).to_owned()
}

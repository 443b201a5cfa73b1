//! Schedules of agents: jobs that run at the times of a cron expression in a time zone, at intervals, or once, and the contract of
//! stores that many processes share.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_schedule::{InMemorySchedules, NewSchedule, Previous, RunRef, ScheduleStore, Timing};
//! use serde_json::json;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = InMemorySchedules::new(Arc::new(SystemClock::new()));
//! let timing = Timing::cron_in("0 9 * * 1-5", "Europe/Berlin");
//! store.create(NewSchedule::new("report", timing, json!({"prompt": "What is new?"}))).await?;
//!
//! // Every process does this once in a while.
//! let due = store.due(None, 100).await?;
//! for schedule in due.schedules {
//!     // Find out what has become of `schedule.last_run`.
//!     let plan = schedule.plan(due.now, Previous::None);
//!     // Start a run with this id, unless there is one.
//!     let run = plan.start.map(|at| RunRef::new("thread", schedule.run_id(at)));
//!     if !plan.is_empty() {
//!         store.record(&schedule, plan.occurrences(run), plan.next_at).await?;
//!     }
//! }
//! # Ok::<(), agcore_schedule::ScheduleError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | choose when a job runs | [`Timing`] |
//! | choose what happens after a downtime, and while the run before is not over | [`CatchUp`], [`Overlap`] |
//! | create and change a schedule | [`NewSchedule`], [`ScheduleChange`] |
//! | keep schedules, and start each occurrence once | [`ScheduleStore`] |
//! | decide what is to be done for a schedule | [`Schedule::plan`] |
//! | see what has happened | [`Occurrence`] |
//!
//! `InMemorySchedules` (feature `in-memory`) implements the contract for tests and short-lived programs. The crate `agcore-store`
//! implements it for databases. The crate knows nothing of agents: a job is JSON that the program chooses.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `in-memory` (default) | A store that keeps everything in the memory of the process. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod timing;
mod occurrence;
mod policy;
mod schedule;
mod plan;
mod store;

pub use error::{ScheduleError, ScheduleErrorKind};
pub use occurrence::{Occurrence, Outcome, RunRef, SkipReason};
pub use plan::{Plan, Previous};
pub use policy::{CatchUp, Overlap};
pub use schedule::{MAX_JOB_BYTES, MAX_SCHEDULE_ID_BYTES, NewSchedule, Schedule, ScheduleChange};
#[cfg(feature = "in-memory")]
pub use store::InMemorySchedules;
pub use store::{Due, DuePlace, KEPT_OCCURRENCES, ScheduleFilter, ScheduleStore};
pub use timing::{COUNT_LIMIT, Recent, Timing};

#[doc(no_inline)]
pub use agcore_chat::{Actor, Clock, Timestamp, TimestampError};

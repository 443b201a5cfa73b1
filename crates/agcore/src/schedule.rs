//! Schedules: jobs that run by a cron expression in a time zone, at intervals or once, and the stores that many processes share.
//!
//! ```
//! use agcore::schedule::{NewSchedule, Previous, Timing};
//!
//! let timing = Timing::cron_in("0 9 * * 1-5", "Europe/Berlin");
//! let new = NewSchedule::new("report", timing, serde_json::json!({"prompt": "What is new?"}));
//! let schedule = new.store("2026-07-03T12:00:00Z".parse()?)?;
//! let plan = schedule.plan("2026-07-06T07:00:10Z".parse()?, Previous::None);
//! assert_eq!(plan.start, Some("2026-07-06T07:00:00Z".parse()?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | choose when a job runs | [`Timing`] |
//! | choose what happens after a downtime, and while the run before is not over | [`CatchUp`], [`Overlap`] |
//! | keep schedules, and start each occurrence once | [`ScheduleStore`] |
//! | decide what is to be done for a schedule | [`Schedule::plan`] |
//!
//! [`InMemorySchedules`] keeps everything in the memory of the process. The module `store` contains databases. These are the public
//! items of the crate `agcore-schedule`.

#[doc(inline)]
pub use agcore_schedule::*;

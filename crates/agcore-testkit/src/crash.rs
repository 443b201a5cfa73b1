//! Processes that are killed (SIGKILL) while they work, for tests of what survives it.
//!
//! A test starts itself as another process, which does a job at a [`Place`] and counts the [`Boundaries`] that it passes: before
//! and after each write, and before and after each effect. [`Kills`] starts processes, kills each of them at a boundary or at a
//! random moment, and lets the last one finish the job. `Pauses` stops a process (SIGSTOP, on Unix only) while another one takes
//! its work over, and continues it. What must hold after that is decided by the [`Trial`].
//!
//! The test program needs one more test, which is ignored and does the job:
//!
//! ```
//! use agcore_testkit::crash::{Boundaries, Job, Kills, Place, Trial};
//!
//! // #[test]
//! // #[ignore = "does the job of a process that other tests start"]
//! fn job() {
//!     let Some(job) = Job::receive() else { return };
//!     write_greeting(job.place(), job.boundaries());
//!     job.done();
//! }
//!
//! fn write_greeting(place: &Place, boundaries: &Boundaries) {
//!     for word in ["Good", "day"] {
//!         boundaries.pass_blocking();
//!         place.log().add(word);
//!     }
//! }
//!
//! struct Greeting(Place);
//!
//! impl Trial for Greeting {
//!     fn place(&self) -> &Place {
//!         &self.0
//!     }
//!
//!     fn killed(&mut self) {}
//!
//!     fn check(&self) {
//!         assert!(self.0.log().text().ends_with("Good\nday\n"));
//!     }
//! }
//!
//! // #[test]
//! fn at_every_boundary() {
//!     let boundaries = Kills::new("job").at_every_boundary(|| Greeting(Place::new()));
//!     assert_eq!(boundaries, 2);
//! }
//! # // Without a test that started it, there is no job.
//! ```

#![expect(
    clippy::expect_used,
    reason = "a test that cannot start its processes fails by panicking"
)]

mod boundaries;
mod child;
mod job;
mod kills;
mod log;
#[cfg(unix)]
mod pauses;
mod place;
mod schema;

#[cfg(unix)]
pub use self::pauses::Pauses;
pub use self::{
    boundaries::Boundaries,
    job::Job,
    kills::{Kills, Trial},
    log::Log,
    place::{Database, Place},
    schema::PostgresSchema,
};

//! [`Pauses`]: stops the processes of a [`Trial`], and continues them when others have done their work.

use super::{
    boundaries::{Report, Stop},
    child::Child,
    kills::{Trial, finish, work},
};

/// Starts the processes of trials, stops them (SIGSTOP) while another process takes over, and continues them: what a process goes
/// through on a machine that sleeps or swaps.
///
/// The job must allow that: another process takes the work over, for example when a lease has expired.
#[derive(Debug, Clone)]
pub struct Pauses {
    job: &'static str,
    first: usize,
    step: usize,
}

impl Pauses {
    /// The line that is added to the log when a process is continued.
    pub const CONTINUED: &str = "continued";

    /// The line that is added to the log when the process that was continued has ended.
    pub const ENDED: &str = "ended";

    /// Creates pauses of processes that run this test, such as `"pauses::job"`, which does the [`Job`](super::Job).
    pub fn new(job: &'static str) -> Self {
        Self { job, first: 0, step: 1 }
    }

    /// Sets the first boundary, and the distance between the boundaries of two trials. The defaults are 0 and 1.
    #[must_use]
    pub fn with_boundaries(mut self, first: usize, step: usize) -> Self {
        self.first = first;
        self.step = step;
        self
    }

    /// Runs a trial for each boundary, whose first process is stopped there and continued after another process has done the job.
    /// Returns the number of the first boundary that no process reached.
    ///
    /// # Panics
    /// If a check of a trial fails, or a process ends without reaching a boundary or finishing the job.
    pub fn at_every_boundary<T: Trial>(&self, new_trial: impl Fn() -> T) -> usize {
        let mut boundary = self.first;
        loop {
            let mut trial = new_trial();
            let mut child = Child::start(self.job, trial.place(), Stop::Pause(boundary));
            let report = child.next();
            assert!(report.is_some(), "the process ended before boundary {boundary}");
            if report == Some(Report::Done) {
                finish(self.job, &mut trial);
                return boundary;
            }
            child.wait_until_stopped();
            trial.killed();
            work(
                self.job,
                &trial,
                &format!("a process was stopped at boundary {boundary}"),
            );
            let log = trial.place().log();
            log.add(Self::CONTINUED);
            child.resume();
            let report = child.next();
            let is_done = report == Some(Report::Done);
            assert!(
                is_done,
                "boundary {boundary}: the process has failed: {report:?}\n{}",
                trial.place().report()
            );
            log.add(Self::ENDED);
            finish(self.job, &mut trial);
            boundary += self.step;
        }
    }
}

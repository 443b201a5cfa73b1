//! [`Kills`]: kills the processes of a [`Trial`].

use std::time::Duration;

use super::{
    boundaries::{Report, Stop},
    child::Child,
    place::Place,
};

/// One job, on which processes work until one of them has finished it, and what must hold then.
pub trait Trial {
    /// Returns where the processes work.
    fn place(&self) -> &Place;

    /// Called after a process was killed or stopped, while no process works. A trial notes the stored data here.
    fn killed(&mut self);

    /// Called after a process has done the job. Returns whether the trial has given the processes more to do, such as the answer
    /// to a question, which another process does then. The default does nothing.
    fn continues(&mut self) -> bool {
        false
    }

    /// Asserts what must hold when the job is done.
    fn check(&self);
}

/// Starts the processes of trials and kills them.
#[derive(Debug, Clone)]
pub struct Kills {
    job: &'static str,
    step: usize,
    boundaries: usize,
    moments: Duration,
}

/// The number of kills after which the last process of a random trial is left alone.
const KILLS_OF_A_TRIAL: usize = 12;

impl Kills {
    /// Creates kills of processes that run this test, such as `"crash::job"`, which does the [`Job`](super::Job).
    pub fn new(job: &'static str) -> Self {
        Self {
            job,
            step: 1,
            boundaries: 20,
            moments: Duration::from_millis(60),
        }
    }

    /// Sets the distance between the boundaries of two trials of [`at_every_boundary`](Self::at_every_boundary). The default is 1.
    #[must_use]
    pub fn with_step(mut self, boundaries: usize) -> Self {
        self.step = boundaries;
        self
    }

    /// Sets how long [`at_random`](Self::at_random) lets a process live at most, counted from its start. The default is 60 ms.
    #[must_use]
    pub fn with_moments(mut self, within: Duration) -> Self {
        self.moments = within;
        self
    }

    /// Runs a trial for each boundary, whose first process is killed there. Returns the number of boundaries.
    ///
    /// # Panics
    /// If a check of a trial fails, or a process ends without reaching a boundary or finishing the job.
    pub fn at_every_boundary<T: Trial>(&self, new_trial: impl Fn() -> T) -> usize {
        let mut boundary = 0;
        loop {
            let mut trial = new_trial();
            let mut child = Child::start(self.job, trial.place(), Stop::At(boundary));
            let report = child.next();
            assert!(report.is_some(), "the process ended before boundary {boundary}");
            if report == Some(Report::Done) {
                finish(self.job, &mut trial);
                return boundary;
            }
            child.kill();
            trial.killed();
            work(self.job, &trial, "a kill");
            finish(self.job, &mut trial);
            boundary += self.step;
        }
    }

    /// Runs trials whose processes are killed again and again, at random boundaries and moments, until there were this many kills.
    /// Returns their number. The same seed chooses the same boundaries and moments.
    ///
    /// # Panics
    /// If a check of a trial fails, or a process ends without reaching a boundary or finishing the job.
    pub fn at_random<T: Trial>(&self, seed: u64, kills: usize, new_trial: impl Fn() -> T) -> usize {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut killed = 0;
        while killed < kills {
            let mut trial = new_trial();
            let mut of_trial = 0;
            while of_trial < KILLS_OF_A_TRIAL {
                let Some(mut child) = self.start_random(&trial, &mut random) else {
                    break;
                };
                child.kill();
                of_trial += 1;
                trial.killed();
            }
            work(self.job, &trial, &format!("{of_trial} kills"));
            finish(self.job, &mut trial);
            killed += of_trial;
        }
        killed
    }

    /// Starts a process, and returns it where it is to be killed. Returns `None` if it has finished the job.
    fn start_random<T: Trial>(&self, trial: &T, random: &mut fastrand::Rng) -> Option<Child> {
        let stops_at = random.bool().then(|| random.usize(..self.boundaries));
        let stop = stops_at.map_or(Stop::Never, Stop::At);
        let mut child = Child::start(self.job, trial.place(), stop);
        let is_done = match stops_at {
            Some(boundary) => {
                let report = child.next();
                assert!(report.is_some(), "the process ended before boundary {boundary}");
                report == Some(Report::Done)
            }
            None => {
                let moment = u64::try_from(self.moments.as_micros()).unwrap_or(u64::MAX);
                // The process is killed wherever it is by then.
                std::thread::park_timeout(Duration::from_micros(random.u64(..=moment)));
                child.is_done()
            }
        };
        (!is_done).then_some(child)
    }
}

/// Lets a process do the job.
pub(super) fn work<T: Trial>(job: &str, trial: &T, after: &str) {
    let report = Child::start(job, trial.place(), Stop::Never).next();
    let found = trial.place().report();
    assert_eq!(report, Some(Report::Done), "after {after}\n{found}");
}

/// Lets processes do what remains to be done, and checks what all of them did.
pub(super) fn finish<T: Trial>(job: &str, trial: &mut T) {
    while trial.continues() {
        work(job, trial, "the job was done once");
    }
    trial.check();
}

//! Writes under leases, and reads of what they have written.

use agcore_session::{RunProgress, RunStatus};

use super::Judge;
use crate::{
    call::{Answer, Write},
    run::Life,
    worker::Time,
};

impl Judge {
    /// Compares the answer to a write.
    pub(crate) fn written(&mut self, (run, epoch): (u32, u64), write: Write, answer: Answer, now: Time) {
        let Some(found) = self.runs.get_mut(run as usize) else {
            return;
        };
        let permits = found.permits(epoch, now);
        match answer {
            Answer::Accepted => {
                let comes_next = match write {
                    Write::Begin => found.life == Life::Queued,
                    Write::Step(number, _) => found.life == Life::Running && number == found.done + 1,
                    Write::End => found.life == Life::Running && found.done == found.steps,
                };
                self.violations.unless(permits, || {
                    format!("at {now} ms, {write:?} of run {run} with the lost epoch {epoch} was accepted")
                });
                self.violations.unless(comes_next, || {
                    format!(
                        "{write:?} of run {run} was accepted, which is {:?} after {} steps",
                        found.life, found.done
                    )
                });
                self.figures.commits += 1;
                self.moved_at = now;
                self.apply(run, write);
            }
            Answer::Fenced => {
                self.violations.unless(!permits, || {
                    format!(
                        "at {now} ms, {write:?} of run {run} was refused, whose lease holds until {}",
                        found.until
                    )
                });
                self.figures.fenced += 1;
            }
            Answer::Impossible => {
                let life = found.life;
                self.violations.unless(false, || {
                    format!("{write:?} of run {run}, which is {life:?}, passed the fence")
                });
            }
            Answer::Gone => {
                self.violations
                    .unless(found.is_deleted, || format!("run {run} was lost before {write:?}"));
                self.figures.too_late += 1;
            }
        }
    }

    fn apply(&mut self, run: u32, write: Write) {
        let Some(found) = self.runs.get_mut(run as usize) else {
            return;
        };
        match write {
            Write::Begin => found.life = Life::Running,
            Write::Step(number, _) => found.done = number,
            Write::End if found.is_open() => {
                self.figures.ended += 1;
                self.end(run, Life::Completed);
            }
            Write::End => {}
        }
    }

    /// Compares the progress of a run that was read.
    pub(crate) fn read(&mut self, run: u32, progress: Option<RunProgress>) {
        let Some(found) = self.runs.get(run as usize) else {
            return;
        };
        let status = match found.life {
            Life::New | Life::Queued => RunStatus::Queued,
            Life::Running => RunStatus::Running,
            Life::Completed => RunStatus::Completed,
            Life::Dead => RunStatus::Failed,
        };
        let stored = RunProgress::new(status, found.life == Life::Dead, u64::from(found.done));
        let is_right = match progress {
            Some(progress) => progress == stored,
            None => found.is_deleted || !found.is_open(),
        };
        self.violations.unless(is_right, || {
            format!("run {run} is {stored:?} and was read as {progress:?}")
        });
    }
}

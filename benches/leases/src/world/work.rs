//! Workers that execute runs.

use agcore_session::{RunProgress, RunStatus};

use super::World;
use crate::{
    call::{Answer, Call, Write},
    events::Event,
    worker::{Next, POLL, Time, WorkerId},
};

/// The time after which a session is deleted whose run is over, longer than most workers are stopped: what these write late is
/// refused because of their lease.
const KEPT: Time = 30_000;

impl World<'_> {
    /// A worker does the next part of a run.
    pub(super) fn act(&mut self, id: WorkerId, run: u32, epoch: u64) -> Option<Call> {
        let (now, is_poison, steps) = (
            self.now,
            self.judge.runs[run as usize].is_poison,
            self.judge.runs[run as usize].steps,
        );
        let worker = &mut self.workers[id.place as usize];
        let calendar = i64::try_from(now).unwrap_or(i64::MAX) + worker.calendar_error;
        let is_wrong = worker.calendar_error != 0;
        let held = worker.held(run, epoch)?;
        let (lease, next, done) = (held.lease.clone(), held.next, held.done);
        let was_sending = std::mem::take(&mut held.is_sending);
        if held.until <= now && !was_sending {
            self.judge.figures.left_in_time += 1;
            self.leave(id, run, epoch);
            return None;
        }
        let write = match next {
            Next::Read => return Some(Call::Read { worker: id, run, lease }),
            Next::Begin => Write::Begin,
            Next::Continue if is_poison => {
                self.judge.figures.poisoned += 1;
                self.kill(id.place as usize);
                return None;
            }
            Next::Continue if done < steps => Write::Step(done + 1, calendar),
            Next::Continue => Write::End,
        };
        self.judge.figures.with_wrong_calendar += u64::from(is_wrong);
        if self.lose() {
            self.look_later(id, run, epoch);
            return None;
        }
        let is_lost = self.lose();
        Some(Call::Write {
            worker: id,
            run,
            lease,
            write,
            is_lost,
        })
    }

    /// Has a worker read what was written, because the answer to a write was lost.
    fn look_later(&mut self, id: WorkerId, run: u32, epoch: u64) {
        let now = self.now;
        let Some(worker) = self.living(id) else { return };
        let time = now + worker.real(POLL);
        if let Some(held) = worker.held(run, epoch) {
            held.next = Next::Read;
            self.agenda.add(time, Event::Act { worker: id, run, epoch });
        }
    }

    pub(super) fn take_progress(&mut self, id: WorkerId, (run, epoch): (u32, u64), progress: Option<RunProgress>) {
        self.judge.read(run, progress);
        let Some(held) = self.living(id).and_then(|worker| worker.held(run, epoch)) else {
            return;
        };
        match progress {
            Some(progress) if progress.status == RunStatus::Queued => held.next = Next::Begin,
            Some(progress) if progress.status == RunStatus::Running => {
                held.next = Next::Continue;
                held.done = u8::try_from(progress.last_event).unwrap_or(u8::MAX);
            }
            _ => return self.leave(id, run, epoch),
        }
        self.plan_next(id, run, epoch);
    }

    pub(super) fn take_answer(
        &mut self,
        id: WorkerId,
        (run, epoch): (u32, u64),
        (write, answer, is_lost): (Write, Answer, bool),
    ) {
        let was_open = self.judge.runs[run as usize].is_open();
        self.judge.written((run, epoch), write, answer, self.now);
        if was_open && !self.judge.runs[run as usize].is_open() {
            self.plan_deletion(Some(run));
        }
        let is_slow = self.living(id).is_some_and(|worker| worker.is_slow);
        self.judge.figures.fenced_slow += u64::from(is_slow && answer == Answer::Fenced);
        if is_lost {
            return self.look_later(id, run, epoch);
        }
        let Some(held) = self.living(id).and_then(|worker| worker.held(run, epoch)) else {
            return;
        };
        match (answer, write) {
            (Answer::Accepted, Write::Begin) => held.next = Next::Continue,
            (Answer::Accepted, Write::Step(number, _)) => held.done = number,
            (Answer::Accepted, Write::End) | (Answer::Fenced | Answer::Gone | Answer::Impossible, _) => {
                return self.leave(id, run, epoch);
            }
        }
        self.plan_next(id, run, epoch);
    }

    /// Plans the next part of a run, after the time that it takes.
    fn plan_next(&mut self, id: WorkerId, run: u32, epoch: u64) {
        let found = &self.judge.runs[run as usize];
        let time = Time::from(found.length / (u32::from(found.steps) + 1));
        self.agenda
            .add(self.now + time.max(1), Event::Act { worker: id, run, epoch });
    }

    /// A worker stops working on a run. It has a free slot, and claims at once.
    pub(super) fn leave(&mut self, id: WorkerId, run: u32, epoch: u64) {
        let now = self.now;
        let Some(worker) = self.living(id) else { return };
        worker.held.retain(|held| (held.run, held.lease.epoch) != (run, epoch));
        if worker.open_claim.is_none() {
            worker.free_since.get_or_insert(now);
        }
        worker.pause = POLL;
        self.plan_claim(id.place as usize, 0);
    }

    pub(super) fn plan_deletion(&mut self, run: Option<u32>) {
        if let Some(run) = run {
            self.agenda.add(self.now + KEPT, Event::Delete { run });
        }
    }
}

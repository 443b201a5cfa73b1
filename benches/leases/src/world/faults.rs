//! Failures: workers are killed or stopped, clocks are wrong, requests and answers are lost.

use std::ops::Range;

use super::World;
use crate::{
    events::Event,
    worker::{IDLE, Time, Worker, WorkerId},
};

/// The time in which a worker starts again, in milliseconds.
const RESTART: Range<f64> = 1_000.0..20_000.0;

/// The time for which a worker is stopped, in milliseconds: some continue while their leases hold.
const STOPPED: Range<f64> = 2_000.0..45_000.0;

/// The largest error of a calendar, in milliseconds.
const DAY: f64 = 86_400_000.0;

/// The smallest number of workers for each one that is gone for ever.
const GONE: u64 = 10;

impl World<'_> {
    /// A worker starts at a place.
    pub(super) fn start(&mut self, place: usize) {
        let faults = self.scenario.faults;
        let is_slow = self.random.happens(faults.slow);
        let error = match self.random.happens(faults.wrong_calendar) {
            true => self.random.between(-DAY..DAY) as i64,
            false => 0,
        };
        let pause = self.random.below(IDLE as usize) as Time;
        let worker = &mut self.workers[place];
        (worker.is_slow, worker.calendar_error) = (is_slow, error);
        worker.started += pause;
        worker.renewed = worker.started;
        self.plan_claim(place, pause);
    }

    pub(super) fn restart(&mut self, place: usize) {
        let WorkerId { place: number, life } = self.workers[place].id;
        let id = WorkerId {
            place: number,
            life: life + 1,
        };
        self.workers[place] = Worker::new(id, self.now);
        self.start(place);
    }

    pub(super) fn plan_kill(&mut self) {
        let rate = self.workers.len() as f64 / self.scenario.faults.kill_after;
        let pause = self.random.pause(rate) as Time;
        self.agenda.add(self.now + pause, Event::Kill);
    }

    pub(super) fn kill_any(&mut self) {
        let place = self.random.below(self.workers.len());
        if self.workers[place].is_alive {
            self.kill(place);
        }
        self.plan_kill();
    }

    /// Kills a worker, with all that it knows.
    pub(super) fn kill(&mut self, place: usize) {
        let figures = &mut self.judge.figures;
        figures.kills += 1;
        let worker = &mut self.workers[place];
        (worker.is_alive, worker.free_since) = (false, None);
        worker.held.clear();
        let may_go = (figures.gone + 1) * GONE <= self.workers.len() as u64;
        if may_go && !self.random.happens(self.scenario.faults.restarts) {
            self.judge.figures.gone += 1;
            return;
        }
        let pause = self.random.between(RESTART) as Time;
        self.agenda.add(self.now + pause, Event::Restart { place });
    }

    pub(super) fn plan_stop(&mut self) {
        let rate = self.workers.len() as f64 / self.scenario.faults.stop_after;
        let pause = self.random.pause(rate) as Time;
        self.agenda.add(self.now + pause, Event::Stop);
    }

    /// Stops a worker. Some writes were about to be sent: they are sent as soon as it continues.
    pub(super) fn stop_any(&mut self) {
        let place = self.random.below(self.workers.len());
        let worker = &mut self.workers[place];
        if worker.is_alive && worker.stopped_until <= self.now {
            worker.stopped_until = self.now + self.random.between(STOPPED) as Time;
            worker.free_since = None;
            for held in &mut worker.held {
                held.is_sending = self.random.happens(0.5);
            }
            self.judge.figures.stops += 1;
        }
        self.plan_stop();
    }

    /// Returns whether a request or an answer is lost.
    pub(super) fn lose(&mut self) -> bool {
        let is_lost = self.random.happens(self.scenario.faults.lost);
        self.judge.figures.lost += u64::from(is_lost);
        is_lost
    }
}

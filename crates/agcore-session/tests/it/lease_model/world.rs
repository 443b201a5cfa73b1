//! [`World`]: a state of the model, and what can happen next.

use std::time::Duration;

use agcore_session::{ClaimRequest, LeaseState, Release, ReleaseReason, RunStatus, RunTurn, Timestamp};

use super::rules::{Guard, Rules};

/// The length of a lease, in ticks of the clock.
const LENGTH: i64 = 1;

/// The number of claims that a run may have.
const ATTEMPTS: u32 = 2;

/// Limits of the search.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// The last tick of the clock.
    pub(super) time: i64,
    /// The most claims of all runs together.
    pub(super) claims: u8,
    /// How often the clock may go backwards.
    pub(super) setbacks: u8,
    /// How often somebody gives a lease back, or starts a run again.
    pub(super) returns: u8,
}

impl Bounds {
    /// Those of two runs that have to do with each other.
    pub(super) const ONE_SESSION: Self = Self {
        time: 2,
        claims: 3,
        setbacks: 1,
        returns: 1,
    };

    /// Those of two runs that have nothing to do with each other, so that there are many more states.
    pub(super) const TWO_SESSIONS: Self = Self {
        time: 2,
        claims: 3,
        setbacks: 0,
        returns: 0,
    };

    /// Those of searches that end early or may take long.
    pub(super) const WIDE: Self = Self {
        time: 3,
        claims: 3,
        setbacks: 1,
        returns: 2,
    };
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    now: i64,
    runs: [Run; 2],
    /// Sorted: they differ in nothing but what they have.
    workers: [Worker; 3],
    /// A write that was sent and has not arrived.
    in_flight: Option<Write>,
    claims: u8,
    setbacks: u8,
    returns: u8,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Run {
    session: u8,
    status: RunStatus,
    lease: LeaseState,
    /// The end of its stream, which every write has to know.
    end: u8,
    /// The number of the claim that was answered last. A store does not know it: the epoch is what it has instead.
    claim: u8,
    /// The claims since it was queued that were not released.
    counted: u32,
}

/// The knowledge of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Worker {
    Idle,
    /// The answer to its claim was lost. The number is that of the claim, and makes the id of the holder.
    Asking(u8),
    Holds(Belief),
}

/// A lease as its worker knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Belief {
    run: u8,
    epoch: u64,
    claim: u8,
    /// The end of the stream.
    end: u8,
}

/// A write that moves a run on: it begins, or it ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Write {
    belief: Belief,
    status: RunStatus,
}

/// An event. The numbers are those of runs and claims.
#[derive(Debug, Clone, Copy)]
#[expect(dead_code, reason = "printed when the search finds a violation")]
pub(super) enum Event {
    ClockMoves(i64),
    Claimed {
        run: usize,
        claim: u8,
        is_answer_lost: bool,
    },
    ClaimedTooOften(usize),
    AskedAgain(u8),
    Dies(u8),
    Sends(u8, RunStatus),
    Arrives {
        claim: u8,
        is_refused: bool,
        is_answer_lost: bool,
    },
    Renews {
        claim: u8,
        is_refused: bool,
    },
    GivesBack(u8, ReleaseReason),
    StartsAgain(usize),
}

/// An event with the state after it, or the reason why it must not happen.
pub(super) type Step = (Event, Result<World, &'static str>);

impl World {
    pub(super) fn new(sessions: [u8; 2]) -> Self {
        let run = |session| Run {
            session,
            status: RunStatus::Queued,
            lease: LeaseState::new(0, None, Timestamp::default()),
            end: 0,
            claim: 0,
            counted: 0,
        };
        Self {
            now: 0,
            runs: sessions.map(run),
            workers: [Worker::Idle; 3],
            in_flight: None,
            claims: 0,
            setbacks: 0,
            returns: 0,
        }
    }

    /// Returns everything that can happen next.
    pub(super) fn steps(&self, rules: &Rules, bounds: Bounds) -> Vec<Step> {
        let mut steps = Vec::new();
        self.move_clock(bounds, &mut steps);
        for worker in 0..self.workers.len() {
            if worker > 0 && self.workers[worker] == self.workers[worker - 1] {
                // The same as for the one before it.
                continue;
            }
            match self.workers[worker] {
                Worker::Idle if self.claims < bounds.claims => self.claim(worker, rules, &mut steps),
                Worker::Idle => {}
                Worker::Asking(claim) => self.ask_again(worker, claim, &mut steps),
                Worker::Holds(belief) => {
                    self.send(belief, &mut steps);
                    self.renew(worker, belief, rules, &mut steps);
                    if self.returns < bounds.returns {
                        self.give_back(worker, belief, rules, &mut steps);
                    }
                    steps.push((Event::Dies(belief.claim), Ok(self.with(worker, Worker::Idle))));
                }
            }
        }
        self.deliver(rules, &mut steps);
        self.start_again(rules, bounds, &mut steps);
        steps
    }

    /// Returns whether all runs are over, or end when each run is claimed and ended that can be, as time passes.
    pub(super) fn ends(&self, rules: &Rules) -> bool {
        let mut world = self.clone();
        world.now += 100;
        for _ in 0..world.runs.len() {
            let next =
                (0..world.runs.len()).find(|run| (rules.may_claim)(world.turn(*run), world.other(*run), world.time()));
            match next {
                Some(run) => world.runs[run].status = RunStatus::Completed,
                None => break,
            }
        }
        world.runs.iter().all(|run| run.status.is_over())
    }

    fn time(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    fn with(&self, worker: usize, state: Worker) -> Self {
        let mut next = self.clone();
        next.workers[worker] = state;
        next.workers.sort_unstable();
        next
    }

    fn turn(&self, run: usize) -> RunTurn<'_> {
        RunTurn::new(run as u64, self.runs[run].status, &self.runs[run].lease)
    }

    /// Returns the other run of the session.
    fn other(&self, run: usize) -> Option<RunTurn<'_>> {
        let other = 1 - run;
        (self.runs[other].session == self.runs[run].session).then(|| self.turn(other))
    }

    fn permits(&self, guard: Guard, belief: Belief) -> bool {
        let run = &self.runs[usize::from(belief.run)];
        guard(&run.lease, run.status, belief.epoch, self.time())
    }

    /// Returns whether a worker has a run in truth: it has made the last claim, and its time is not over.
    fn is_rightful(&self, belief: Belief) -> bool {
        let run = &self.runs[usize::from(belief.run)];
        let is_in_time = run.lease.lease_until.is_some_and(|until| until > self.time());
        run.claim == belief.claim && run.status.is_workable() && is_in_time
    }

    fn move_clock(&self, bounds: Bounds, steps: &mut Vec<Step>) {
        let mut jump = |by: i64, setbacks: u8| {
            let mut next = self.clone();
            (next.now, next.setbacks) = (self.now + by, self.setbacks + setbacks);
            steps.push((Event::ClockMoves(by), Ok(next)));
        };
        if self.now < bounds.time {
            jump(1, 0);
        }
        if self.now >= LENGTH && self.setbacks < bounds.setbacks {
            jump(-LENGTH, 1);
        }
    }

    fn claim(&self, worker: usize, rules: &Rules, steps: &mut Vec<Step>) {
        for run in 0..self.runs.len() {
            if !(rules.may_claim)(self.turn(run), self.other(run), self.time()) {
                continue;
            }
            if (rules.is_exhausted)(&self.runs[run].lease, ATTEMPTS) {
                let mut next = self.clone();
                next.runs[run].status = RunStatus::Failed;
                next.runs[run].lease.dead_at = Some(self.time());
                steps.push((Event::ClaimedTooOften(run), Ok(next)));
                continue;
            }
            let claim = self.claims + 1;
            let claimed = self.claimed(run, rules);
            for is_answer_lost in [false, true] {
                let answered = claimed.clone().map(|next| match is_answer_lost {
                    true => next.with(worker, Worker::Asking(claim)),
                    false => next.with(worker, Worker::Holds(next.belief(run, claim))),
                });
                steps.push((
                    Event::Claimed {
                        run,
                        claim,
                        is_answer_lost,
                    },
                    answered,
                ));
            }
        }
    }

    /// Gives a run to a worker, unless another one has it, or another run of the session.
    fn claimed(&self, run: usize, rules: &Rules) -> Result<Self, &'static str> {
        let now = self.time();
        let is_held = |run: &Run| run.lease.is_held(run.status, now);
        if is_held(&self.runs[run]) {
            return Err("a run was claimed that another worker has");
        }
        if self.other(run).is_some() && is_held(&self.runs[1 - run]) {
            return Err("two runs of a session are held");
        }
        if self
            .other(run)
            .is_some_and(|other| other.status == RunStatus::Running && self.runs[run].status == RunStatus::Queued)
        {
            return Err("a run was claimed while another one of its session has started");
        }
        if !self.runs[run].lease.is_ready(now) {
            return Err("a run was claimed before its time");
        }
        if self.runs[run].counted >= ATTEMPTS {
            return Err("a run was claimed too often");
        }
        let mut next = self.clone();
        next.claims += 1;
        let holder = next.claims.to_string();
        let request = ClaimRequest::new(holder, "w").with_length(Duration::from_millis(LENGTH.unsigned_abs()));
        (rules.claim)(&mut next.runs[run].lease, &request, now);
        next.runs[run].claim = next.claims;
        next.runs[run].counted += 1;
        Ok(next)
    }

    fn belief(&self, run: usize, claim: u8) -> Belief {
        Belief {
            run: u8::try_from(run).unwrap(),
            epoch: self.runs[run].lease.epoch,
            claim,
            end: self.runs[run].end,
        }
    }

    /// A worker whose answer was lost asks again with the same id, or dies.
    fn ask_again(&self, worker: usize, claim: u8, steps: &mut Vec<Step>) {
        let holder = claim.to_string();
        let has_run =
            |run: &Run| run.lease.holder.as_ref() == Some(&holder) && run.lease.is_held(run.status, self.time());
        let state = match self.runs.iter().position(has_run) {
            Some(run) => Worker::Holds(self.belief(run, claim)),
            None => Worker::Idle,
        };
        steps.push((Event::AskedAgain(claim), Ok(self.with(worker, state))));
        steps.push((Event::Dies(claim), Ok(self.with(worker, Worker::Idle))));
    }

    fn send(&self, belief: Belief, steps: &mut Vec<Step>) {
        if self.in_flight.is_some() {
            return;
        }
        for status in [RunStatus::Running, RunStatus::Completed] {
            let mut next = self.clone();
            next.in_flight = Some(Write { belief, status });
            steps.push((Event::Sends(belief.claim, status), Ok(next)));
        }
    }

    /// The write that was sent arrives. Its answer arrives as well, or is lost.
    fn deliver(&self, rules: &Rules, steps: &mut Vec<Step>) {
        let Some(Write { belief, status }) = self.in_flight else {
            return;
        };
        let mut next = self.clone();
        next.in_flight = None;
        let sender = Worker::Holds(belief);
        let sender = next.workers.iter().position(|worker| *worker == sender);
        let mut answer = |is_refused: bool, next: Self, state: Worker| {
            let arrives = |is_answer_lost| Event::Arrives {
                claim: belief.claim,
                is_refused,
                is_answer_lost,
            };
            if let Some(sender) = sender {
                steps.push((arrives(false), Ok(next.with(sender, state))));
            }
            steps.push((arrives(true), Ok(next)));
        };
        if !self.permits(rules.may_write, belief) {
            answer(true, next, Worker::Idle);
            return;
        }
        if !self.is_rightful(belief) {
            let event = Event::Arrives {
                claim: belief.claim,
                is_refused: false,
                is_answer_lost: false,
            };
            steps.push((event, Err("a worker without a lease has written")));
            return;
        }
        let run = &mut next.runs[usize::from(belief.run)];
        if run.end != belief.end || run.status == status {
            // It has written that already, and reads the stream again.
            let known = Belief { end: run.end, ..belief };
            answer(true, next, Worker::Holds(known));
            return;
        }
        (run.status, run.end) = (status, run.end + 1);
        let state = match status {
            RunStatus::Completed => Worker::Idle,
            _ => Worker::Holds(Belief { end: run.end, ..belief }),
        };
        answer(false, next, state);
    }

    fn renew(&self, worker: usize, belief: Belief, rules: &Rules, steps: &mut Vec<Step>) {
        let renews = |is_refused| Event::Renews {
            claim: belief.claim,
            is_refused,
        };
        if !self.permits(rules.may_renew, belief) {
            steps.push((renews(true), Ok(self.with(worker, Worker::Idle))));
            return;
        }
        if !self.is_rightful(belief) {
            steps.push((renews(false), Err("a worker without a lease has renewed it")));
            return;
        }
        let mut next = self.clone();
        let until = Timestamp::from_millis(self.now + LENGTH);
        next.runs[usize::from(belief.run)].lease.lease_until = Some(until);
        // Whether the answer is lost makes no difference: the worker believes what it did before.
        steps.push((renews(false), Ok(next)));
    }

    fn give_back(&self, worker: usize, belief: Belief, rules: &Rules, steps: &mut Vec<Step>) {
        let at_once = Release::new(ReleaseReason::GivenBack);
        let later = Release::new(ReleaseReason::Failed).with_delay(Duration::from_millis(1));
        for release in [at_once, later] {
            let event = Event::GivesBack(belief.claim, release.reason);
            let mut next = self.with(worker, Worker::Idle);
            next.returns += 1;
            if self.permits(rules.may_release, belief) {
                if !self.is_rightful(belief) {
                    steps.push((event, Err("a worker without a lease has given it back")));
                    continue;
                }
                let run = &mut next.runs[usize::from(belief.run)];
                (rules.release)(&mut run.lease, &release, self.time());
                if release.reason == ReleaseReason::GivenBack {
                    run.counted -= 1;
                }
                if run.lease.is_held(run.status, self.time()) {
                    steps.push((event, Err("a lease that was released still holds")));
                    continue;
                }
            }
            steps.push((event, Ok(next)));
        }
    }

    fn start_again(&self, rules: &Rules, bounds: Bounds, steps: &mut Vec<Step>) {
        for run in 0..self.runs.len() {
            if self.runs[run].lease.dead_at.is_none() || self.returns >= bounds.returns {
                continue;
            }
            let mut next = self.clone();
            next.returns += 1;
            next.runs[run].status = RunStatus::Queued;
            next.runs[run].counted = 0;
            (rules.revive)(&mut next.runs[run].lease, self.time());
            steps.push((Event::StartsAgain(run), Ok(next)));
        }
    }
}

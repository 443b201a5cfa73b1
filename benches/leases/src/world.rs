//! [`simulate`]: the workers, on a virtual clock.

mod arrivals;
mod claims;
mod faults;
mod renewals;
mod work;

use std::time::Duration;

use agcore_chat::Clock;
use agcore_session::{ClaimRequest, SessionFilter};
use agcore_testkit::clock::ManualClock;
use futures_util::future::try_join_all;

use crate::{
    Fallible,
    arrivals::Arrivals,
    call::{Call, Reply},
    events::{Agenda, Event},
    figures::Figures,
    judge::{Judge, Violations},
    measure::cpu,
    random::Random,
    run::session_id,
    scenario::Scenario,
    subject::Subject,
    worker::{Time, Worker, WorkerId},
};

/// The most calls at once. Fewer than a task may make before it lets others run, so that they arrive in their order.
const AT_ONCE: usize = 64;

/// The time after which runs are lost that no worker has.
const PATIENCE: Time = 300_000;

/// The number of violations after which a simulation ends.
const MOST_VIOLATIONS: u64 = 1_000;

struct World<'a> {
    scenario: &'a Scenario,
    now: Time,
    random: Random,
    agenda: Agenda,
    arrivals: Vec<Arrivals>,
    workers: Vec<Worker>,
    judge: Judge,
    /// The number of claims.
    claims: u32,
}

/// Simulates a scenario with an empty store that uses this clock. Returns its counts and times, and the wrong answers of the
/// store.
///
/// # Errors
/// When the store fails.
pub async fn simulate(scenario: &Scenario, subject: &Subject, clock: &ManualClock) -> Fallible<(Figures, Violations)> {
    let begin = cpu();
    for tenant in &scenario.tenants {
        subject.leases.set_share(&tenant.name, tenant.share).await?;
    }
    let mut world = World::new(scenario);
    let start = clock.monotonic();
    while let Some(time) = world.agenda.next_time()
        && !world.is_over()
    {
        clock.advance(Duration::from_millis(time - world.now));
        world.judge.pass(time - world.now);
        world.now = time;
        while world.agenda.next_time() == Some(time) {
            let calls = world.gather();
            let replies = try_join_all(calls.iter().map(|call| call.perform(subject))).await?;
            for (call, reply) in calls.into_iter().zip(replies) {
                world.judge.figures.statements += call.statements();
                world.take(call, reply);
            }
        }
    }
    let lost = world.judge.open;
    world
        .judge
        .violations
        .unless(lost == 0, || format!("{lost} runs were lost"));
    let figures = &mut world.judge.figures;
    figures.cpu = cpu().saturating_sub(begin);
    figures.simulated = clock.monotonic().saturating_sub(start);
    figures.sort();
    world.clear(subject).await?;
    Ok((world.judge.figures, world.judge.violations))
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let seed = scenario.size.seed;
        let mut world = Self {
            scenario,
            now: 0,
            random: Random::new(seed),
            agenda: Agenda::default(),
            arrivals: scenario
                .tenants
                .iter()
                .zip(1..)
                .map(|(tenant, number)| Arrivals::new(tenant, seed + number))
                .collect(),
            workers: Vec::with_capacity(scenario.size.workers),
            judge: Judge::new(scenario),
            claims: 0,
        };
        for place in 0..scenario.size.workers {
            let id = WorkerId {
                place: u32::try_from(place).unwrap_or(u32::MAX),
                life: 0,
            };
            world.workers.push(Worker::new(id, 0));
            world.start(place);
        }
        for tenant in 0..scenario.tenants.len() {
            world.plan_arrival(tenant);
        }
        world.plan_kill();
        world.plan_stop();
        world
    }

    /// Returns whether all runs are over, or will never be.
    fn is_over(&self) -> bool {
        let has_arrived = self.arrivals.iter().all(|arrivals| arrivals.left == 0);
        let is_stuck = self.now > self.judge.moved_at + PATIENCE;
        (has_arrived && self.judge.open == 0) || is_stuck || self.judge.violations.count > MOST_VIOLATIONS
    }

    /// Returns the next calls of this time.
    fn gather(&mut self) -> Vec<Call> {
        let mut calls = Vec::new();
        while calls.len() < AT_ONCE
            && let Some(event) = self.agenda.take(self.now)
        {
            calls.extend(self.happen(event));
        }
        calls
    }

    fn happen(&mut self, event: Event) -> Option<Call> {
        match event {
            Event::Arrive { tenant } => self.arrive(tenant),
            Event::Claim { worker, round } if self.is_awake(worker, event) => self.ask_for_runs(worker, round),
            Event::Renew { worker } if self.is_awake(worker, event) => self.ask_for_renewal(worker),
            Event::Act { worker, run, epoch } if self.is_awake(worker, event) => self.act(worker, run, epoch),
            Event::Claim { .. } | Event::Renew { .. } | Event::Act { .. } => None,
            Event::Delete { run } => Some(Call::Delete {
                run,
                tenant: self.tenant_of(run),
            }),
            Event::Expire { run, epoch } => {
                let again = self.judge.expire(run, epoch, self.now)?;
                self.agenda.add(again, event);
                None
            }
            Event::Kill => {
                self.kill_any();
                None
            }
            Event::Stop => {
                self.stop_any();
                None
            }
            Event::Restart { place } => {
                self.restart(place);
                None
            }
        }
    }

    fn take(&mut self, call: Call, reply: Reply) {
        match (call, reply) {
            (Call::Queue { run, .. }, Reply::Done(_)) => self.judge.queued(run, self.now),
            (Call::Delete { run, .. }, Reply::Done(existed)) => self.judge.deleted(run, existed),
            (
                Call::Claim {
                    worker,
                    number,
                    slots,
                    is_lost,
                },
                Reply::Claimed(claims),
            ) => {
                self.take_runs((worker, number, slots), claims, is_lost);
            }
            (
                Call::Renew {
                    worker,
                    leases,
                    is_lost,
                },
                Reply::Renewed(renewals),
            ) => {
                self.take_renewals(worker, &leases, &renewals, is_lost);
            }
            (Call::Read { worker, run, lease }, Reply::Read(progress)) => {
                self.take_progress(worker, (run, lease.epoch), progress);
            }
            (
                Call::Write {
                    worker,
                    run,
                    lease,
                    write,
                    is_lost,
                },
                Reply::Written(answer),
            ) => {
                self.take_answer(worker, (run, lease.epoch), (write, answer, is_lost));
            }
            _ => {}
        }
    }

    /// Returns whether a worker is alive. If it is stopped, the event happens as soon as it continues.
    fn is_awake(&mut self, id: WorkerId, event: Event) -> bool {
        let worker = &mut self.workers[id.place as usize];
        if worker.id != id || !worker.is_alive {
            return false;
        }
        let is_awake = worker.stopped_until <= self.now;
        if !is_awake {
            worker.free_since = None;
            self.agenda.add(worker.stopped_until, event);
        }
        is_awake
    }

    /// Returns the worker that gets an answer, if it is alive.
    fn living(&mut self, id: WorkerId) -> Option<&mut Worker> {
        let worker = &mut self.workers[id.place as usize];
        (worker.id == id && worker.is_alive).then_some(worker)
    }

    fn tenant_of(&self, run: u32) -> String {
        let tenant = self.judge.runs[run as usize].tenant as usize;
        self.scenario.tenants[tenant].name.clone()
    }

    /// Checks that nothing can be claimed any more, deletes the sessions that are left, and checks that there are no others.
    async fn clear(&mut self, subject: &Subject) -> Fallible {
        let left = subject
            .leases
            .claim(&ClaimRequest::new("last", "last").with_limit(1_000))
            .await?;
        let is_empty = left.leases.is_empty() && left.dead.is_empty();
        self.judge
            .violations
            .unless(is_empty, || format!("at the end, {} runs are left", left.leases.len()));
        let runs = 0..u32::try_from(self.judge.runs.len())?;
        for run in runs.filter(|run| !self.judge.runs[*run as usize].is_deleted) {
            let tenant = self.tenant_of(run);
            subject.store.delete_session(&tenant, &session_id(run)).await?;
        }
        for tenant in &self.scenario.tenants {
            let filter = SessionFilter::new(&*tenant.name).with_limit(1);
            let others = subject.store.sessions(&filter).await?;
            self.judge
                .violations
                .unless(others.is_empty(), || format!("there are other sessions: {others:?}"));
        }
        Ok(())
    }
}

//! Processes that die at any moment start each occurrence once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use agcore_schedule::{
    CatchUp, InMemorySchedules, NewSchedule, Outcome, Overlap, Plan, Previous, RunRef, Schedule, ScheduleStore,
    Timestamp, Timing,
};
use agcore_testkit::clock::ManualClock;
use fastrand::Rng;
use serde_json::Value;

use super::time;

const OCCURRENCES: usize = 1000;
const PROCESSES: usize = 3;

/// The progress of a process.
enum Process {
    Idle,
    /// It has read the schedule, and has a plan.
    Planned(Box<Schedule>, Plan),
    /// It has started the run, and has not recorded it yet.
    Started(Box<Schedule>, Plan, Option<RunRef>),
}

/// The runs by their ids, with the times at which they end.
type Runs = BTreeMap<String, Timestamp>;

struct World {
    store: InMemorySchedules,
    clock: Arc<ManualClock>,
    runs: Runs,
    random: Rng,
    /// How often a run was found to be started already.
    found: usize,
}

impl World {
    fn now(&self) -> Timestamp {
        agcore_schedule::Clock::now(&*self.clock).into()
    }

    fn state(&self, run: Option<&RunRef>) -> Previous {
        match run.and_then(|run| self.runs.get(&run.run)) {
            None => Previous::None,
            Some(end) if *end > self.now() => Previous::Open,
            Some(end) => Previous::Over(*end),
        }
    }

    /// Starts a run, unless there is one with its id.
    fn start(&mut self, id: String) -> RunRef {
        let end = self.now().after(Duration::from_secs(self.random.u64(1..20_000)));
        match self.runs.contains_key(&id) {
            true => self.found += 1,
            false => drop(self.runs.insert(id.clone(), end)),
        }
        RunRef::new("thread", id)
    }

    /// Makes one step of a process.
    async fn step(&mut self, process: Process) -> Process {
        match process {
            Process::Idle => {
                let due = self.store.due(None, 10).await.unwrap();
                let Some(schedule) = due.schedules.into_iter().next() else {
                    return Process::Idle;
                };
                let plan = schedule.plan(due.now, self.state(schedule.last_run.as_ref()));
                match plan.is_empty() {
                    true => Process::Idle,
                    false => Process::Planned(Box::new(schedule), plan),
                }
            }
            Process::Planned(schedule, plan) => {
                let run = plan.start.map(|at| self.start(schedule.run_id(at)));
                Process::Started(schedule, plan, run)
            }
            Process::Started(schedule, plan, run) => {
                let occurrences = plan.occurrences(run);
                self.store.record(&schedule, occurrences, plan.next_at).await.unwrap();
                Process::Idle
            }
        }
    }
}

/// Has the processes work on a schedule until all occurrences are recorded.
async fn run(seed: u64) {
    let clock = Arc::new(ManualClock::new());
    let start = time("2026-03-01T00:00:00Z");
    clock.advance(start.since(agcore_schedule::Clock::now(&*clock).into()));
    let mut world = World {
        store: InMemorySchedules::new(Arc::clone(&clock) as _),
        clock,
        runs: Runs::new(),
        random: Rng::with_seed(seed),
        found: 0,
    };
    // The time that does not exist on 2026-03-29, and exists twice on 2026-10-25, is among these.
    let timing = Timing::cron_in("30 2,8,14,20 * * *", "Europe/Berlin");
    let new = NewSchedule::new("s", timing.clone(), Value::Null)
        .with_catch_up(CatchUp::All { up_to: 100 })
        .with_overlap(Overlap::Queue);
    let created = world.store.create(new).await.unwrap();
    let mut expected = Vec::new();
    let mut next = created.next_at;
    while expected.len() < OCCURRENCES {
        expected.push(next.unwrap());
        next = timing.after(next.unwrap());
    }
    let last = *expected.last().unwrap();
    assert!(
        last > time("2026-10-26T00:00:00Z"),
        "both changes of the clocks are covered"
    );

    let mut processes: Vec<Process> = (0..PROCESSES).map(|_| Process::Idle).collect();
    let mut crashes = 0;
    while world.store.get("local", "s").await.unwrap().unwrap().next_at <= Some(last) {
        // Now and then nothing runs for days.
        let pause = if world.random.u32(0..2000) == 0 { 400_000 } else { 600 };
        world.clock.advance(Duration::from_secs(world.random.u64(0..pause)));
        let number = world.random.usize(0..PROCESSES);
        let process = std::mem::replace(&mut processes[number], Process::Idle);
        match world.random.u32(0..4) {
            0 if !matches!(process, Process::Idle) => crashes += 1,
            _ => processes[number] = world.step(process).await,
        }
    }
    let ids: BTreeSet<String> = expected.iter().map(|at| created.run_id(*at)).collect();
    assert_eq!(world.runs.keys().cloned().collect::<BTreeSet<_>>(), ids, "seed {seed}");
    let recorded = world.store.occurrences("local", "s", 9999).await.unwrap();
    assert!(
        recorded
            .iter()
            .all(|entry| (entry.outcome, entry.count) == (Outcome::Started, 1))
    );
    let times: Vec<Timestamp> = recorded.iter().rev().map(|entry| entry.at).collect();
    assert_eq!(times, expected, "seed {seed}");
    assert!(
        crashes > 100 && world.found > 100,
        "{crashes} crashes, {} found",
        world.found
    );
}

#[tokio::test]
async fn each_occurrence_starts_once() {
    let soak = std::env::var("AGCORE_SOAK")
        .ok()
        .and_then(|soak| soak.parse::<u64>().ok());
    for seed in 0..soak.unwrap_or(1).max(1) {
        run(seed).await;
    }
}

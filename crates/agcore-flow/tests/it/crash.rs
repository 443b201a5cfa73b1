//! Processes that are killed in the middle of a run, on SQLite and PostgreSQL.
//!
//! Each process continues the run of the one before. Tool calls write a log, in which the test finds out whether a call was
//! repeated whose result was stored, and the final state is compared with that of a run that was never killed.
#![allow(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::print_stdout,
    reason = "the tests start processes with a job in a variable, and report what they did"
)]

mod child;
mod job;
mod place;

use std::{collections::HashSet, time::Duration};

use self::{
    child::{Child, Report},
    job::State,
    place::Place,
};

/// One run, on which processes work until one of them has finished it.
struct Run {
    place: Place,
    /// The calls whose results were stored when a process was killed.
    stored: HashSet<String>,
    kills: usize,
}

impl Run {
    fn new(place: Place) -> Self {
        Self {
            place,
            stored: HashSet::new(),
            kills: 0,
        }
    }

    fn kill(&mut self, mut child: Child) {
        child.kill();
        self.kills += 1;
        let (calls, _) = self.place.stored();
        for call in calls.difference(&self.stored) {
            self.place.log(&format!("stored {call}"));
        }
        self.stored.extend(calls);
    }

    /// Lets a process finish the run, and checks what all of them did.
    fn finish(self, undisturbed: &State) {
        let mut child = Child::start(&self.place, None);
        assert_eq!(child.next(), Some(Report::Done), "after {} kills", self.kills);
        self.check(undisturbed);
    }

    fn check(&self, undisturbed: &State) {
        let log = self.place.read_log();
        let mut stored = HashSet::new();
        for line in log.lines() {
            match line.split_once(' ').unwrap() {
                ("stored", call) => drop(stored.insert(call)),
                ("call", call) => assert!(!stored.contains(call), "the stored call {call} was repeated\n{log}"),
                other => panic!("{other:?}\n{log}"),
            }
        }
        let (_, state) = self.place.stored();
        assert_eq!(&state.unwrap(), undisturbed, "after {} kills\n{log}", self.kills);
    }
}

fn undisturbed(place: Place) -> State {
    let mut child = Child::start(&place, None);
    assert_eq!(child.next(), Some(Report::Done));
    let (_, state) = place.stored();
    state.unwrap()
}

/// Kills a process at each boundary: before each write, after it, and after each call.
fn at_every_boundary(step: usize, new_place: impl Fn() -> Place) -> usize {
    let expected = undisturbed(new_place());
    for boundary in (0..).step_by(step) {
        let mut run = Run::new(new_place());
        let mut child = Child::start(&run.place, Some(boundary));
        match child.next() {
            Some(Report::Stopped) => run.kill(child),
            Some(Report::Done) => {
                run.check(&expected);
                println!("{boundary} boundaries");
                return boundary;
            }
            None => panic!("the process ended before boundary {boundary}"),
        }
        run.finish(&expected);
    }
    0
}

/// Kills processes at random boundaries and moments, again and again.
fn at_random(kills: usize, new_place: impl Fn() -> Place) {
    let expected = undisturbed(new_place());
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut killed = 0;
    while killed < kills {
        let mut run = Run::new(new_place());
        while run.kills < 8 {
            let at_boundary = random.bool();
            let mut child = Child::start(&run.place, at_boundary.then(|| random.usize(..20)));
            if at_boundary {
                if child.next() == Some(Report::Done) {
                    break;
                }
            } else {
                // The process is killed wherever it is by then.
                std::thread::park_timeout(Duration::from_micros(random.u64(..40_000)));
                if child.is_done() {
                    break;
                }
            }
            run.kill(child);
        }
        killed += run.kills;
        run.finish(&expected);
    }
    println!("{killed} kills");
}

fn is_soak() -> bool {
    std::env::var_os("AGCORE_SOAK").is_some()
}

fn random_kills() -> usize {
    if is_soak() { 300 } else { 12 }
}

#[test]
fn sqlite_at_every_boundary() {
    let boundaries = at_every_boundary(1, Place::sqlite);
    assert!(boundaries > 40, "{boundaries} boundaries");
}

#[test]
fn sqlite_at_random() {
    at_random(random_kills(), Place::sqlite);
}

#[test]
fn postgres_at_every_boundary() {
    let Some(server) = place::server() else { return };
    // A process takes longer to start here. Both stores have the same boundaries.
    let step = if is_soak() { 1 } else { 5 };
    let boundaries = at_every_boundary(step, || Place::postgres(&server));
    assert!(boundaries > 40, "{boundaries} boundaries");
}

#[test]
fn postgres_at_random() {
    let Some(server) = place::server() else { return };
    at_random(random_kills(), || Place::postgres(&server));
}

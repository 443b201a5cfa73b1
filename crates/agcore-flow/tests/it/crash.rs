//! Processes that are killed in the middle of a run, on SQLite and PostgreSQL.
//!
//! Each process continues the run of the one before. Tool calls write a log, in which the test finds out whether a call was
//! repeated whose result was stored, and the final state is compared with that of a run that was never killed.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests read variables, and report what they did"
)]

mod log;
mod run;
mod store;
mod stored;

use std::{collections::HashSet, time::Duration};

use agcore_testkit::crash::{Boundaries, Job, Kills, Place, Trial};

use self::{
    log::calls,
    run::State,
    store::{block_on, need_server},
    stored::stored,
};

/// One run, on which processes work until one of them has finished it.
struct Run<'a> {
    place: Place,
    /// The calls whose results were stored when a process was killed.
    stored: HashSet<String>,
    undisturbed: &'a State,
}

impl Trial for Run<'_> {
    fn place(&self) -> &Place {
        &self.place
    }

    fn killed(&mut self) {
        let (calls, _) = stored(&self.place);
        for call in calls.difference(&self.stored) {
            self.place.log().add(&format!("stored {call}"));
        }
        self.stored.extend(calls);
    }

    fn check(&self) {
        let log = self.place.log().text();
        calls(&log);
        let (_, state) = stored(&self.place);
        assert_eq!(&state.unwrap(), self.undisturbed, "{log}");
    }
}

const JOB: &str = "crash::job";

#[test]
#[ignore = "does the job of a process that other tests start"]
fn job() {
    let Some(job) = Job::receive() else { return };
    block_on(run::run(job.place(), job.boundaries()));
    job.done();
}

/// Returns the final state of a run that was never killed.
fn undisturbed(place: &Place) -> State {
    block_on(run::run(place, &Boundaries::without_stop()));
    stored(place).1.unwrap()
}

fn at_every_boundary(kills: &Kills, new_place: impl Fn() -> Place) {
    let undisturbed = undisturbed(&new_place());
    let boundaries = kills.at_every_boundary(|| new_run(new_place(), &undisturbed));
    println!("{boundaries} boundaries");
    assert!(boundaries > 40, "{boundaries} boundaries");
}

fn at_random(kills: &Kills, new_place: impl Fn() -> Place) {
    let undisturbed = undisturbed(&new_place());
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let count = if is_soak() { 300 } else { 12 };
    let killed = kills.at_random(seed, count, || new_run(new_place(), &undisturbed));
    println!("{killed} kills");
}

fn new_run(place: Place, undisturbed: &State) -> Run<'_> {
    Run {
        place,
        stored: HashSet::new(),
        undisturbed,
    }
}

fn is_soak() -> bool {
    std::env::var_os("AGCORE_SOAK").is_some()
}

#[test]
fn sqlite_at_every_boundary() {
    at_every_boundary(&Kills::new(JOB), Place::new);
}

#[test]
fn sqlite_at_random() {
    at_random(&Kills::new(JOB), Place::new);
}

#[test]
fn postgres_at_every_boundary() {
    let Some(schema) = need_server() else { return };
    // A process takes longer to start here. Both stores have the same boundaries.
    let step = if is_soak() { 1 } else { 5 };
    at_every_boundary(&Kills::new(JOB).with_step(step), || Place::in_schema(&schema));
}

#[test]
fn postgres_at_random() {
    let Some(schema) = need_server() else { return };
    let kills = Kills::new(JOB).with_moments(Duration::from_millis(200));
    at_random(&kills, || Place::in_schema(&schema));
}

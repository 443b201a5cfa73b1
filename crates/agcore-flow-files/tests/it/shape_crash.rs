//! Processes that are killed while they run a flow file of each shape, on SQLite and PostgreSQL: no call whose result is stored runs
//! again, in a session of an agent or in a node, and the final state is that of a run that was never killed.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests read variables, and report what they did"
)]

mod model;
mod run;

use std::{collections::HashSet, fs, time::Duration};

use agcore_testkit::crash::{Boundaries, Job, Kills, Place, Trial};
use serde_json::Value;

use self::model::{CALLS, PLANNER, ROUTER, STAGED};
use crate::{
    crash::{block_on, calls, is_soak, need_server},
    support::without_times,
};

/// A shape: the test that does the job of its processes, and its file.
#[derive(Clone, Copy)]
struct Shape {
    job: &'static str,
    file: &'static str,
}

const SHAPES: [Shape; 3] = [
    Shape {
        job: "shape_crash::staged_job",
        file: STAGED,
    },
    Shape {
        job: "shape_crash::router_job",
        file: ROUTER,
    },
    Shape {
        job: "shape_crash::planner_job",
        file: PLANNER,
    },
];

/// One run, on which processes work until one of them has finished it.
struct Run<'a> {
    place: Place,
    undisturbed: &'a Value,
    /// The calls whose results were stored when a process was killed.
    stored: HashSet<usize>,
    /// The number of processes that were killed.
    kills: u64,
}

impl Trial for Run<'_> {
    fn place(&self) -> &Place {
        &self.place
    }

    fn killed(&mut self) {
        self.kills += 1;
        let text = block_on(run::stored(&self.place));
        for number in 0..CALLS {
            if text.contains(&format!("result of {number}")) && self.stored.insert(number) {
                self.place.log().add(&format!("stored {number}"));
            }
        }
    }

    fn check(&self) {
        let log = self.place.log().text();
        let calls = calls(&log);
        assert_eq!(calls.len(), CALLS, "every call was made\n{log}");
        let state = fs::read_to_string(self.place.folder().join("state")).unwrap();
        let mut state: Value = serde_json::from_str(&state).unwrap();
        let mut undisturbed = self.undisturbed.clone();
        // Calls of models whose process was killed are counted, because they may cost something.
        let (made, needed) = (take_model_calls(&mut state), take_model_calls(&mut undisturbed));
        assert!(
            (needed..=needed + 2 * self.kills).contains(&made),
            "{made} instead of {needed}\n{log}"
        );
        assert_eq!(state, undisturbed, "{log}");
    }
}

/// Removes the numbers of calls from all usages, and returns their sum.
fn take_model_calls(value: &mut Value) -> u64 {
    match value {
        Value::Array(items) => items.iter_mut().map(take_model_calls).sum(),
        Value::Object(members) => {
            let is_usage = members.contains_key("calls_with_usage");
            let own = if is_usage { members.remove("calls") } else { None };
            own.and_then(|calls| calls.as_u64()).unwrap_or(0) + members.values_mut().map(take_model_calls).sum::<u64>()
        }
        _ => 0,
    }
}

fn do_job(shape: Shape) {
    let Some(job) = Job::receive() else { return };
    let state = block_on(run::run(job.place(), shape.file, job.boundaries()));
    fs::write(job.place().folder().join("state"), without_times(state).to_string()).unwrap();
    job.done();
}

#[test]
#[ignore = "does the job of a process that other tests start"]
fn staged_job() {
    do_job(SHAPES[0]);
}

#[test]
#[ignore = "does the job of a process that other tests start"]
fn router_job() {
    do_job(SHAPES[1]);
}

#[test]
#[ignore = "does the job of a process that other tests start"]
fn planner_job() {
    do_job(SHAPES[2]);
}

/// Kills processes of every shape at every boundary, and at random boundaries and moments.
fn kill(change: impl Fn(Kills) -> Kills, new_place: impl Fn() -> Place) {
    for shape in SHAPES {
        let place = new_place();
        let undisturbed = without_times(block_on(run::run(&place, shape.file, &Boundaries::without_stop())));
        assert!(undisturbed["answer"].is_string(), "{undisturbed}");
        let kills = change(Kills::new(shape.job));
        let new_run = || Run {
            place: new_place(),
            undisturbed: &undisturbed,
            stored: HashSet::new(),
            kills: 0,
        };
        let boundaries = kills.at_every_boundary(new_run);
        let seed = fastrand::u64(..);
        println!("{}: {boundaries} boundaries, seed {seed}", shape.job);
        assert!(boundaries > 15, "{boundaries} boundaries");
        let killed = kills.at_random(seed, if is_soak() { 300 } else { 4 }, new_run);
        println!("{}: {killed} random kills", shape.job);
    }
}

#[test]
fn sqlite() {
    kill(|kills| kills, Place::new);
}

#[test]
fn postgres() {
    let Some(schema) = need_server() else { return };
    // A process takes longer to start here. Both stores have the same boundaries.
    let step = if is_soak() { 1 } else { 9 };
    let slower = |kills: Kills| kills.with_step(step).with_moments(Duration::from_millis(300));
    kill(slower, || Place::in_schema(&schema));
}

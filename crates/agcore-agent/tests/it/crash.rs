//! Processes that are killed in the middle of a task, on SQLite and PostgreSQL.
//!
//! Each process continues the session of the one before. After each kill, the test reads from the store what had been written,
//! and at the end compares that with the log of the model and the tools, which they write themselves.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests read variables, and report what they did"
)]

mod stored;
mod task;

use std::{collections::HashSet, time::Duration};

use agcore_testkit::crash::{Job, Kills, Place, Trial};

pub(crate) use self::stored::{block_on, need_server, open};
use self::{
    stored::{check_result, stored},
    task::{CALLS, HELPER_CALLS, REPLIES},
};

/// One task, which processes do until one of them has finished it.
struct Task(Place);

impl Trial for Task {
    fn place(&self) -> &Place {
        &self.0
    }

    /// Notes the stored data in the log.
    fn killed(&mut self) {
        let stored = stored(&self.0);
        self.0.log().add(&format!("stored {}", stored.replies));
        self.0.log().add(&format!("stored_helper {}", stored.helper_replies));
        for call in &stored.results {
            self.0.log().add(&format!("result {call}"));
        }
        self.0.log().add("killed");
    }

    fn check(&self) {
        let text = self.0.log().text();
        let lines: Vec<&str> = text.lines().collect();
        let (mut replies, mut helper_replies, mut results) = (0, 0, HashSet::new());
        let mut uncertain = HashSet::new();
        let mut started: HashSet<&str> = HashSet::new();
        for line in &lines {
            let (what, of) = line.split_once(' ').unwrap_or((line, ""));
            match what {
                "stored" => {
                    let stored: usize = of.parse().unwrap();
                    assert!(stored >= replies, "a stored reply was lost\n{text}");
                    replies = stored;
                }
                "stored_helper" => {
                    let stored: usize = of.parse().unwrap();
                    assert!(stored >= helper_replies, "a reply to the sub-agent was lost\n{text}");
                    helper_replies = stored;
                }
                "helper" => {
                    let round: usize = of.parse().unwrap();
                    assert!(
                        round >= helper_replies,
                        "reply {round} of the sub-agent was requested again\n{text}"
                    );
                }
                "result" => drop(results.insert(of)),
                "uncertain" => drop(uncertain.insert(of)),
                "request" => {
                    let round: usize = of.parse().unwrap();
                    assert!(round >= replies, "reply {round} was stored and requested again\n{text}");
                }
                "start" => {
                    assert!(!results.contains(of), "the finished call {of} was repeated\n{text}");
                    let is_first = started.insert(of);
                    assert!(
                        is_first || uncertain.remove(of),
                        "the call {of} was repeated without a report that its outcome is unknown\n{text}"
                    );
                }
                "done" | "asked" | "killed" => {}
                other => panic!("{other}\n{text}"),
            }
        }
        check_calls(&lines, &text);
        check_result(&self.0, &lines);
    }
}

/// Each call took effect, those that must not be repeated exactly once.
fn check_calls(lines: &[&str], text: &str) {
    for (id, tool) in CALLS
        .iter()
        .filter(|(_, tool)| *tool != "ask_helper")
        .chain(HELPER_CALLS)
    {
        let done = lines.iter().filter(|line| **line == format!("done {id}")).count();
        match *tool {
            "append" | "pay" => assert_eq!(done, 1, "{id} took effect {done} times\n{text}"),
            _ => assert!(done >= 1, "{id} was lost\n{text}"),
        }
    }
    assert!(
        lines.iter().filter(|line| line.starts_with("request ")).count() >= REPLIES,
        "{text}"
    );
}

const JOB: &str = "crash::job";

#[test]
#[ignore = "does the job of a process that other tests start"]
fn job() {
    let Some(job) = Job::receive() else { return };
    block_on(task::run(job.place(), job.boundaries()));
    job.done();
}

fn at_every_boundary(kills: &Kills, new_place: impl Fn() -> Place) {
    let boundaries = kills.at_every_boundary(|| Task(new_place()));
    println!("{boundaries} boundaries");
    assert!(boundaries > 40, "{boundaries} boundaries");
}

fn at_random(kills: &Kills, new_place: impl Fn() -> Place) {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let count = if is_soak() { 300 } else { 12 };
    println!("{} kills", kills.at_random(seed, count, || Task(new_place())));
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
    let step = if is_soak() { 1 } else { 4 };
    at_every_boundary(&Kills::new(JOB).with_step(step), || Place::in_schema(&schema));
}

#[test]
fn postgres_at_random() {
    let Some(schema) = need_server() else { return };
    let kills = Kills::new(JOB).with_moments(Duration::from_millis(200));
    at_random(&kills, || Place::in_schema(&schema));
}

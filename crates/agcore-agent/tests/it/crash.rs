//! Processes that are killed in the middle of a task, on SQLite and PostgreSQL.
//!
//! Each process continues the session of the one before. After each kill, the test reads from the store what had been written,
//! and at the end compares that with the log of the model and the tools, which they write themselves.
#![allow(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::print_stdout,
    reason = "the tests start processes with a job in a variable, and report what they did"
)]

mod child;
mod place;
mod task;

use std::{collections::HashSet, time::Duration};

use self::{
    child::{Child, Report},
    place::Place,
    task::{CALLS, HELPER_CALLS, Log, REPLIES},
};

/// The contents of the store after a kill.
#[derive(Default)]
struct Stored {
    /// The number of replies of the model.
    replies: usize,
    /// The number of its replies to the sub-agent.
    helper_replies: usize,
    /// The calls with a result.
    results: HashSet<String>,
}

/// One task, which processes do until one of them has finished it.
struct Run {
    place: Place,
    log: Log,
    kills: usize,
}

impl Run {
    fn new(place: Place) -> Self {
        Self {
            log: Log::new(place.folder().join("log")),
            place,
            kills: 0,
        }
    }

    fn start(&self, stops_at: Option<usize>) -> Child {
        Child::start(&self.place, stops_at)
    }

    /// Kills a process, and notes in the log what is stored.
    fn kill(&mut self, mut child: Child) {
        child.kill();
        self.kills += 1;
        let stored = self.place.stored();
        self.log.add(&format!("stored {}", stored.replies));
        self.log.add(&format!("stored_helper {}", stored.helper_replies));
        for call in &stored.results {
            self.log.add(&format!("result {call}"));
        }
        self.log.add("killed");
    }

    /// Lets a process finish the task, and checks what all of them did.
    fn finish(self) {
        let mut child = self.start(None);
        let report = child.next();
        assert_eq!(
            report,
            Some(Report::Done),
            "after {} kills\n{}",
            self.kills,
            self.log.text()
        );
        self.check();
    }

    fn check(&self) {
        let text = self.log.text();
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
        self.check_calls(&lines, &text);
        self.place.check_result(&lines);
    }

    /// Each call took effect, those that must not be repeated exactly once.
    fn check_calls(&self, lines: &[&str], text: &str) {
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
}

/// Kills a process at each boundary: before each write, after it (where the model or a tool is about to be called), and after
/// each effect of a tool.
fn at_every_boundary(step: usize, new_place: impl Fn() -> Place) -> usize {
    for boundary in (0..).step_by(step) {
        let mut run = Run::new(new_place());
        let mut child = run.start(Some(boundary));
        match child.next() {
            Some(Report::Stopped) => run.kill(child),
            Some(Report::Done) => {
                run.check();
                println!("{boundary} boundaries");
                return boundary;
            }
            None => panic!("the process ended before boundary {boundary}\n{}", run.log.text()),
        }
        run.finish();
    }
    0
}

/// Kills processes at random boundaries and moments, again and again, until one finishes the task.
fn at_random(kills: usize, new_place: impl Fn() -> Place) {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut killed = 0;
    while killed < kills {
        let mut run = Run::new(new_place());
        loop {
            if random.bool() {
                let mut child = run.start(Some(random.usize(..12)));
                if child.next() == Some(Report::Done) {
                    break;
                }
                run.kill(child);
                continue;
            }
            let mut child = run.start(None);
            // The process is killed wherever it is by then.
            let delay = Duration::from_micros(random.u64(..60_000));
            std::thread::park_timeout(delay);
            if child.is_done() {
                break;
            }
            run.kill(child);
            if run.kills >= 12 {
                break;
            }
        }
        killed += run.kills;
        run.finish();
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
    let step = if is_soak() { 1 } else { 4 };
    let boundaries = at_every_boundary(step, || Place::postgres(&server));
    assert!(boundaries > 40, "{boundaries} boundaries");
}

#[test]
fn postgres_at_random() {
    let Some(server) = place::server() else { return };
    at_random(random_kills(), || Place::postgres(&server));
}

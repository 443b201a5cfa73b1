//! Two servers with one database: the second is refused, or waits until the first has ended.
#![allow(clippy::disallowed_methods, reason = "a variable asks for more restarts")]

use std::{thread, time::Duration};

use agcore_demo::Playground;
use agcore_testkit::mock_server::MockOptions;
use rustix::process::{Pid, Signal, kill_process};

use super::{Event, Serving, input, is_end};
use crate::{
    postgres::Database,
    support::{Agcore, Server},
};

/// The clients, each with one run.
const CLIENTS: usize = 4;

const TEXT: &str = "count the words of this message, one after the other, please";

#[test]
fn a_second_server_is_refused() {
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model).at_home();
    refuse(&agcore);
}

#[test]
fn a_second_server_is_refused_on_postgres() {
    let Some(database) = Database::create() else { return };
    let model = Server::playground();
    refuse(
        &Agcore::talking_to(&model)
            .at_home()
            .with("AGCORE_STORE", &database.url()),
    );
}

fn refuse(agcore: &Agcore) {
    let serving = Serving::start(agcore, &[]);
    let holder = format!(
        "another server uses the database: agcore serve (process {}) since ",
        serving.child.id()
    );
    let second = agcore.run(["serve", "--listen", "127.0.0.1:0"]);
    second.assert_failed(1, &[&holder, "--hand-over"]);
    agcore
        .run(["serve", "--check", "--listen", "127.0.0.1:0"])
        .assert_failed(2, &[&holder]);
    assert!(
        serving.ask("GET", "/health", "", "").contains("ok"),
        "the first continues"
    );
    // After its death, the database is free at once.
    serving.kill();
    drop(Serving::start(agcore, &[]));
}

#[test]
fn overlapping_restarts_lose_nothing() {
    let model = slow_model();
    restart_again_and_again(&Agcore::talking_to(&model).at_home(), Signal::TERM);
}

#[test]
fn killed_servers_lose_nothing() {
    let model = slow_model();
    restart_again_and_again(&Agcore::talking_to(&model).at_home(), Signal::KILL);
}

#[test]
fn killed_servers_lose_nothing_on_postgres() {
    let Some(database) = Database::create() else { return };
    let model = slow_model();
    let agcore = Agcore::talking_to(&model)
        .at_home()
        .with("AGCORE_STORE", &database.url());
    restart_again_and_again(&agcore, Signal::KILL);
}

#[test]
fn overlapping_restarts_lose_nothing_on_postgres() {
    let Some(database) = Database::create() else { return };
    let model = slow_model();
    let agcore = Agcore::talking_to(&model)
        .at_home()
        .with("AGCORE_STORE", &database.url());
    restart_again_and_again(&agcore, Signal::TERM);
}

fn slow_model() -> Server {
    Server::start(
        MockOptions::new(),
        Playground::new().with_pace(Duration::from_millis(15)),
    )
}

/// Starts a new server beside the one that runs, and then stops or kills that one, at random moments of the runs of several clients.
fn restart_again_and_again(agcore: &Agcore, signal: Signal) {
    let restarts: u64 = match (std::env::var_os("AGCORE_SOAK").is_some(), signal) {
        (false, _) => 3,
        (true, Signal::KILL) => 100,
        (true, _) => 20,
    };
    let mut serving = Serving::start(agcore, &[]);
    for restart in 0..restarts {
        let threads: Vec<String> = (0..CLIENTS).map(|client| format!("t{restart}-{client}")).collect();
        for thread in &threads {
            let path = format!("/api/v1/agent/runs/{thread}");
            let started = serving.ask("POST", &path, "", &input(thread, TEXT));
            assert!(started.contains("202 Accepted"), "{started}");
        }
        let mut streams: Vec<_> = threads.iter().map(|thread| serving.open_events(thread, None)).collect();
        let followers: Vec<_> = streams
            .drain(..)
            .map(|stream| thread::spawn(|| super::read_events(stream, usize::MAX)))
            .collect();
        serving = thread::scope(|scope| {
            let waiting = scope.spawn(|| Serving::start(agcore, &["--hand-over"]));
            // Some moment of the runs, another one each time.
            thread::sleep(Duration::from_millis(restart * 137 % 400));
            kill_process(Pid::from_child(&serving.child), signal).unwrap();
            serving.child.wait().unwrap();
            waiting.join().unwrap()
        });
        for (thread, follower) in threads.iter().zip(followers) {
            let mut seen: Vec<Event> = follower.join().unwrap();
            while !is_end(&seen) {
                let last = seen.last().map(|(id, _)| id.clone());
                let more = serving.follow(thread, last.as_deref(), usize::MAX);
                assert!(!more.is_empty(), "no end: {seen:?}");
                seen.extend(more);
            }
            let all = serving.follow(thread, None, usize::MAX);
            assert_eq!(seen, all, "lost, repeated or out of order");
            assert_eq!(all.last().unwrap().1["type"], "RUN_FINISHED", "{all:?}");
        }
    }
}

//! Processes of two versions with one database: those of the newer version replace the others one after another.
//!
//! `cargo xtask upgrade` builds the newer program, which has one more migration, and runs these tests.

use std::{
    env,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use agcore_testkit::mock_server::MockOptions;
use rustix::process::Signal;

use super::{Clients, Ledger, PATIENCE, SETTINGS, apis::Apis, logs::Logs, place::Place, worker::Worker};
use crate::{
    postgres::Database,
    serve::{
        clients::Servers,
        flow_model::{FLOWS, FlowModel, write_flows},
    },
    support::{Agcore, Server},
};

/// The number of runs that end between two changes.
const RUNS: usize = 12;

/// Returns the newer program, or reports that there is none.
#[expect(clippy::disallowed_methods, reason = "set by `cargo xtask upgrade`")]
fn newer() -> Option<PathBuf> {
    let path = env::var_os("AGCORE_TEST_NEWER").map(PathBuf::from);
    if path.is_none() {
        println!("skipped: there is no newer program: run `cargo xtask upgrade`");
    }
    path
}

#[test]
fn a_newer_version_replaces_processes_without_a_gap() {
    if let Some(newer) = newer() {
        replace_all(&Place::default(), newer);
    }
}

#[test]
fn a_newer_version_replaces_processes_without_a_gap_on_postgres() {
    let Some(newer) = newer() else { return };
    let Some(database) = Database::create() else { return };
    let place = Place {
        database: Some(&database),
        ..Place::default()
    };
    replace_all(&place, newer);
}

/// Waits until a condition holds, or a client has failed.
fn wait_until(has_failed: &dyn Fn() -> bool, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() && !has_failed() {
        assert!(start.elapsed() < PATIENCE, "nothing happens any more");
        // Other processes report it in files only.
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until some more runs have ended, or a client has failed.
fn let_runs_end(runs: &AtomicUsize, has_failed: &dyn Fn() -> bool) {
    let until = runs.load(Ordering::Relaxed) + RUNS;
    wait_until(has_failed, || runs.load(Ordering::Relaxed) >= until);
}

/// Returns whether all older workers have noticed the newer version.
fn have_noticed(logs: &Logs) -> bool {
    let has_noticed = |log: &String| log.contains("a newer version of agcore has upgraded the database");
    logs.all("older").iter().all(has_noticed)
}

fn replace_all(place: &Place<'_>, newer: PathBuf) {
    let ledger = Ledger::new();
    let model = ledger.model(FlowModel::new(Duration::from_millis(4)));
    let model = Server::start(MockOptions::new(), model);
    let agcore = place.prepare(Agcore::talking_to(&model).at_home().with_user_settings(SETTINGS));
    write_flows(&agcore);
    Ledger::write_flow(&agcore);
    let logs = Logs::new(&agcore);
    let apis = Apis::start(&agcore, &logs);
    let older = [0, 1].map(|_| Worker::start(&agcore, logs.create("older")));
    let agents: Vec<&str> = ["assistant"].into_iter().chain(FLOWS).collect();
    let undisturbed: Vec<(&str, Vec<String>)> = agents.iter().map(|agent| (*agent, apis.undisturbed(agent))).collect();
    let runs = AtomicUsize::new(0);
    let clients = Clients {
        apis: &apis,
        undisturbed: &undisturbed,
        runs: &runs,
    };
    let (_newer, expected) = clients.during(place, |has_failed| {
        let_runs_end(&runs, has_failed);
        agcore.upgrade_to(newer);
        // It changes the tables.
        apis.restart(0);
        let newer = [0, 1].map(|_| Worker::start(&agcore, logs.create("newer")));
        let_runs_end(&runs, has_failed);
        wait_until(has_failed, || have_noticed(&logs));
        let_runs_end(&runs, has_failed);
        for worker in &older {
            worker.signal(Signal::TERM);
        }
        let_runs_end(&runs, has_failed);
        apis.restart(1);
        let_runs_end(&runs, has_failed);
        newer
    });
    for mut worker in older {
        assert!(worker.has_ended(), "an older worker is left");
    }
    println!("{} runs; {}", runs.load(Ordering::Relaxed), ledger.check(&expected));
}

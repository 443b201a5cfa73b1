//! Several servers and workers with one database, killed and stopped at random.
#![allow(
    clippy::print_stdout,
    reason = "tests report what they skip, what they have measured, and why they fail"
)]

mod logs;
mod place;
mod worker;
mod apis;
mod takeovers;
mod upgrade;
mod ledger;

use std::{
    panic,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use agcore_testkit::mock_server::MockOptions;
use rustix::process::Signal;

use self::{
    apis::Apis,
    ledger::{Expected, Ledger},
    logs::Logs,
    place::{Disturbance, Place},
    takeovers::Takeovers,
    worker::Worker,
};
use super::{
    clients::Servers,
    flow_model::{FLOWS, FlowModel, write_flows},
};
use crate::{
    postgres::{Database, pooler::Pooler, server::OwnServer},
    support::{Agcore, Server},
};

/// The clients, each with one run at a time.
const CLIENTS: usize = 8;

const WORKERS: usize = 4;

/// A short lease, so that the test does not wait for long. Commands count what they do in a folder of the test.
const SETTINGS: &str = "\
[serve.sharing]
lease_seconds = 1
max_attempts = 1000
[permissions]
allow = ['shell(sh *)']
[sandbox]
mode = 'off'
";

/// Longer than a lease.
const STOP: Duration = Duration::from_millis(1300);

/// The time in which the last runs must end. Only a bug exceeds it.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn killed_and_stopped_workers_lose_and_repeat_nothing() {
    disturb(&Place::default());
}

#[test]
fn killed_and_stopped_workers_lose_and_repeat_nothing_on_postgres() {
    let Some(database) = Database::create() else { return };
    disturb(&Place {
        database: Some(&database),
        ..Place::default()
    });
}

#[test]
fn killed_and_stopped_workers_lose_and_repeat_nothing_while_the_database_crashes() {
    let Some(server) = OwnServer::start() else { return };
    let Some(database) = Database::create_on(server.url()) else {
        return;
    };
    disturb(&Place {
        database: Some(&database),
        server: Some(&server),
        pooler: None,
    });
}

#[test]
fn killed_and_stopped_workers_lose_and_repeat_nothing_behind_a_pooler() {
    let Some(server) = OwnServer::start() else { return };
    let Some(database) = Database::create_on(server.url()) else {
        return;
    };
    let Some(pooler) = Pooler::start(&server.address()) else {
        return;
    };
    disturb(&Place {
        database: Some(&database),
        server: Some(&server),
        pooler: Some(&pooler),
    });
}

/// Sets a flag at the end, also that by a panic.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs agents and flows while processes and the database are disturbed, and checks each run.
fn disturb(place: &Place<'_>) {
    let ledger = Ledger::new();
    let model = ledger.model(FlowModel::new(Duration::from_millis(4)));
    let model = Server::start(MockOptions::new(), model);
    let agcore = place.prepare(Agcore::talking_to(&model).at_home().with_user_settings(SETTINGS));
    write_flows(&agcore);
    Ledger::write_flow(&agcore);
    let logs = Logs::new(&agcore);
    let apis = Apis::start(&agcore, &logs);
    let mut workers: Vec<Worker> = (0..WORKERS)
        .map(|_| Worker::start(&agcore, logs.create("worker")))
        .collect();
    let agents: Vec<&str> = ["assistant"].into_iter().chain(FLOWS).collect();
    let undisturbed: Vec<(&str, Vec<String>)> = agents.iter().map(|agent| (*agent, apis.undisturbed(agent))).collect();
    let runs = AtomicUsize::new(0);
    let mut chaos = Chaos {
        place,
        agcore: &agcore,
        logs: &logs,
        apis: &apis,
        workers: &mut workers,
        takeovers: place.database.and_then(Takeovers::begin),
        renewals: 0,
    };
    let clients = Clients {
        apis: &apis,
        undisturbed: &undisturbed,
        runs: &runs,
    };
    let (disturbances, expected) = clients.during(place, |has_failed| chaos.disturb_often(&runs, has_failed));
    let runs = runs.load(Ordering::Relaxed);
    println!("{runs} runs, {disturbances} disturbances: nothing was lost, repeated or out of order");
    println!("{}", ledger.check(&expected));
    if let Some(takeovers) = &chaos.takeovers {
        println!(
            "{} connections of renewals were cut\n{}",
            chaos.renewals,
            takeovers.report()
        );
    }
}

/// Clients that execute runs.
struct Clients<'a> {
    apis: &'a Apis<'a>,
    /// The agents, with the outcome of each.
    undisturbed: &'a [(&'a str, Vec<String>)],
    /// The number of runs that have ended.
    runs: &'a AtomicUsize,
}

impl Clients<'_> {
    /// Executes and checks runs until `disturb` has ended, which is given whether a client has failed. Returns the lines of the
    /// ledger as well.
    fn during<T>(&self, place: &Place<'_>, disturb: impl FnOnce(&dyn Fn() -> bool) -> T) -> (T, Expected) {
        let is_over = &AtomicBool::new(false);
        let (alive, ended) = channel::<()>();
        thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    let alive = alive.clone();
                    scope.spawn(move || {
                        let _alive = alive;
                        self.execute(client, is_over)
                    })
                })
                .collect();
            drop(alive);
            let at_end = SetAtEnd(is_over);
            let disturbed = disturb(&|| clients.iter().any(ScopedJoinHandle::is_finished));
            drop(at_end);
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                place.print_open_runs();
                self.apis.give_up();
            }
            (disturbed, join_all(clients))
        })
    }

    /// Executes runs one after the other, as a client with this number, and checks each of them. Returns the lines of the ledger.
    fn execute(&self, client: usize, is_over: &AtomicBool) -> Expected {
        let mut expected = Expected::default();
        let mut number = 0;
        while number == 0 || !is_over.load(Ordering::Relaxed) {
            let thread = format!("t-{client}-{number}");
            if number % 3 == 0 {
                expected.run(self.apis, &thread, client + number / 3);
            } else {
                let (agent, undisturbed) = &self.undisturbed[(client + number) % self.undisturbed.len()];
                Servers::start(self.apis, &thread, agent);
                let seen = self.apis.follow_in_pieces((&thread, "r"), || {});
                self.apis.check(&thread, &seen, undisturbed);
            }
            self.runs.fetch_add(1, Ordering::Relaxed);
            number += 1;
        }
        expected
    }
}

/// Waits for clients. Fails if one of them has failed.
fn join_all(clients: Vec<ScopedJoinHandle<'_, Expected>>) -> Expected {
    let mut expected = Expected::default();
    for client in clients {
        match client.join() {
            Ok(of_client) => expected.add(of_client),
            Err(panic) => panic::resume_unwind(panic),
        }
    }
    expected
}

/// The processes and the database that are disturbed.
struct Chaos<'a> {
    place: &'a Place<'a>,
    agcore: &'a Agcore,
    logs: &'a Logs,
    apis: &'a Apis<'a>,
    workers: &'a mut Vec<Worker>,
    takeovers: Option<Takeovers<'a>>,
    /// The number of connections of renewals that were cut.
    renewals: usize,
}

impl Chaos<'_> {
    /// Disturbs until there were enough disturbances and runs, or a client has failed. Returns the number of disturbances.
    #[expect(clippy::disallowed_methods, reason = "a variable asks for more disturbances")]
    fn disturb_often(&mut self, runs: &AtomicUsize, has_failed: impl Fn() -> bool) -> usize {
        let kinds = self.place.disturbances();
        let (least, least_runs) = match std::env::var_os("AGCORE_SOAK") {
            Some(_) => (120, 500),
            None => (10, 0),
        };
        for number in 0.. {
            if (number >= least && runs.load(Ordering::Relaxed) >= least_runs) || has_failed() {
                return number;
            }
            // Some moment of the runs, another one each time.
            let pause = u64::try_from(150 + number * 137 % 400).unwrap();
            thread::sleep(Duration::from_millis(pause));
            let kind = kinds[number % kinds.len()];
            let round = number / kinds.len();
            // Each kind hits each worker, and more often the one with the most runs.
            let busiest = self.place.busiest(self.workers).filter(|_| round % 3 < 2);
            self.disturb(kind, busiest.unwrap_or(round % WORKERS));
        }
        unreachable!("the loop has no end")
    }

    fn disturb(&mut self, kind: Disturbance, number: usize) {
        let worker = &mut self.workers[number];
        assert!(!worker.has_ended(), "a worker ended by itself");
        match kind {
            Disturbance::Stop => {
                note(&mut self.takeovers, kind, worker);
                worker.signal(Signal::STOP);
                thread::sleep(STOP);
                // Others have its runs. It must notice that before it does anything for them.
                worker.signal(Signal::CONT);
            }
            Disturbance::Kill => {
                note(&mut self.takeovers, kind, worker);
                worker.signal(Signal::KILL);
                *worker = Worker::start(self.agcore, self.logs.create("worker"));
            }
            Disturbance::KillServer => self.apis.restart(number % 2),
            _ => {
                let disturb = || self.place.disturb(kind);
                let cut = match &mut self.takeovers {
                    Some(takeovers) => takeovers.during(kind, disturb),
                    None => disturb(),
                };
                self.renewals += if kind == Disturbance::CutRenewals { cut } else { 0 };
            }
        }
    }
}

fn note(takeovers: &mut Option<Takeovers<'_>>, kind: Disturbance, worker: &Worker) {
    if let Some(takeovers) = takeovers {
        takeovers.note(kind, worker.id());
    }
}

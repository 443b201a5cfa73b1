//! Several servers and workers with one database, killed and stopped at random.

use std::{
    io::BufReader,
    net::TcpStream,
    process::{Child, Stdio},
    sync::{
        RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use agcore_testkit::mock_server::MockOptions;
use rustix::process::{Pid, Signal, kill_process};

use super::{
    Serving,
    clients::Servers,
    flow_model::{FLOWS, FlowModel, write_flows},
};
use crate::{
    postgres::Database,
    support::{Agcore, Server},
};

/// The clients, each with one run at a time.
const CLIENTS: usize = 8;

const WORKERS: usize = 4;

/// A short lease, so that the test does not wait for long.
const SETTINGS: &str = "[serve.sharing]\nlease_seconds = 1\nmax_attempts = 1000\n";

/// Longer than a lease.
const STOP: Duration = Duration::from_millis(1300);

/// A worker in a process of its own.
struct Worker(Child);

impl Worker {
    fn start(agcore: &Agcore) -> Self {
        let mut command = agcore.command();
        // Only the models of the test use them.
        command.args(["worker", "--tools", "--slots", "4"]);
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may be stopped, or may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two servers, which clients use in turns.
struct Apis {
    serving: [RwLock<Option<Serving>>; 2],
    requests: AtomicUsize,
    runs: AtomicUsize,
    is_over: AtomicBool,
}

impl Servers for Apis {
    fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<BufReader<TcpStream>> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let serving = self.serving[number % 2].read().unwrap();
        serving
            .as_ref()
            .map(|serving| serving.open(method, path, headers, body))
    }
}

impl Apis {
    fn restart(&self, number: usize, agcore: &Agcore) {
        let mut serving = self.serving[number].write().unwrap();
        serving.take().unwrap().kill();
        *serving = Some(Serving::start(agcore, &["--role", "api"]));
    }
}

#[test]
fn killed_and_stopped_workers_lose_and_repeat_nothing() {
    println!("{}", disturb(|agcore| agcore));
}

#[test]
fn killed_and_stopped_workers_lose_and_repeat_nothing_on_postgres() {
    let Some(database) = Database::create() else { return };
    println!("{}", disturb(|agcore| agcore.with("AGCORE_STORE", &database.url())));
}

#[expect(clippy::disallowed_methods, reason = "a variable asks for more disturbances")]
fn disturb(place: impl FnOnce(Agcore) -> Agcore) -> String {
    let disturbances = if std::env::var_os("AGCORE_SOAK").is_some() {
        120
    } else {
        10
    };
    let model = Server::start(MockOptions::new(), FlowModel::new(Duration::from_millis(4)));
    let agcore = place(Agcore::talking_to(&model).at_home().with_user_settings(SETTINGS));
    write_flows(&agcore);
    let start = || RwLock::new(Some(Serving::start(&agcore, &["--role", "api"])));
    let apis = Apis {
        serving: [start(), start()],
        requests: AtomicUsize::new(0),
        runs: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    let mut workers: Vec<Worker> = (0..WORKERS).map(|_| Worker::start(&agcore)).collect();
    let agents: Vec<&str> = ["assistant"].into_iter().chain(FLOWS).collect();
    let undisturbed: Vec<(&str, Vec<String>)> = agents.iter().map(|agent| (*agent, apis.undisturbed(agent))).collect();
    let (apis, undisturbed) = (&apis, &undisturbed);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                scope.spawn(move || {
                    for number in 0.. {
                        let thread = format!("t-{client}-{number}");
                        let (agent, undisturbed) = &undisturbed[(client + number) % undisturbed.len()];
                        apis.start(&thread, agent);
                        let seen = apis.follow_in_pieces(&thread, || {});
                        apis.check(&thread, &seen, undisturbed);
                        apis.runs.fetch_add(1, Ordering::Relaxed);
                        if apis.is_over.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                })
            })
            .collect();
        for number in 0..disturbances {
            // Some moment of the runs, another one each time.
            thread::sleep(Duration::from_millis(150 + number * 137 % 400));
            if clients.iter().any(ScopedJoinHandle::is_finished) {
                // It has failed.
                break;
            }
            let worker = usize::try_from(number).unwrap() % WORKERS;
            match number % 3 {
                0 => {
                    workers[worker].signal(Signal::STOP);
                    thread::sleep(STOP);
                    // Others have its runs. It must notice that before it does anything for them.
                    workers[worker].signal(Signal::CONT);
                }
                1 => workers[worker] = Worker::start(&agcore),
                _ => apis.restart(worker % 2, &agcore),
            }
        }
        apis.is_over.store(true, Ordering::Relaxed);
    });
    let runs = apis.runs.load(Ordering::Relaxed);
    format!("{runs} runs, {disturbances} disturbances: nothing was lost, repeated or out of order")
}

//! Clients of an agent and of flows, whose streams are cut again and again, while the server is killed and started again.

use std::{
    io::BufReader,
    net::TcpStream,
    sync::{
        RwLock,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use agcore_testkit::mock_server::MockOptions;

use super::{
    Serving,
    clients::Servers,
    flow_model::{FLOWS, FlowModel, write_flows},
};
use crate::support::{Agcore, Server};

/// The clients, each with one run at a time.
const CLIENTS: usize = 8;

/// The server, which clients use together. It is exchanged when no client is connecting.
struct Shared {
    serving: RwLock<Option<Serving>>,
    cuts: AtomicUsize,
    kills: AtomicUsize,
    runs: AtomicUsize,
}

impl Servers for Shared {
    fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<BufReader<TcpStream>> {
        let serving = self.serving.read().unwrap();
        serving
            .as_ref()
            .map(|serving| serving.open(method, path, headers, body))
    }
}

impl Shared {
    /// Kills the server and starts another one with the same database.
    fn restart(&self, agcore: &Agcore) {
        let mut serving = self.serving.write().unwrap();
        serving.take().unwrap().kill();
        *serving = Some(Serving::start(agcore, &[]));
        self.kills.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "set by `cargo xtask soak`")]
fn cut_streams_and_killed_servers_lose_and_repeat_nothing() {
    let is_soak = std::env::var_os("AGCORE_SOAK").is_some();
    let (cuts, kills) = if is_soak { (10_000, 200) } else { (240, 6) };
    let model = Server::start(MockOptions::new(), FlowModel::new(Duration::from_millis(4)));
    let agcore = Agcore::talking_to(&model).at_home();
    write_flows(&agcore);
    let shared = Shared {
        serving: RwLock::new(Some(Serving::start(&agcore, &[]))),
        cuts: AtomicUsize::new(0),
        kills: AtomicUsize::new(0),
        runs: AtomicUsize::new(0),
    };
    let mut agents = vec!["assistant"];
    agents.extend(FLOWS);
    let undisturbed: Vec<(&str, Vec<String>)> =
        agents.iter().map(|agent| (*agent, shared.undisturbed(agent))).collect();

    let (cut, counted) = mpsc::channel();
    let shared = &shared;
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (cut, undisturbed) = (cut.clone(), &undisturbed);
            scope.spawn(move || {
                for number in 0.. {
                    let thread = format!("t-{client}-{number}");
                    let (agent, undisturbed) = &undisturbed[(client + number) % undisturbed.len()];
                    shared.start(&thread, agent);
                    let seen = shared.follow_in_pieces((&thread, "r"), || {
                        shared.cuts.fetch_add(1, Ordering::Relaxed);
                        // The receiver is gone when the last server runs.
                        let _ = cut.send(());
                    });
                    shared.check(&thread, &seen, undisturbed);
                    shared.runs.fetch_add(1, Ordering::Relaxed);
                    if shared.cuts.load(Ordering::Relaxed) >= cuts && shared.kills.load(Ordering::Relaxed) >= kills {
                        return;
                    }
                }
            });
        }
        drop(cut);
        for _ in 0..kills {
            // The server dies after this number of cuts. Without clients, one of them has failed.
            if counted.iter().take(cuts / kills).count() < cuts / kills {
                return;
            }
            shared.restart(&agcore);
        }
    });
    let [cuts, kills, runs] = [&shared.cuts, &shared.kills, &shared.runs].map(|count| count.load(Ordering::Relaxed));
    println!("{runs} runs, {cuts} streams cut, {kills} servers killed: nothing was lost, repeated or out of order");
}

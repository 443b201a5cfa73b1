//! [`Apis`]: two servers, which clients use in turns.

use std::{
    io::BufReader,
    net::TcpStream,
    sync::{
        RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use super::logs::Logs;
use crate::{
    serve::{
        Serving,
        clients::{Servers, read_all},
    },
    support::Agcore,
};

/// The pause of a client before it repeats a request that was refused.
const PAUSE: Duration = Duration::from_millis(50);

/// Two servers, which clients use in turns.
pub(super) struct Apis<'a> {
    agcore: &'a Agcore,
    logs: &'a Logs,
    serving: [RwLock<Option<Serving>>; 2],
    requests: AtomicUsize,
    is_given_up: AtomicBool,
}

impl Servers for Apis<'_> {
    fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<BufReader<TcpStream>> {
        let is_given_up = self.is_given_up.load(Ordering::Relaxed);
        assert!(!is_given_up, "too late for {method} {path}");
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let serving = self.serving[number % 2].read().unwrap();
        serving
            .as_ref()
            .map(|serving| serving.open(method, path, headers, body))
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let answer = read_all(self.open(method, path, "", body));
        if answer.contains(" 503 ") {
            // The server asks for a pause. Without any, the clients would leave the others no time to recover.
            thread::sleep(PAUSE);
        }
        answer
    }
}

impl<'a> Apis<'a> {
    pub(super) fn start(agcore: &'a Agcore, logs: &'a Logs) -> Self {
        let start = || RwLock::new(Some(start(agcore, logs)));
        Self {
            agcore,
            logs,
            serving: [start(), start()],
            requests: AtomicUsize::new(0),
            is_given_up: AtomicBool::new(false),
        }
    }

    /// Kills a server and starts another one in its place.
    pub(super) fn restart(&self, number: usize) {
        let mut serving = self.serving[number].write().unwrap();
        serving.take().unwrap().kill();
        *serving = Some(start(self.agcore, self.logs));
    }

    /// Ends the servers, and with them the clients, which fail.
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
        for serving in &self.serving {
            drop(serving.write().unwrap().take());
        }
    }
}

fn start(agcore: &Agcore, logs: &Logs) -> Serving {
    let mut serving = Serving::start(agcore, &["--role", "api", "--tools"]);
    serving.log_to(logs.create("server"));
    serving
}

//! Clients of an agent and of flows, whose streams are cut again and again, while the server is killed and started again.

use std::{
    collections::HashMap,
    io::Read,
    sync::{
        RwLock, RwLockReadGuard,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    thread,
    time::Duration,
};

use agcore_testkit::mock_server::MockOptions;
use serde_json::{Value, json};

use super::{
    Event, Serving,
    flow_model::{FLOWS, FlowModel, write_flows},
    input, is_end, read_events,
};
use crate::support::{Agcore, Server};

/// The clients, each with one run at a time.
const CLIENTS: usize = 8;

/// The model calls a tool and writes an answer.
const TEXT: &str = "Use arithmetic, and then count the words of this message, one after the other, please.";

/// The server, which clients use together. It is exchanged when no client is connecting.
struct Shared {
    serving: RwLock<Option<Serving>>,
    cuts: AtomicUsize,
    kills: AtomicUsize,
    runs: AtomicUsize,
}

impl Shared {
    fn serving(&self) -> RwLockReadGuard<'_, Option<Serving>> {
        self.serving.read().unwrap()
    }

    /// Sends a request and returns what arrives of the answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = self.serving().as_ref().unwrap().open(method, path, "", body);
        let mut answer = Vec::new();
        // The server may be killed in the meantime.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Starts a run; repeats the request until it is acknowledged.
    fn start(&self, thread: &str, agent: &str) {
        let path = format!("/api/v1/agent/runs/{thread}");
        let mut input: Value = serde_json::from_str(&input(thread, TEXT)).unwrap();
        input["forwardedProps"] = json!({"agent": agent});
        while !self.ask("POST", &path, &input.to_string()).contains("202 Accepted") {}
    }

    fn follow(&self, thread: &str, last: Option<&str>, count: usize) -> Vec<Event> {
        let stream = self.serving().as_ref().unwrap().open_events(thread, last);
        read_events(stream, count)
    }

    /// Follows a run in pieces of different lengths, until it has ended.
    fn follow_in_pieces(&self, thread: &str, cut: &Sender<()>) -> Vec<Event> {
        let mut seen: Vec<Event> = Vec::new();
        while !is_end(&seen) {
            let last = seen.last().map(|(id, _)| id.clone());
            seen.extend(self.follow(thread, last.as_deref(), 1 + seen.len() % 3));
            if !is_end(&seen) {
                self.cuts.fetch_add(1, Ordering::Relaxed);
                // The receiver is gone when the last server runs.
                let _ = cut.send(());
            }
        }
        seen
    }

    /// Returns the whole log of a run that has ended.
    fn log(&self, thread: &str) -> Vec<Event> {
        loop {
            let log = self.follow(thread, None, usize::MAX);
            if is_end(&log) {
                return log;
            }
        }
    }

    /// Kills the server and starts another one with the same database.
    fn restart(&self, agcore: &Agcore) {
        let mut serving = self.serving.write().unwrap();
        serving.take().unwrap().kill();
        *serving = Some(Serving::start(agcore, &[]));
        self.kills.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the texts and the results of tools that count in the end, in order. Results that follow each other are sorted, because
/// calls that run at the same time end in any order.
fn outcome(log: &[Event]) -> Vec<String> {
    // Whether it is discarded, whether it is a result, and its text.
    let mut texts: Vec<(Value, bool, String)> = Vec::new();
    let mut open: HashMap<String, usize> = HashMap::new();
    for (_, event) in log {
        let id = event["messageId"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap() {
            "TEXT_MESSAGE_START" => {
                assert!(open.insert(id, texts.len()).is_none(), "{event}");
                texts.push((Value::Null, false, String::new()));
            }
            "TEXT_MESSAGE_CONTENT" => texts[open[&id]].2 += event["delta"].as_str().unwrap(),
            "TEXT_MESSAGE_END" => texts[open.remove(&id).unwrap()].0 = event["metadata"]["agcore"]["discarded"].clone(),
            "TOOL_CALL_RESULT" => texts.push((Value::Null, true, event["content"].to_string())),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    texts.retain(|(discarded, ..)| discarded.is_null());
    for results in texts.chunk_by_mut(|(_, one, _), (_, next, _)| *one && *next) {
        results.sort_by(|(.., one), (.., next)| one.cmp(next));
    }
    texts.into_iter().map(|(.., text)| text).collect()
}

/// Checks a run that was followed in pieces.
fn check(shared: &Shared, thread: &str, seen: &[Event], undisturbed: &[String]) {
    assert_eq!(seen, shared.log(thread), "lost, repeated or out of order");
    let ids: Vec<u64> = seen.iter().map(|(id, _)| id.parse().unwrap()).collect();
    assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    let of_type = |kind: &str| seen.iter().filter(|(_, event)| event["type"] == *kind).count();
    assert_eq!((of_type("RUN_STARTED"), of_type("RUN_FINISHED")), (1, 1), "{seen:?}");
    assert_eq!(outcome(seen), undisturbed, "{seen:?}");
    let path = format!("/api/v1/agent/history?threadId={thread}");
    let history = loop {
        let answer = shared.ask("GET", &path, "");
        if answer.contains("200 OK") && answer.trim_end().ends_with('}') {
            break answer;
        }
    };
    assert_eq!(history.matches(r#""role":"user""#).count(), 1, "{history}");
}

/// Returns the outcome of a run that nothing disturbs.
fn undisturbed(shared: &Shared, agent: &str) -> Vec<String> {
    let thread = format!("undisturbed-{agent}");
    shared.start(&thread, agent);
    let log = shared.log(&thread);
    assert_eq!(log.last().unwrap().1["type"], "RUN_FINISHED", "{agent}: {log:?}");
    let outcome = outcome(&log);
    // A staged flow calls no tool here.
    let least = if agent == "staged" { 1 } else { 2 };
    assert!(outcome.len() >= least, "results and an answer: {agent}: {log:?}");
    outcome
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
    let undisturbed: Vec<(&str, Vec<String>)> = agents
        .iter()
        .map(|agent| (*agent, undisturbed(&shared, agent)))
        .collect();

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
                    let seen = shared.follow_in_pieces(&thread, &cut);
                    check(shared, &thread, &seen, undisturbed);
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

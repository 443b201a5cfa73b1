//! Clients of servers that are killed: what they ask, follow and check.

use std::{
    collections::HashMap,
    io::{BufReader, Read as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use super::{Event, input, is_end, read_events};

/// The model calls a tool and writes an answer.
pub(super) const TEXT: &str = "Use arithmetic, and then count the words of this message, one after the other, please.";

/// Servers that clients use. Each may end at any time.
pub(super) trait Servers: Sync {
    /// Opens an answer of one of the servers.
    fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<BufReader<TcpStream>>;

    /// Sends a request and returns what arrives of the answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        read_all(self.open(method, path, "", body))
    }

    /// Starts a run; repeats the request until it is acknowledged.
    fn start(&self, thread: &str, agent: &str) {
        let mut input: Value = serde_json::from_str(&input(thread, TEXT)).unwrap();
        input["forwardedProps"] = json!({"agent": agent});
        self.post(thread, &input);
    }

    /// Sends the input of a run; repeats the request until it is acknowledged.
    fn post(&self, thread: &str, input: &Value) {
        let path = format!("/api/v1/agent/runs/{thread}");
        while !self.ask("POST", &path, &input.to_string()).contains("202 Accepted") {}
    }

    /// Reads up to `count` events of a run after an event. The stream may break off.
    fn follow(&self, (thread, run): (&str, &str), last: Option<&str>, count: usize) -> Vec<Event> {
        let last = last.map_or_else(String::new, |id| format!("last-event-id: {id}\r\n"));
        let path = format!("/api/v1/agent/runs/{thread}/events?runId={run}");
        let stream = self.open("GET", &path, &last, "");
        stream.map_or_else(Vec::new, |stream| read_events(stream, count))
    }

    /// Follows a run in pieces of different lengths, until it has ended. Reports each cut.
    fn follow_in_pieces(&self, run: (&str, &str), cut: impl Fn()) -> Vec<Event> {
        let mut seen: Vec<Event> = Vec::new();
        while !is_end(&seen) {
            let last = seen.last().map(|(id, _)| id.clone());
            seen.extend(self.follow(run, last.as_deref(), 1 + seen.len() % 3));
            if !is_end(&seen) {
                cut();
            }
        }
        seen
    }

    /// Returns the whole log of a run that has ended.
    fn log(&self, run: (&str, &str)) -> Vec<Event> {
        loop {
            let log = self.follow(run, None, usize::MAX);
            if is_end(&log) {
                return log;
            }
        }
    }

    /// Returns the outcome of a run that nothing disturbs.
    fn undisturbed(&self, agent: &str) -> Vec<String> {
        let thread = format!("undisturbed-{agent}");
        self.start(&thread, agent);
        let log = self.log((&thread, "r"));
        assert_eq!(log.last().unwrap().1["type"], "RUN_FINISHED", "{agent}: {log:?}");
        let outcome = outcome(&log);
        // A staged flow calls no tool here.
        let least = if agent == "staged" { 1 } else { 2 };
        assert!(outcome.len() >= least, "results and an answer: {agent}: {log:?}");
        outcome
    }

    /// Checks a run that was followed in pieces.
    fn check(&self, thread: &str, seen: &[Event], undisturbed: &[String]) {
        assert_eq!(seen, self.log((thread, "r")), "lost, repeated or out of order");
        let ids: Vec<u64> = seen.iter().map(|(id, _)| id.parse().unwrap()).collect();
        assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
        let of_type = |kind: &str| seen.iter().filter(|(_, event)| event["type"] == *kind).count();
        assert_eq!((of_type("RUN_STARTED"), of_type("RUN_FINISHED")), (1, 1), "{seen:?}");
        assert_eq!(outcome(seen), undisturbed, "{seen:?}");
        let path = format!("/api/v1/agent/history?threadId={thread}");
        let history = loop {
            let answer = self.ask("GET", &path, "");
            if answer.contains("200 OK") && answer.trim_end().ends_with('}') {
                break answer;
            }
        };
        assert_eq!(history.matches(r#""role":"user""#).count(), 1, "{history}");
    }
}

/// Reads what arrives of an answer: the server may be killed in the meantime.
pub(super) fn read_all(stream: Option<BufReader<TcpStream>>) -> String {
    let mut answer = Vec::new();
    if let Some(mut stream) = stream {
        let _ = stream.read_to_end(&mut answer);
    }
    String::from_utf8_lossy(&answer).into_owned()
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

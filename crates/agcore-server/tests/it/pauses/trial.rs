//! A conversation that workers have with a client.

use agcore_agent::AgentSpec;
use agcore_server::{Role, Server};
use agcore_testkit::crash::{Boundaries, Pauses, Place, PostgresSchema, Trial};
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    EFFECT, STARTS, agent, model,
    place::{block_on, open},
    sharing,
};
use crate::support::{Running, input};

pub(super) const THREAD: &str = "t";

/// A conversation with one message, and the answers to the questions about it.
pub(super) struct Conversation {
    place: Place,
    /// Removed with its tables at the end.
    _schema: PostgresSchema,
    runs: Vec<String>,
    /// Whether the client was asked if the tool may be called again.
    was_asked: bool,
}

impl Conversation {
    /// Starts a run in a schema of its own, because a worker takes any run.
    pub(super) fn start(schema: PostgresSchema) -> Self {
        let place = Place::in_schema(&schema);
        block_on(async {
            let server = api(&place).await;
            let started = server
                .post("/api/v1/agent/runs/t", &input(THREAD, "r1", "Say it."))
                .await;
            assert_eq!(started.status, StatusCode::ACCEPTED, "{}", started.text);
            server.stop().await;
        });
        Self {
            place,
            _schema: schema,
            runs: vec!["r1".to_owned()],
            was_asked: false,
        }
    }

    /// Asserts that the worker that was continued has started nothing.
    fn check_log(&self) {
        let log = self.place.log().text();
        let lines: Vec<&str> = log.lines().collect();
        let place_of = |line| lines.iter().position(|known| *known == line);
        if let (Some(from), Some(to)) = (place_of(Pauses::CONTINUED), place_of(Pauses::ENDED)) {
            let late = lines[from..to].iter().filter(|line| line.starts_with(STARTS));
            assert_eq!(late.count(), 0, "{log}");
        }
        let effects = lines.iter().filter(|line| **line == EFFECT).count();
        assert!(effects == 1 || effects == 0 && self.was_asked, "{log}");
    }
}

/// Starts a server that executes nothing.
async fn api(place: &Place) -> Running {
    let (log, boundaries) = (place.log(), Boundaries::without_stop());
    let bundle = agent(&model(&log, &boundaries), &log, &boundaries).build().unwrap();
    let builder = Server::builder()
        .with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."))
        .with_store(open(place).await)
        .with_sharing(sharing(Role::Api));
    Running::start(builder).await
}

/// Returns the events of runs that are over or parked.
async fn events(server: &Running, runs: &[String]) -> Vec<Value> {
    let mut all = Vec::new();
    for run in runs {
        let events = server.follow(THREAD, run, None).await;
        let ids: Vec<u64> = events.iter().filter_map(|event| event.id).collect();
        assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
        let data: Vec<Value> = events.into_iter().map(|event| event.data).collect();
        agcore_agui::check_order(data.iter().cloned()).unwrap();
        all.extend(data);
    }
    all
}

impl Trial for Conversation {
    fn place(&self) -> &Place {
        &self.place
    }

    fn killed(&mut self) {}

    fn continues(&mut self) -> bool {
        let next = block_on(async {
            let server = api(&self.place).await;
            let run = self.runs.last().unwrap();
            let end = server.follow(THREAD, run, None).await.pop().unwrap().data;
            assert_eq!(end["type"], "RUN_FINISHED", "{end}");
            let next = match end["outcome"]["interrupts"].as_array() {
                None => None,
                Some(asked) => {
                    assert_eq!((asked.len(), &asked[0]["reason"]), (1, &json!("uncertain")), "{end}");
                    let answer = json!({"interruptId": asked[0]["id"], "status": "resolved", "payload": false});
                    let path = format!("/api/v1/agent/runs/{THREAD}/{run}/answers");
                    let answered = server.post(&path, &json!({"answers": [answer]})).await;
                    Some(answered.json()["runId"].as_str().unwrap().to_owned())
                }
            };
            server.stop().await;
            next
        });
        self.was_asked |= next.is_some();
        let continues = next.is_some();
        self.runs.extend(next);
        continues
    }

    fn check(&self) {
        self.check_log();
        block_on(async {
            let server = api(&self.place).await;
            let all = events(&server, &self.runs).await;
            let count = |kind: &str| all.iter().filter(|event| event["type"] == kind).count();
            assert_eq!(
                (count("TOOL_CALL_START"), count("TOOL_CALL_RESULT")),
                (1, 1),
                "{all:#?}"
            );
            let history = server.get("/api/v1/agent/history?threadId=t").await.json();
            let messages = history["messages"].as_array().unwrap();
            let kinds: Vec<&str> = messages
                .iter()
                .map(|message| message["metadata"]["type"].as_str().unwrap())
                .collect();
            let expected = ["user_input", "tool_call", "tool_result", "assistant_output"];
            assert_eq!(kinds, expected, "{history}");
            assert_eq!(messages[3]["content"], "Said it.");
            assert_eq!(messages[2]["metadata"]["is_error"], self.was_asked, "{history}");
            server.stop().await;
        });
    }
}

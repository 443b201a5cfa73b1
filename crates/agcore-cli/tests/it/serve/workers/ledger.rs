//! [`Ledger`]: a file to which a tool adds a line for each call, and the model that calls it.

use std::{collections::BTreeMap, fs, path::PathBuf};

use agcore_testkit::mock_server::{Behavior, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    serve::{clients::Servers, flow_model::FlowModel, input},
    support::Agcore,
};

/// The agents whose tool adds a line. The second one is a flow.
const AGENTS: [&str; 2] = ["assistant", "ledger"];

const FLOW: &str = "
version: 1
kind: graph
agents:
  clerk: {role: You log., goal: Log., backstory: '', tools: [shell]}
  writer: {role: You write., goal: Write well., backstory: ''}
nodes: {log: {}, answer: {}}
edges:
  - {from: log, to: answer}
  - {from: answer, to: end}
tasks:
  log: {agent: clerk, description: '{{request}}', expected_output: A text.}
  answer: {agent: writer, description: 'Count these words: {{results.log}}', expected_output: A text.}
";

/// Comes before the name of a line in a request.
const MARK: &str = "Add this line to the ledger: ";

/// A file to which the tool of some runs adds a line with the name of their thread. A second call would add a second line.
pub(super) struct Ledger(TempDir);

/// Has the tool called once for each request that asks for a line, and leaves all others to another model.
pub(super) struct LedgerModel {
    script: PathBuf,
    others: FlowModel,
}

/// The lines that are in the ledger, and those that may be.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// The threads of runs whose call has a result.
    known: Vec<String>,
    /// Those of runs that have asked about a call whose outcome is unknown.
    unknown: Vec<String>,
}

impl Ledger {
    pub(super) fn new() -> Self {
        let ledger = Self(tempfile::tempdir().unwrap());
        // It takes a while, so that workers are killed and stopped meanwhile.
        let script = format!("sleep 0.1\necho \"$1\" >> '{}'\nsleep 0.1\n", ledger.file().display());
        fs::write(ledger.script(), script).unwrap();
        ledger
    }

    pub(super) fn model(&self, others: FlowModel) -> LedgerModel {
        LedgerModel {
            script: self.script(),
            others,
        }
    }

    pub(super) fn write_flow(agcore: &Agcore) {
        let folder = agcore.settings_directory().join("flows");
        fs::write(folder.join("ledger.flow.yaml"), FLOW).unwrap();
    }

    fn script(&self) -> PathBuf {
        self.0.path().join("add")
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("ledger")
    }

    /// Checks that each call whose outcome is known has taken place once, and no other one more than once. Returns a summary.
    pub(super) fn check(&self, expected: &Expected) -> String {
        let text = fs::read_to_string(self.file()).unwrap_or_default();
        let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.lines() {
            *lines.entry(line).or_default() += 1;
        }
        for thread in &expected.known {
            assert_eq!(lines.remove(&**thread), Some(1), "the calls of {thread}");
        }
        let mut done = 0;
        for thread in &expected.unknown {
            let calls = lines.remove(&**thread).unwrap_or_default();
            assert!(calls <= 1, "{calls} calls of {thread}");
            done += calls;
        }
        assert!(lines.is_empty(), "calls of other runs: {lines:?}");
        let (known, unknown) = (expected.known.len(), expected.unknown.len());
        format!(
            "{known} calls of a tool took place once, {unknown} have an unknown outcome: {done} of these took place once"
        )
    }
}

impl Behavior for LedgerModel {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        let prompt = request.prompt();
        let line = prompt.last_user().split_once(MARK).map(|(_, rest)| rest);
        let Some(line) = line.and_then(|rest| rest.split('.').next()) else {
            return self.others.reply(request);
        };
        if prompt.results().is_empty() {
            let command = format!("sh {} {line}", self.script.display());
            return Reply::tool_calls([ToolCall::new("shell", &json!({"command": command}))]);
        }
        Reply::text("It is in the ledger, or not.")
    }
}

impl Expected {
    /// Executes a run whose tool adds a line. If the run asks about the outcome of the call, the call is not repeated.
    pub(super) fn run(&mut self, servers: &impl Servers, thread: &str, number: usize) {
        let mut request: Value = serde_json::from_str(&input(thread, &format!("{MARK}{thread}."))).unwrap();
        request["forwardedProps"] = json!({"agent": AGENTS[number % 2]});
        let end = execute(servers, (thread, "r"), &request);
        let question = &end["outcome"]["interrupts"][0];
        if question.is_null() {
            self.known.push(thread.to_owned());
            return;
        }
        assert_eq!(question["reason"], "uncertain", "{end}");
        self.unknown.push(thread.to_owned());
        let answer = json!({"interruptId": question["id"], "status": "resolved", "payload": {"approved": false}});
        request["runId"] = json!("r2");
        request["messages"] = json!([]);
        request["resume"] = json!([answer]);
        let end = execute(servers, (thread, "r2"), &request);
        assert!(end["outcome"]["interrupts"][0].is_null(), "{end}");
    }

    /// Adds what another client expects.
    pub(super) fn add(&mut self, other: Self) {
        self.known.extend(other.known);
        self.unknown.extend(other.unknown);
    }
}

/// Executes a run, checks its events, and returns the last one.
fn execute(servers: &impl Servers, run: (&str, &str), request: &Value) -> Value {
    servers.post(run.0, request);
    let seen = servers.follow_in_pieces(run, || {});
    assert_eq!(seen, servers.log(run), "lost, repeated or out of order");
    let (_, end) = seen.last().unwrap();
    assert_eq!(end["type"], "RUN_FINISHED", "{end}");
    end.clone()
}

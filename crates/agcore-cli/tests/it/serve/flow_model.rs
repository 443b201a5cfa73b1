//! Flows of every kind, and a model that answers their nodes.

use std::{fs, time::Duration};

use agcore_demo::Playground;
use agcore_testkit::mock_server::{Behavior, RecordedRequest, Reply};
use serde_json::{Value, json};

use crate::support::Agcore;

/// The names of the flows.
pub(super) const FLOWS: [&str; 4] = ["router", "staged", "planner", "graph"];

const AGENTS: &str = "
agents:
  clerk: {role: You decide., goal: Decide., backstory: ''}
  worker: {role: You work., goal: Work well., backstory: '', tools: [arithmetic]}
";

const ROUTER: &str = "
tasks:
  router: {agent: clerk, description: Step decide., expected_output: A decision.}
  worker: {agent: worker, description: 'Use arithmetic: {{router.execution_brief}}', expected_output: The result.}
";

const STAGED: &str = "
tasks:
  intent_recognition: {agent: clerk, description: 'Step decide. {{request}}', expected_output: An intent.}
  task_execution: {agent: worker, description: 'Step execute. {{intent.execution_brief}}', expected_output: Facts.}
  result_reporting: {agent: clerk, description: 'Step report. {{execution.report_brief}}', expected_output: An answer.}
";

const PLANNER: &str = "
tasks:
  planner: {agent: worker, description: 'Step plan. {{request}} {{tools}} {{actions}}', expected_output: An action.}
  reflection: {agent: clerk, description: 'Step judge. {{actions}}', expected_output: A judgement.}
  output: {agent: clerk, description: 'Count these words: {{request}}', expected_output: An answer.}
";

const GRAPH: &str = "
nodes: {draft: {}, answer: {}}
edges:
  - {from: draft, to: answer}
  - {from: answer, to: end}
tasks:
  draft: {agent: worker, description: 'Use arithmetic: {{request}}', expected_output: A text.}
  answer: {agent: clerk, description: 'Count these words: {{results.draft}}', expected_output: A text.}
";

/// Writes the flows into the settings of the user.
pub(super) fn write_flows(agcore: &Agcore) {
    let folder = agcore.settings_directory().join("flows");
    fs::create_dir_all(&folder).unwrap();
    for (name, tasks) in FLOWS.into_iter().zip([ROUTER, STAGED, PLANNER, GRAPH]) {
        let text = format!("version: 1\nkind: {name}\n{AGENTS}{tasks}");
        fs::write(folder.join(format!("{name}.flow.yaml")), text).unwrap();
    }
}

/// A model that gives each node of a flow the kind of reply that it expects, and plays with everyone else.
pub(super) struct FlowModel {
    pace: Duration,
}

impl FlowModel {
    pub(super) fn new(pace: Duration) -> Self {
        Self { pace }
    }
}

impl Behavior for FlowModel {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        let body = String::from_utf8_lossy(request.body());
        match reply_of(&body) {
            Some(value) => Reply::text(value.to_string()).with_pace(self.pace),
            None => Playground::new().with_pace(self.pace).reply(request),
        }
    }
}

/// Returns the reply to a node that expects an object.
fn reply_of(body: &str) -> Option<Value> {
    let replies = [
        (
            "Step decide.",
            json!({
                "route": "NEEDS_EXECUTION", "intent_summary": "work", "assistant_text": null,
                "execution_brief": "count these words", "skills": [], "safety_flags": [],
            }),
        ),
        (
            "Step execute.",
            json!({
                "status": "SUCCESS", "execution_summary": "done", "execution_data": {"words": 3},
                "report_brief": "Report it.", "error_message": null,
            }),
        ),
        (
            "Step report.",
            json!({"assistant_text": "There are three words in it.", "response_metadata": {}}),
        ),
        (
            "Step plan.",
            json!({
                "summary": "A sum is needed.", "next": "arithmetic",
                "calls": [{"operation": "add", "a": 1, "b": 2}, {"operation": "add", "a": 3, "b": 4}],
            }),
        ),
        (
            "Step judge.",
            json!({
                "summary": "That is it.", "relevance": 1, "is_todo_done": null, "todo_result": null,
                "is_finished": true,
            }),
        ),
    ];
    let found = replies.into_iter().find(|(marker, _)| body.contains(marker));
    found.map(|(_, reply)| reply)
}

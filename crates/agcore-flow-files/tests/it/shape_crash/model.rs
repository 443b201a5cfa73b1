//! The flow files of the runs, and a model that replies by the content of a request, so that every process gets the same
//! replies.

use std::sync::Arc;

use agcore_chat::{ChatResponse, Message, ToolCall};
use serde_json::{Value, json};

/// The calls of the tool `work` in each run.
pub(super) const CALLS: usize = 4;

pub(super) const STAGED: &str = "
version: 1
kind: staged
agents:
  clerk: {role: You work., goal: Work., backstory: ''}
  worker: {role: You work., goal: Work., backstory: '', tools: [work]}
tasks:
  intent_recognition: {agent: clerk, description: 'Intent of {{request}}', expected_output: An intent.}
  task_execution: {agent: worker, description: 'Execute {{intent.execution_brief}}', expected_output: Facts.}
  result_reporting: {agent: clerk, description: 'Report {{execution.report_brief}}', expected_output: A text.}
";

pub(super) const ROUTER: &str = "
version: 1
kind: router
agents:
  clerk: {role: You route., goal: Work., backstory: ''}
  worker: {role: You work., goal: Work., backstory: '', tools: [work]}
  keeper: {role: You note., goal: Work., backstory: '', tools: [work]}
tasks:
  router: {agent: clerk, description: 'Route {{request}}', expected_output: A decision.}
  worker: {agent: worker, description: 'Answer {{router.execution_brief}}', expected_output: An answer.}
  memory: {agent: keeper, description: 'Note {{answer}}', expected_output: A note.}
";

pub(super) const PLANNER: &str = "
version: 1
kind: planner
agents:
  helper: {role: You help., goal: Work., backstory: '', tools: [work]}
scenarios: {help: Help is needed.}
tasks:
  scenario: {agent: helper, description: 'Scenario of {{request}}', expected_output: A scenario.}
  planner: {agent: helper, description: 'Plan {{actions}}', expected_output: An action.}
  reflection: {agent: helper, description: 'Reflect {{todos}}', expected_output: A judgement.}
  output: {agent: helper, description: 'Sum up {{actions}}', expected_output: An answer.}
  archive: {agent: helper, description: 'Archive {{request}}', expected_output: Notes.}
";

/// Replies to a request, by the first word of its task.
pub(super) fn reply(messages: &[Arc<Message>]) -> ChatResponse {
    let results: Vec<String> = messages
        .iter()
        .filter(|message| matches!(&***message, Message::Tool(_)))
        .map(|message| message.text().into_owned())
        .collect();
    let of_user = messages.iter().find(|message| matches!(&***message, Message::User(_)));
    let text = of_user.map(|message| message.text().into_owned()).unwrap_or_default();
    let word = text.split(' ').next().unwrap_or_default();
    let value = match word {
        "Intent" => json!({"route": "NEEDS_EXECUTION", "intent_summary": "w", "assistant_text": null,
            "execution_brief": "Work.", "safety_flags": []}),
        "Execute" if results.len() < CALLS => return call(results.len()),
        "Execute" => json!({"status": "SUCCESS", "execution_summary": "", "execution_data": {"all": results},
            "report_brief": "x"}),
        "Report" => json!({"assistant_text": "Done.", "response_metadata": {}}),
        // The router sees the conversation, which is the request alone.
        "Begin" => json!({"route": "NEEDS_EXECUTION", "intent_summary": "w", "assistant_text": null,
            "execution_brief": "Work.", "skills": [], "safety_flags": []}),
        "Answer" if results.len() < CALLS - 1 => return call(results.len()),
        "Answer" => return ChatResponse::from_text(format!("Done: {}", results.join(", "))),
        "Note" if results.is_empty() => return call(CALLS - 1),
        "Note" => return ChatResponse::from_text("Noted."),
        "Scenario" => json!({"summary": "s", "scenario": "help", "goals": ["g"]}),
        "Plan" => plan(done(&text)),
        "Reflect" => json!({"summary": "useful", "relevance": 1, "is_todo_done": true, "todo_result": null,
            "is_finished": false}),
        "Sum" => return ChatResponse::from_text(format!("{} results", done(&text))),
        "Archive" => json!({"preferences": ["Likes work."], "facts": []}),
        other => json!({"unexpected": other}),
    };
    ChatResponse::from_text(value.to_string())
}

fn call(number: usize) -> ChatResponse {
    let call = ToolCall::function(format!("call_{number}"), "work", format!("{{\"number\": {number}}}"));
    ChatResponse::from_calls([call])
}

/// Returns the number of calls whose results are in a text.
fn done(text: &str) -> usize {
    let is_done = |number: &usize| text.contains(&format!("result of {number}"));
    (0..CALLS).filter(is_done).count()
}

/// The first action makes two calls, and each one behind it another one, until all are made.
fn plan(done: usize) -> Value {
    if done == CALLS {
        return json!({"summary": "all is done", "next": "finish", "calls": []});
    }
    let mut decision =
        json!({"summary": "go on", "next": "work", "calls": [{"number": done}], "todo": format!("t{done}")});
    if done == 0 {
        decision["calls"] = json!([{"number": 0}, {"number": 1}]);
        decision["new_todos"] = json!([{"id": "t0", "task": "a"}, {"id": "t2", "task": "b", "dependencies": ["t0"]},
            {"id": "t3", "task": "c", "dependencies": ["t2"]}]);
    }
    decision
}

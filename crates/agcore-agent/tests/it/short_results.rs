//! Compression of results: what the model sees, what stays whole, and how the model reads the rest.

use std::sync::{Arc, Mutex};

use agcore_agent::{AgentBuilder, AgentConfig, AgentSession, ResultCompression, SessionState, agent};
use agcore_chat::{EventKind, Message, ToolCall, ToolEvent, ToolResult, WindowSettings};
use agcore_cycle::{CompactionSettings, Hook, HookContext, ResultVerdict};
use agcore_session::{MessageFilter, MessageRole, SessionReader};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, typed};
use serde_json::{Value, json};

use crate::stored::{ada, store};

/// The text of a log with a problem.
fn log() -> String {
    let line = |n: usize| match n {
        411 => "12:00:03 ERROR the disk of host-7 is full\n".to_owned(),
        n => format!("12:00:02 INFO request {n} was answered in {} ms\n", n % 50),
    };
    (0..900).map(line).collect()
}

fn builder(model: &ScriptedProvider) -> AgentBuilder {
    agent(model.clone())
        .with_clock(ManualClock::jumping())
        .with_tool(typed("log", "Returns the log.", |_: NoArguments| async { Ok(log()) }))
        .with_tool(typed("exact", "Returns the log.", |_: NoArguments| async { Ok(log()) }))
        .with_compressed_results(ResultCompression::above_tokens(1_000).keep("exact"))
}

fn call(id: &str, name: &str, arguments: Value) -> ScriptStep {
    ScriptStep::calls([ToolCall::function(id, name, arguments.to_string())])
}

fn read(arguments: Value) -> ScriptStep {
    call("read", "read_result", arguments)
}

fn done() -> ScriptStep {
    ScriptStep::text("Done.")
}

fn tools(messages: &[Arc<Message>]) -> Vec<String> {
    let tools = messages.iter().filter(|message| message.role().as_str() == "tool");
    tools.map(|message| message.text().into_owned()).collect()
}

async fn results(session: &AgentSession) -> Vec<String> {
    tools(&session.messages().await)
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

#[agcore_tools::async_trait]
impl Hook for Seen {
    async fn post_tool(&self, _: &HookContext<'_>, _: &ToolCall, result: &ToolResult) -> ResultVerdict {
        self.0.lock().unwrap().push(result.content.text().into_owned());
        ResultVerdict::Continue
    }
}

#[tokio::test]
async fn only_requests_are_shorter() {
    let model = ScriptedProvider::new([
        call("a", "log", json!({})),
        call("b", "exact", json!({})),
        done(),
        done(),
    ]);
    let (hook, store, mut events) = (Seen::default(), store(), Vec::new());
    let sessions = builder(&model)
        .with_hook(hook.clone())
        .with_session_store(store.clone())
        .build()
        .unwrap()
        .stored_sessions()
        .unwrap();
    let session = sessions.create("s-1", ada()).await.unwrap();
    let mut stream = session.turn("Is all well?").stream();
    while let Some(event) = stream.next().await {
        if let EventKind::Tool(ToolEvent::Completed { output, .. }) = event.kind {
            events.push(output.to_string());
        }
    }
    let outcome = stream.finish().await.unwrap();
    let requests = model.requests();
    let shown = tools(&requests[1].messages).remove(0);
    assert!(
        shown.starts_with("[This result was shortened. `read_result` with the id \"a\""),
        "{shown}"
    );
    assert!(
        shown.contains("ERROR the disk of host-7 is full") && shown.len() < 1_500,
        "{shown}"
    );
    // It is the same in all requests, and other tools keep theirs.
    assert_eq!(tools(&requests[2].messages), [shown.clone(), log()]);
    session.turn("Sure?").await.unwrap();
    assert_eq!(model.requests()[3].messages[..5], requests[2].messages[..5]);
    // The conversation, hooks, events and rows have the whole results.
    let whole = [log(), log()];
    assert_eq!(results(&session).await, whole);
    assert_eq!(*hook.0.lock().unwrap(), whole);
    assert_eq!(events, whole);
    let rows = store.messages("local", "s-1", &MessageFilter::new()).await.unwrap();
    let rows: Vec<_> = rows
        .into_iter()
        .filter(|row| row.role == MessageRole::Tool)
        .map(|row| row.content)
        .collect();
    assert_eq!(rows, whole);
    // Two requests of the turn contained the shorter form.
    let report = outcome.report().unwrap();
    assert!(report.tokens_saved > 20_000, "{}", report.tokens_saved);
}

#[tokio::test]
async fn the_model_reads_what_was_left_out() {
    let reads = [
        json!({"id": "a", "from_line": 500, "lines": 2}),
        json!({"id": "a", "contains": "REQUEST 777 "}),
        json!({"id": "a", "from_line": 9_000}),
        json!({"id": "a", "from_line": 0, "lines": 0}),
        json!({"id": "a", "lines": 100_000}),
        json!({"id": "b"}),
    ];
    let mut steps = vec![call("a", "log", json!({}))];
    steps.extend(reads.into_iter().enumerate().map(|(at, arguments)| {
        ScriptStep::calls([ToolCall::function(
            format!("r{at}"),
            "read_result",
            arguments.to_string(),
        )])
    }));
    steps.push(done());
    let model = ScriptedProvider::new(steps);
    let session = builder(&model).session().unwrap();
    session.turn("Is all well?").await.unwrap();
    let results = results(&session).await;
    assert_eq!(
        results[1],
        "500: 12:00:02 INFO request 499 was answered in 49 ms\n501: 12:00:02 INFO request 500 was answered in 0 ms\n\
         [more from line 502 of 900]"
    );
    assert_eq!(
        results[2],
        "778: 12:00:02 INFO request 777 was answered in 27 ms\n[end]"
    );
    assert_eq!(results[3], "[no such line; the result has 900 lines]");
    assert!(
        results[4].starts_with("1: 12:00:02 INFO request 0 ") && results[4].contains("[more from line 2 of"),
        "{}",
        results[4]
    );
    assert!(
        results[5].len() < 40_000 && results[5].contains("[more from line "),
        "{}",
        results[5].len()
    );
    assert!(
        results[6].contains("no shortened result with the id `b`; the newest ones are a"),
        "{}",
        results[6]
    );
    // What was read stays as it is.
    assert_eq!(tools(&model.requests().last().unwrap().messages)[5], results[5]);
}

#[tokio::test]
async fn a_saved_session_reads_earlier_results() {
    let model = ScriptedProvider::new([
        call("a", "log", json!({})),
        done(),
        read(json!({"id": "a", "contains": "host-7"})),
        done(),
    ]);
    let bundle = builder(&model).build().unwrap();
    let session = bundle.session("s-1", ada());
    session.turn("Is all well?").await.unwrap();
    let saved = serde_json::to_string(&session.export().await).unwrap();
    let state: SessionState = serde_json::from_str(&saved).unwrap();
    let session = bundle.restore(state, ada()).unwrap();
    session.turn("Which host?").await.unwrap();
    assert_eq!(
        results(&session).await[1],
        "412: 12:00:03 ERROR the disk of host-7 is full\n[end]"
    );
    let requests = model.requests();
    assert_eq!(tools(&requests[2].messages), tools(&requests[1].messages));
}

#[tokio::test]
async fn compaction_measures_what_the_model_sees_and_replays_agree() {
    let store = store();
    let steps = || [call("a", "log", json!({})), done(), done()];
    let mut compaction = CompactionSettings::new();
    compaction.window = WindowSettings::new()
        .with_context_window(4_000)
        .with_reserved_tokens(0)
        .with_buffer(0)
        .with_keep_recent(0);
    let config = AgentConfig::new().with_compaction(compaction);
    let model = ScriptedProvider::new(steps());
    let bundle = builder(&model)
        .with_config(config)
        .with_session_store(store)
        .build()
        .unwrap();
    let sessions = bundle.stored_sessions().unwrap();
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Is all well?").await.unwrap();
    session.turn("Sure?").await.unwrap();
    // The whole result alone would be longer than the window.
    model.assert_done();
    assert_eq!(results(&session).await, [log()]);
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    bundle.replay(&trajectory, ada()).await.unwrap();
}

#[tokio::test]
async fn another_tool_with_the_name_turns_the_compression_off() {
    let model = ScriptedProvider::new([call("a", "log", json!({})), done()]);
    let session = builder(&model)
        .with_tool(typed("read_result", "Reads lottery results.", |_: NoArguments| async {
            Ok("7")
        }))
        .session()
        .unwrap();
    let outcome = session.turn("Is all well?").await.unwrap();
    assert_eq!(tools(&model.requests()[1].messages), [log()]);
    assert_eq!(outcome.report().unwrap().tokens_saved, 0);
}

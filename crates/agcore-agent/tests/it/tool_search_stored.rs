//! Loaded tools in sessions that are saved, stored, opened again after their process has died, and replayed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::{AgentConfig, RuntimeBundle, SessionState, agent};
use agcore_chat::{Answer, ToolCall, WindowSettings};
use agcore_cycle::CompactionSettings;
use agcore_session::SessionStore;
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{PermissionRules, Rule, RuleState, SuspendingApprover, ToolSession};
use futures_util::FutureExt;

use crate::{
    stored::{ada, store},
    tool_search::{always, call, names, registry, results, search},
};

const LOADED: [&str; 3] = ["read_file", "search_tools", "mail__send"];

fn bundle(model: &ScriptedProvider, store: Option<Arc<dyn SessionStore>>, runs: &Arc<AtomicUsize>) -> RuntimeBundle {
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "mail__send"));
    let builder = agent(model.clone())
        .with_clock(ManualClock::jumping())
        .with_tools(registry(runs))
        .with_tool_search(always().with_max_results(1))
        .with_permissions(rules)
        .with_approver(SuspendingApprover);
    match store {
        Some(store) => builder.with_session_store(store).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

fn steps() -> [ScriptStep; 2] {
    [search("send a message to somebody"), call("mail__send")]
}

#[tokio::test]
async fn a_saved_session_has_its_tools() {
    let model = ScriptedProvider::new(steps().into_iter().chain(["Sent.", "Hi."].map(ScriptStep::text)));
    let runs = Arc::default();
    let bundle = bundle(&model, None, &runs);
    let session = bundle.session("s-1", ada());
    session.turn("Send it.").await.unwrap();
    let saved = serde_json::to_string(&session.export().await).unwrap();
    drop(session);
    let state: SessionState = serde_json::from_str(&saved).unwrap();
    let session = bundle.restore(state, ada()).unwrap();
    let question = session.questions().await[0].id.clone();
    session.resume([(question, Answer::approve())]).await.unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    assert_eq!(results(&session).await[1], "mail__send ran");
    session.turn("Hello").await.unwrap();
    for request in &model.requests()[1..] {
        assert_eq!(names(request), LOADED);
    }
}

#[tokio::test]
async fn a_stored_session_has_its_tools_after_a_crash() {
    let store = store();
    let (runs, model) = (Arc::default(), ScriptedProvider::new(steps()));
    let sessions = bundle(&model, Some(store.clone()), &runs).stored_sessions().unwrap();
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Send it.").await.unwrap();
    // The process dies while the call waits for a person.
    drop((session, sessions));
    let model = ScriptedProvider::new(["Sent.", "Hi."].map(ScriptStep::text));
    let sessions = bundle(&model, Some(store), &runs).stored_sessions().unwrap();
    let session = sessions.open("s-1", ada()).await.unwrap();
    assert_eq!(session.tools().loaded_tools(), ["mail__send"]);
    let question = session.questions().await[0].id.clone();
    session.resume([(question, Answer::approve())]).await.unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    session.turn("Hello").await.unwrap();
    for request in model.requests() {
        assert_eq!(names(&request), LOADED);
    }
    sessions.trajectory("s-1").await.unwrap();
}

#[tokio::test]
async fn a_process_that_dies_right_after_the_search_has_loaded_the_tools() {
    let store = store();
    let model = ScriptedProvider::new([search("send a message to somebody"), ScriptStep::hang()]);
    let sessions = bundle(&model, Some(store.clone()), &Arc::default())
        .stored_sessions()
        .unwrap();
    let session = sessions.create("s-1", ada()).await.unwrap();
    let mut turn = Box::pin(session.turn("Send it.").run());
    // Until the model is asked for the second time, and does not answer.
    while model.requests().len() < 2 {
        assert!(turn.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    drop((turn, session, sessions));
    let model = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let sessions = bundle(&model, Some(store), &Arc::default()).stored_sessions().unwrap();
    let session = sessions.open("s-1", ada()).await.unwrap();
    session.resume([]).await.unwrap();
    assert_eq!(names(&model.requests()[0]), LOADED);
}

#[tokio::test]
async fn sessions_with_searches_and_calls_of_unknown_tools_are_replayed() {
    let store = store();
    let model = ScriptedProvider::new([
        call("github__list_issues"),
        ScriptStep::calls([ToolCall::function("again", "github__list_issues", r#"{"target": "x"}"#)]),
        search("send a message to somebody"),
        ScriptStep::text("Ready. ".repeat(400)),
        ScriptStep::text("A summary."),
        ScriptStep::text("Hi."),
    ]);
    let runs = Arc::default();
    // The size of the tools decides when the conversation is compacted.
    let mut compaction = CompactionSettings::new();
    compaction.window = WindowSettings::new()
        .with_context_window(1_400)
        .with_reserved_tokens(0)
        .with_buffer(0)
        .with_keep_recent(0);
    let config = AgentConfig::new().with_compaction(compaction);
    let make = |model: &ScriptedProvider, is_searched: bool| {
        let builder = agent(model.clone())
            .with_clock(ManualClock::jumping())
            .with_config(config.clone())
            .with_tools(registry(&runs))
            .with_session_store(store.clone());
        match is_searched {
            true => builder.with_tool_search(always().with_max_results(1)).build().unwrap(),
            false => builder.build().unwrap(),
        }
    };
    let sessions = make(&model, true).stored_sessions().unwrap();
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Look, then send it.").await.unwrap();
    session.turn("Hello").await.unwrap();
    assert_eq!(session.tools().loaded_tools(), ["github__list_issues", "mail__send"]);
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    let report = make(&ScriptedProvider::new([]), true)
        .replay(&trajectory, ada())
        .await
        .unwrap();
    assert_eq!((report.turns, report.tool_results), (2, 3));
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn sessions_without_loaded_tools_are_readable_for_earlier_programs() {
    let session = ToolSession::new();
    assert_eq!(session.export()["version"], 2);
    session.load_tool("a");
    assert_eq!(session.export()["version"], 3);
}

//! The context that a call receives.

use std::sync::{Arc, Mutex};

use agcore_chat::ToolOutcome;
use agcore_tools::{
    Approval, NoArguments, PermissionRules, Rule, RuleState, RunState, State, ToolContext, ToolErrorKind, ToolPolicy,
    ToolSession, typed,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{
    ScriptedApprover, call, context, context_builder, executor_for, registry, reports, settle, text, work,
};

#[tokio::test]
async fn a_call_receives_the_context_of_the_run() {
    let token = CancellationToken::new();
    let outer = token.clone();
    let tool = typed(
        "who",
        "Returns the context of its call.",
        move |_: NoArguments, context: ToolContext| {
            let outer = outer.clone();
            async move {
                let before = context.cancellation().is_cancelled();
                outer.cancel();
                Ok(json!([
                    &**context.session_id(),
                    context.trace_id().map(|id| &**id),
                    &**context.call_id(),
                    before,
                    context.cancellation().is_cancelled(),
                ]))
            }
        },
    );
    let context = context_builder()
        .with_trace_id("trace")
        .with_cancellation(token)
        .build();
    let done = registry([tool]).invoke(call("c7", "who", &json!({})), &context).await;
    // The tool cancels the run but never yields afterwards, so it still completes.
    assert_eq!(
        done.result.unwrap().as_value(),
        Some(&json!(["session", "trace", "c7", false, true])),
        "the session id and the token must be those of the run"
    );
}

#[tokio::test]
async fn the_end_of_a_call_cancels_its_token() {
    let leaked: Arc<Mutex<Option<ToolContext>>> = Arc::default();
    let slot = leaked.clone();
    let tool = typed(
        "leak",
        "Leaks its context.",
        move |_: NoArguments, context: ToolContext| {
            *slot.lock().unwrap() = Some(context);
            async move { Ok("done") }
        },
    );
    let outer = context();
    registry([tool]).invoke(call("c", "leak", &json!({})), &outer).await;
    let leaked = leaked.lock().unwrap().take().unwrap();
    assert!(leaked.cancellation().is_cancelled());
    assert!(!outer.cancellation().is_cancelled());
}

struct Database(&'static str);

#[tokio::test]
async fn state_is_extracted_from_the_context() {
    let tool = || {
        typed("q", "Queries.", |_: NoArguments, db: State<Database>| async move {
            Ok(db.0.0)
        })
    };
    let with = context_builder().with_state(Database("db")).build();
    let executor = registry([tool()]).executor(with).build().unwrap();
    assert_eq!(text(&settle(&executor, "q", json!({})).await), "db");

    let error = executor_for([tool()]).build().expect_err("the state is missing");
    assert_eq!(error.kind(), ToolErrorKind::Config);
    let message = error.to_string();
    assert!(message.starts_with("q cannot be used: it needs a value of type ") && message.contains("Database"));

    // For a call of the application itself, the state is checked only when the tool runs.
    let done = registry([tool()]).invoke(call("c", "q", &json!({})), &context()).await;
    let error = done.result.unwrap_err();
    assert_eq!(
        (error.kind(), &*error.model_text()),
        (ToolErrorKind::Config, "the tool is not configured correctly")
    );
}

#[tokio::test]
async fn calls_share_the_state_of_the_run() {
    let tool = typed("count", "Counts.", |_: NoArguments, context: ToolContext| async move {
        Ok(context.run_state().update("count", |count| {
            *count = json!(count.as_u64().unwrap_or(0) + 1);
            count.clone()
        }))
    });
    let state = RunState::new();
    let context = context_builder().with_run_state(state.clone()).build();
    let executor = registry([tool]).executor(context).build().unwrap();
    for expected in ["1", "2"] {
        assert_eq!(text(&settle(&executor, "count", json!({})).await), expected);
    }
    let restored = RunState::restore(state.snapshot());
    assert_eq!(restored.get("count"), Some(json!(2)));
    assert_eq!(
        (restored.remove("count"), restored.get("count")),
        (Some(json!(2)), None)
    );
    assert_eq!(
        (restored.set("a", json!(1)), restored.set("a", json!(2))),
        (None, Some(json!(1)))
    );
}

#[tokio::test]
async fn a_cancelled_run_starts_no_calls() {
    let token = CancellationToken::new();
    token.cancel();
    let tool = crate::support::Echo::new("t");
    let context = context_builder().with_cancellation(token).build();
    let executor = registry([tool.clone()]).executor(context).build().unwrap();
    let (outcome, _) = executor.settle(work("c", "t", &json!({}))).await;
    assert_eq!(crate::support::fatal_text(&outcome), "the call was cancelled");
    assert_eq!(tool.count(), 0);
}

#[tokio::test]
async fn an_executor_serves_calls_of_several_runs() {
    let who = typed(
        "who",
        "Returns the user and the database.",
        |_: NoArguments, context: ToolContext| async move {
            let database = context.extension::<Database>().map(|database| database.0);
            Ok(json!([&**context.session_id(), database]))
        },
    );
    let approver = ScriptedApprover::new([Approval::session(), Approval::session()]);
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "who"));
    let executor = executor_for([who])
        .with_policy(ToolPolicy::new(rules).with_approver(approver.clone()))
        .build()
        .unwrap();
    let run = |id: &str, database| {
        let context = context_builder().with_session_id(id).with_state(Database(database));
        (context.build(), ToolSession::new())
    };
    let (ann, bob) = (run("ann", "a"), run("bob", "b"));
    let settle = async |(context, session): &(ToolContext, ToolSession)| {
        let work = work("call", "who", &json!({}));
        text(&executor.settle_for(context, session, work).await.0)
    };
    assert_eq!(settle(&ann).await, r#"["ann","a"]"#);
    assert_eq!(settle(&ann).await, r#"["ann","a"]"#);
    assert_eq!(approver.requests().len(), 1, "the grant holds for the run");
    assert_eq!(settle(&bob).await, r#"["bob","b"]"#);
    assert_eq!(approver.requests().len(), 2, "a grant of another run does not count");
    // The run of the executor itself has neither.
    assert!(executor.session().grants().is_empty());

    let (context, session) = run("cara", "c");
    context.cancellation().cancel();
    let cancelled = executor
        .settle_for(&context, &session, work("call", "who", &json!({})))
        .await;
    assert!(
        !matches!(cancelled.0, ToolOutcome::Done(ref result) if !result.is_error),
        "{cancelled:?}"
    );
}

#[tokio::test]
async fn a_context_that_a_tool_keeps_does_not_keep_the_tools() {
    let (kept, alive): (Arc<Mutex<Option<ToolContext>>>, _) = (Arc::default(), Arc::new(()));
    let freed = Arc::downgrade(&alive);
    let tool = typed(
        "keep",
        "Keeps its context.",
        move |_: NoArguments, context: ToolContext| {
            let _alive = &alive;
            *kept.lock().unwrap() = Some(context);
            async move { Ok("kept") }
        },
    );
    let executor = executor_for([tool]).build().unwrap();
    let reports = reports(&executor, vec![work("c", "keep", &json!({}))]).await;
    assert_eq!(reports.len(), 1);
    drop(executor);
    assert!(freed.upgrade().is_none(), "the tool is still there");
}

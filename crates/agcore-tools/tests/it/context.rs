//! What a call is handed.

use std::sync::{Arc, Mutex};

use agcore_tools::{NoArguments, RunState, State, ToolContext, ToolErrorKind, typed};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{call, context, context_builder, executor_of, registry, settle, text, work};

#[tokio::test]
async fn the_callers_context_is_passed_through() {
    let token = CancellationToken::new();
    let outer = token.clone();
    let tool = typed(
        "who",
        "Says who it is called by.",
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
    let context = context_builder().trace_id("trace").cancellation(token).build();
    let done = registry([tool]).invoke(call("c7", "who", &json!({})), &context).await;
    // Cancelled in the middle of a step without a wait, it may still finish.
    assert_eq!(
        done.result.unwrap().as_value(),
        Some(&json!(["session", "trace", "c7", false, true])),
        "not the tool's name as the session, and no token of its own"
    );
}

#[tokio::test]
async fn a_call_that_is_over_ends_what_it_left_running() {
    let left: Arc<Mutex<Option<ToolContext>>> = Arc::default();
    let keep = left.clone();
    let tool = typed(
        "leaves",
        "Leaves a task.",
        move |_: NoArguments, context: ToolContext| {
            *keep.lock().unwrap() = Some(context);
            async move { Ok("gone") }
        },
    );
    let outer = context();
    registry([tool]).invoke(call("c", "leaves", &json!({})), &outer).await;
    let left = left.lock().unwrap().take().unwrap();
    assert!(left.cancellation().is_cancelled());
    assert!(!outer.cancellation().is_cancelled());
}

struct Database(&'static str);

#[tokio::test]
async fn state_comes_from_the_context() {
    let tool = || {
        typed(
            "q",
            "Asks.",
            |_: NoArguments, db: State<Database>| async move { Ok(db.0.0) },
        )
    };
    let with = context_builder().state(Database("db")).build();
    let executor = registry([tool()]).executor(with).build().unwrap();
    assert_eq!(text(&settle(&executor, "q", json!({})).await), "db");

    let error = executor_of([tool()])
        .build()
        .expect_err("an error at session start, not at the call");
    assert_eq!(error.kind(), ToolErrorKind::Config);
    let message = error.to_string();
    assert!(
        message.starts_with("q cannot be used in this session: the context holds no ") && message.contains("Database")
    );

    // The application's own call has no session start.
    let done = registry([tool()]).invoke(call("c", "q", &json!({})), &context()).await;
    let error = done.result.unwrap_err();
    assert_eq!(
        (error.kind(), &*error.model_text()),
        (ToolErrorKind::Config, "the tool is not set up correctly")
    );
}

#[tokio::test]
async fn steps_share_the_state_of_the_run() {
    let tool = typed("count", "Counts.", |_: NoArguments, context: ToolContext| async move {
        Ok(context.run_state().update("count", |count| {
            *count = json!(count.as_u64().unwrap_or(0) + 1);
            count.clone()
        }))
    });
    let state = RunState::new();
    let context = context_builder().run_state(state.clone()).build();
    let executor = registry([tool]).executor(context).build().unwrap();
    for expected in ["1", "2"] {
        assert_eq!(text(&settle(&executor, "count", json!({})).await), expected);
    }
    let again = RunState::restore(state.snapshot());
    assert_eq!(again.get("count"), Some(json!(2)));
    assert_eq!((again.remove("count"), again.get("count")), (Some(json!(2)), None));
    assert_eq!(
        (again.set("a", json!(1)), again.set("a", json!(2))),
        (None, Some(json!(1)))
    );
}

#[tokio::test]
async fn a_cancelled_run_begins_nothing() {
    let token = CancellationToken::new();
    token.cancel();
    let tool = crate::support::Echo::new("t");
    let context = context_builder().cancellation(token).build();
    let executor = registry([tool.clone()]).executor(context).build().unwrap();
    let (outcome, _) = executor.settle(work("c", "t", &json!({}))).await;
    assert_eq!(crate::support::fatal_text(&outcome), "the call was cancelled");
    assert_eq!(tool.count(), 0);
}

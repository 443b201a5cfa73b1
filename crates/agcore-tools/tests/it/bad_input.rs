//! Misbehaving tools and models: what the model and the operator get to see.

use std::time::Duration;

use agcore_chat::{ToolCall, ToolOutcome, ToolReport, ToolWork};
use agcore_tools::{BaseTool, NoArguments, ToolContext, ToolError, ToolErrorKind, ToolRegistry, schemars, typed};
use serde::Deserialize;
use serde_json::json;

use crate::support::{
    Echo, call, context, error_text, executor_for, fatal_text, registry, reports, settle, text, work,
};

fn panics() -> impl BaseTool + 'static {
    typed("panics", "Panics.", |_: NoArguments| async move {
        let empty: Vec<u8> = Vec::new();
        Ok(empty[usize::from(empty.is_empty())])
    })
}

fn hangs() -> impl BaseTool + 'static {
    typed("hangs", "Hangs.", |_: NoArguments| {
        std::future::pending::<Result<u8, ToolError>>()
    })
}

/// Runs a call as the application would and returns its error, which is what the operator sees.
async fn operator_error(tools: &ToolRegistry, name: &str, arguments: &str) -> ToolError {
    let invocation = tools
        .invoke(ToolCall::function("call", name, arguments), &context())
        .await;
    invocation.result.expect_err("the call fails")
}

#[tokio::test]
async fn a_panic_is_an_error_result() {
    let tools = registry([panics()]);
    let executor = tools.executor(context()).build().unwrap();
    let shown = error_text(&settle(&executor, "panics", json!({})).await);
    assert_eq!(
        shown,
        "panics failed because of a bug in the tool itself; continue without it"
    );
    let error = operator_error(&tools, "panics", "{}").await;
    assert_eq!(error.kind(), ToolErrorKind::ExecutionFailed);
    assert_eq!(
        error.to_string(),
        "panics panicked: index out of bounds: the len is 0 but the index is 1"
    );
    assert_eq!(tools.get("panics").unwrap().statistics().failures, 2);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_never_returns_times_out() {
    let tools = registry([hangs()]);
    let executor = tools.executor(context()).build().unwrap();
    let (outcome, duration) = executor.settle(work("call", "hangs", &json!({}))).await;
    let expected = "hangs did not finish within 60s and was stopped; its effects, if any, are unknown";
    assert_eq!(error_text(&outcome), expected);
    assert_eq!(duration, Duration::from_secs(60));
    assert_eq!(operator_error(&tools, "hangs", "{}").await.to_string(), expected);
}

#[tokio::test]
async fn a_result_of_ten_megabytes_is_truncated() {
    let floods = typed("floods", "Floods.", |_: NoArguments| async move {
        Ok("é".repeat(5 * 1024 * 1024))
    });
    let executor = executor_for([floods]).build().unwrap();
    let shown = text(&settle(&executor, "floods", json!({})).await);
    assert!(shown.len() <= 65_536, "{}", shown.len());
    let (kept, note) = shown.split_once('\n').unwrap();
    // 71 bytes are reserved for the note, and 65 465 is in the middle of a character.
    assert_eq!(kept, "é".repeat(65_464 / 2));
    assert_eq!(
        note,
        "[truncated: the first 65464 of 10485760 bytes; request less at a time]"
    );
}

#[tokio::test]
async fn rejects_arguments_that_are_not_a_json_object() {
    let tool = Echo::new("t");
    let tools = registry([tool.clone()]);
    let executor = tools.executor(context()).build().unwrap();
    for (arguments, reason) in [
        (
            r#"{"a": "#,
            "$: the arguments of t are not valid JSON: EOF while parsing a value at line 1 column 6; send one JSON object",
        ),
        ("[1]", "$: the arguments of t are an array, but must be one JSON object"),
        (
            "\"{}\"",
            "$: the arguments of t are a string, but must be one JSON object",
        ),
    ] {
        let expected = format!("invalid arguments for t: {reason}");
        let work = ToolWork::new(ToolCall::function("call", "t", arguments));
        assert_eq!(error_text(&executor.settle(work).await.0), expected);
        assert_eq!(operator_error(&tools, "t", arguments).await.to_string(), expected);
    }
    let free = ToolWork::new(ToolCall::custom("call", "t", "text"));
    assert!(error_text(&executor.settle(free).await.0).contains("free text"));
    assert_eq!(tool.count(), 0);
}

#[tokio::test]
async fn treats_empty_and_missing_arguments_as_an_empty_object() {
    let executor = executor_for([Echo::new("t")]).build().unwrap();
    for arguments in ["", "  ", "null", "{}"] {
        let work = ToolWork::new(ToolCall::function("call", "t", arguments));
        assert_eq!(text(&executor.settle(work).await.0), "{}", "{arguments:?}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_with_suggestions() {
    let executor = executor_for([Echo::new("fs_read"), Echo::new("fs_write"), Echo::new("mail")])
        .build()
        .unwrap();
    let shown = error_text(&settle(&executor, "weather", json!({})).await);
    assert_eq!(
        shown,
        r#"there is no tool named "weather"; use only the tools you were given"#
    );
    let shown = error_text(&settle(&executor, "fs.Read", json!({})).await);
    assert_eq!(shown, r#"there is no tool named "fs.Read"; did you mean fs_read?"#);
    // The first mistake with another name is an error result again; a repeated one ends the turn.
    let ended = settle(&executor, "fs.Read", json!({"x": 1})).await;
    assert!(
        fatal_text(&ended).ends_with("(the model was informed, and repeated the call)"),
        "{ended:?}"
    );
    executor.session().begin_turn();
    assert!(
        matches!(settle(&executor, "fs.Read", json!({})).await, ToolOutcome::Done(_)),
        "a new turn starts without known refusals"
    );
}

#[tokio::test]
async fn quotes_a_long_tool_name_only_in_part() {
    let executor = executor_for([Echo::new("t")]).build().unwrap();
    let shown = error_text(&settle(&executor, &"x".repeat(1_000_000), json!({})).await);
    assert!(shown.len() < 300, "{}", shown.len());
}

#[tokio::test]
async fn a_repeated_mistake_within_one_reply_is_not_fatal() {
    let executor = executor_for([Echo::new("t")]).build().unwrap();
    let reports = reports(
        &executor,
        vec![work("1", "gone", &json!({})), work("2", "gone", &json!({}))],
    )
    .await;
    assert_eq!(reports.len(), 2);
    for report in reports {
        let ToolReport::Settled { outcome, .. } = report else {
            panic!("{report:?}")
        };
        error_text(&outcome);
    }
}

/// Arguments whose deserialization panics. If a person is asked, that happens outside the future of the tool.
#[derive(schemars::JsonSchema)]
struct PanickingArguments {}

impl<'de> Deserialize<'de> for PanickingArguments {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("boom")
    }
}

#[tokio::test]
async fn a_panic_while_parsing_arguments_does_not_affect_other_calls() {
    use agcore_tools::{Approval, PermissionRules, Rule, RuleState, ToolPolicy};

    use crate::support::ScriptedApprover;

    let panicking = typed("panicking", "Panics.", |_: PanickingArguments| async move { Ok(1) });
    let tools = ToolRegistry::new();
    tools.register(panicking).unwrap();
    tools.register(Echo::new("t")).unwrap();
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "panicking"));
    let policy = ToolPolicy::new(rules).with_approver(ScriptedApprover::new([Approval::once()]));
    let executor = tools.executor(context()).with_policy(policy).build().unwrap();
    let reports = reports(
        &executor,
        vec![work("1", "panicking", &json!({})), work("2", "t", &json!({}))],
    )
    .await;
    let ends: Vec<_> = reports
        .iter()
        .map(|report| match report {
            ToolReport::Settled { call_id, outcome, .. } => (call_id.clone(), outcome),
            other => panic!("{other:?}"),
        })
        .collect();
    let outcome = |id: &str| ends.iter().find(|(call, _)| **call == *id).unwrap().1;
    assert!(error_text(outcome("1")).contains("a bug in the tool itself"));
    assert_eq!(text(outcome("2")), "{}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_and_a_panicking_tool_do_not_affect_other_calls() {
    let tools = ToolRegistry::new();
    tools.register(panics()).unwrap();
    tools.register(hangs()).unwrap();
    tools.register(Echo::new("t")).unwrap();
    let calls = ["panics", "hangs", "t"].map(|name| call(name, name, &json!({})));
    let options = agcore_tools::InvokeOptions::new().with_timeout(Some(Duration::from_millis(1)));
    let context: ToolContext = context();
    let done = tools.invoke_all(calls, &context, options).await;
    let kinds: Vec<_> = done
        .iter()
        .map(|call| call.result.as_ref().err().map(ToolError::kind))
        .collect();
    assert_eq!(
        kinds,
        [Some(ToolErrorKind::ExecutionFailed), Some(ToolErrorKind::Timeout), None]
    );
}

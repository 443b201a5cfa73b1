//! Tools and models that misbehave: what the model is told, and what the operator sees.

use std::time::Duration;

use agcore_chat::{ToolCall, ToolOutcome, ToolReport, ToolWork};
use agcore_tools::{BaseTool, NoArguments, ToolContext, ToolError, ToolErrorKind, ToolRegistry, schemars, typed};
use serde::Deserialize;
use serde_json::json;

use crate::support::{Echo, call, context, error_text, executor_of, fatal_text, registry, reports, settle, text, work};

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

/// What an operator sees of a call: the error as the application's own call gets it.
async fn operator_sees(tools: &ToolRegistry, name: &str, arguments: &str) -> ToolError {
    let invocation = tools
        .invoke(ToolCall::function("call", name, arguments), &context())
        .await;
    invocation.result.expect_err("it fails")
}

#[tokio::test]
async fn a_panic() {
    let tools = registry([panics()]);
    let executor = tools.executor(context()).build().unwrap();
    let told = error_text(&settle(&executor, "panics", json!({})).await);
    assert_eq!(
        told,
        "panics failed because of a fault in the tool itself; go on without it"
    );
    let error = operator_sees(&tools, "panics", "{}").await;
    assert_eq!(error.kind(), ToolErrorKind::ExecutionFailed);
    assert_eq!(
        error.to_string(),
        "panics panicked: index out of bounds: the len is 0 but the index is 1"
    );
    assert_eq!(tools.get("panics").unwrap().statistics().failures, 2);
}

#[tokio::test(start_paused = true)]
async fn a_hang() {
    let tools = registry([hangs()]);
    let executor = tools.executor(context()).build().unwrap();
    let (outcome, duration) = executor.settle(work("call", "hangs", &json!({}))).await;
    let expected = "hangs did not end within 60s and was stopped; its effects, if any, are unknown";
    assert_eq!(error_text(&outcome), expected);
    assert_eq!(duration, Duration::from_secs(60));
    assert_eq!(operator_sees(&tools, "hangs", "{}").await.to_string(), expected);
}

#[tokio::test]
async fn ten_megabytes() {
    let floods = typed("floods", "Floods.", |_: NoArguments| async move {
        Ok("é".repeat(5 * 1024 * 1024))
    });
    let executor = executor_of([floods]).build().unwrap();
    let told = text(&settle(&executor, "floods", json!({})).await);
    let (shown, note) = told.split_once('\n').unwrap();
    assert_eq!(shown, "é".repeat(65_536 / 2));
    assert_eq!(
        note,
        "[cut here: the first 65536 of 10485760 bytes; ask for less at a time]"
    );
}

#[tokio::test]
async fn arguments_that_are_no_json_object() {
    let tool = Echo::new("t");
    let tools = registry([tool.clone()]);
    let executor = tools.executor(context()).build().unwrap();
    for (arguments, why) in [
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
        let expected = format!("invalid arguments for t: {why}");
        let work = ToolWork::new(ToolCall::function("call", "t", arguments));
        assert_eq!(error_text(&executor.settle(work).await.0), expected);
        assert_eq!(operator_sees(&tools, "t", arguments).await.to_string(), expected);
    }
    let free = ToolWork::new(ToolCall::custom("call", "t", "text"));
    assert!(error_text(&executor.settle(free).await.0).contains("free text"));
    assert_eq!(tool.count(), 0);
}

#[tokio::test]
async fn empty_and_missing_arguments_are_an_empty_object() {
    let executor = executor_of([Echo::new("t")]).build().unwrap();
    for arguments in ["", "  ", "null", "{}"] {
        let work = ToolWork::new(ToolCall::function("call", "t", arguments));
        assert_eq!(text(&executor.settle(work).await.0), "{}", "{arguments:?}");
    }
}

#[tokio::test]
async fn a_tool_that_is_not_there() {
    let executor = executor_of([Echo::new("fs_read"), Echo::new("fs_write"), Echo::new("mail")])
        .build()
        .unwrap();
    let told = error_text(&settle(&executor, "weather", json!({})).await);
    assert_eq!(
        told,
        r#"there is no tool named "weather"; use only the tools that were given"#
    );
    let told = error_text(&settle(&executor, "fs.Read", json!({})).await);
    assert_eq!(told, r#"there is no tool named "fs.Read"; did you mean fs_read?"#);
    // Another name is another mistake, the same one once more ends the loop.
    let ended = settle(&executor, "fs.Read", json!({"x": 1})).await;
    assert!(
        fatal_text(&ended).ends_with("(the model was told, and made the same call again)"),
        "{ended:?}"
    );
    executor.session().begin_turn();
    assert!(
        matches!(settle(&executor, "fs.Read", json!({})).await, ToolOutcome::Done(_)),
        "told again in a new turn"
    );
}

#[tokio::test]
async fn a_hostile_name_does_not_fill_the_message() {
    let executor = executor_of([Echo::new("t")]).build().unwrap();
    let told = error_text(&settle(&executor, &"x".repeat(1_000_000), json!({})).await);
    assert!(told.len() < 300, "{}", told.len());
}

#[tokio::test]
async fn the_same_mistake_twice_in_one_reply_is_one_mistake() {
    let executor = executor_of([Echo::new("t")]).build().unwrap();
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

#[tokio::test]
async fn a_broken_way_to_the_tool_ends_the_loop() {
    for kind in [
        ToolErrorKind::Transport,
        ToolErrorKind::Protocol,
        ToolErrorKind::NotConnected,
        ToolErrorKind::Io,
        ToolErrorKind::Cancelled,
    ] {
        let broken = typed("broken", "Is broken.", move |_: NoArguments| async move {
            Err::<u8, _>(ToolError::new(kind, "the pipe is broken"))
        });
        let executor = executor_of([broken]).build().unwrap();
        assert_eq!(
            fatal_text(&settle(&executor, "broken", json!({})).await),
            "the pipe is broken",
            "{kind}"
        );
    }
}

/// A custom reader of arguments that panics: outside of the tool's own future when a person is to be asked.
#[derive(schemars::JsonSchema)]
struct Explosive {}

impl<'de> Deserialize<'de> for Explosive {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("boom")
    }
}

#[tokio::test]
async fn a_panic_while_arguments_are_read_harms_nobody_else() {
    use agcore_tools::{Approval, PermissionRules, Rule, RuleState, ToolPolicy};

    use crate::support::Scripted;

    let explosive = typed("explosive", "Explodes.", |_: Explosive| async move { Ok(1) });
    let tools = ToolRegistry::new();
    tools.register(explosive).unwrap();
    tools.register(Echo::new("t")).unwrap();
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "explosive"));
    let policy = ToolPolicy::new(rules).with_approver(Scripted::new([Approval::once()]));
    let executor = tools.executor(context()).policy(policy).build().unwrap();
    let reports = reports(
        &executor,
        vec![work("1", "explosive", &json!({})), work("2", "t", &json!({}))],
    )
    .await;
    let ends: Vec<_> = reports
        .iter()
        .map(|report| match report {
            ToolReport::Settled { call_id, outcome, .. } => (call_id.clone(), outcome),
            other => panic!("{other:?}"),
        })
        .collect();
    let of = |id: &str| ends.iter().find(|(call, _)| **call == *id).unwrap().1;
    assert!(error_text(of("1")).contains("fault in the tool itself"));
    assert_eq!(text(of("2")), "{}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_and_a_panicking_neighbour_harm_nobody() {
    let tools = ToolRegistry::new();
    tools.register(panics()).unwrap();
    tools.register(hangs()).unwrap();
    tools.register(Echo::new("t")).unwrap();
    let calls = ["panics", "hangs", "t"].map(|name| call(name, name, &json!({})));
    let quick = agcore_tools::InvokeOptions::new().with_timeout(Some(Duration::from_millis(1)));
    let context: ToolContext = context();
    let done = tools.invoke_all(calls, &context, quick).await;
    let kinds: Vec<_> = done
        .iter()
        .map(|one| one.result.as_ref().err().map(ToolError::kind))
        .collect();
    assert_eq!(
        kinds,
        [Some(ToolErrorKind::ExecutionFailed), Some(ToolErrorKind::Timeout), None]
    );
}

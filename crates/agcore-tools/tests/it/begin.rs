//! The reports of calls that begin, and of calls that wait for people.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Answer, ToolExecutor, ToolReport, ToolReports, ToolWork};
use agcore_tools::{
    Approval, ApprovalRequest, Approver, InputRequest, NoArguments, PermissionRules, Registration, Rule, RuleState,
    SuspendingApprover, ToolAnnotations, ToolContext, ToolOutput, ToolPolicy, ToolRegistry, typed,
};
use async_trait::async_trait;
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::support::{Echo, allowing, call, context, context_builder, executor_for, fatal_text, question, work};

/// Returns the reports that are ready as text.
fn ready(reports: &mut ToolReports) -> Vec<String> {
    let mut ready = Vec::new();
    while let Some(Some(report)) = reports.next().now_or_never() {
        ready.push(word(&report));
    }
    ready
}

fn word(report: &ToolReport) -> String {
    match report {
        ToolReport::Began { calls } => {
            let mut calls: Vec<_> = calls.iter().map(ToString::to_string).collect();
            calls.sort();
            format!("began {}", calls.join(" "))
        }
        ToolReport::Waiting { call_id, waiting } => format!("{call_id} waits: {waiting}"),
        ToolReport::Progress { call_id, .. } => format!("progress of {call_id}"),
        ToolReport::Settled { call_id, .. } => format!("settled {call_id}"),
        other => panic!("{other:?}"),
    }
}

/// An approver that answers when it is notified.
#[derive(Default)]
struct LateApprover(Notify);

#[async_trait]
impl Approver for LateApprover {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        self.0.notified().await;
        Approval::once()
    }
}

fn ask_about(tool: &str) -> PermissionRules {
    PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, tool))
}

#[tokio::test]
async fn calls_do_not_run_before_their_begin_was_reported_and_taken() {
    let echo = Echo::new("t");
    let executor = executor_for([echo.clone()]).build().unwrap();
    assert!(executor.reports_begin());
    let calls = ["a", "b", "c"].map(|id| work(id, "t", &json!({})));
    let mut reports = executor.execute(calls.into());
    let first = reports.next().await.unwrap();
    assert_eq!((word(&first).as_str(), echo.count()), ("began a b c", 0));
    let rest: Vec<_> = reports.map(|report| word(&report)).collect().await;
    assert_eq!((rest.len(), echo.count()), (3, 3), "{rest:?}");
}

#[tokio::test]
async fn refused_calls_never_begin() {
    let executor = executor_for([Echo::new("t"), Echo::new("asks")])
        .with_policy(ToolPolicy::new(ask_about("asks")).with_approver(Arc::new(SuspendingApprover)))
        .build()
        .unwrap();
    let calls = vec![
        work("missing", "x", &json!({})),
        work("asked", "asks", &json!({})),
        ToolWork::new(agcore_chat::ToolCall::function("broken", "t", "{")),
    ];
    let reports = executor.execute(calls).map(|report| word(&report));
    let mut reports: Vec<_> = reports.collect().await;
    reports.sort();
    assert_eq!(reports, ["settled asked", "settled broken", "settled missing"]);
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_has_not_started() {
    let approver = Arc::new(LateApprover::default());
    let executor = executor_for([Echo::new("t"), Echo::new("asks")])
        .with_policy(ToolPolicy::new(ask_about("asks")).with_approver(approver.clone()))
        .build()
        .unwrap();
    let mut reports = executor.execute(vec![work("asked", "asks", &json!({})), work("free", "t", &json!({}))]);
    assert_eq!(ready(&mut reports), ["began free", "asked waits: true", "settled free"]);
    approver.0.notify_one();
    assert_eq!(
        ready(&mut reports),
        ["began asked", "asked waits: false", "settled asked"]
    );
}

#[tokio::test]
async fn a_call_in_the_queue_has_not_started() {
    let release = Arc::new(Notify::new());
    let waits = |name: &str, release: Arc<Notify>| {
        typed(name, "Waits.", move |_: NoArguments| {
            let release = Arc::clone(&release);
            async move {
                release.notified().await;
                Ok(())
            }
        })
    };
    let alone = waits("alone", release.clone()).with_annotations(ToolAnnotations::new().with_destructive(true));
    let tools = ToolRegistry::new();
    tools.register(waits("first", release.clone())).unwrap();
    tools.register(alone).unwrap();
    let executor = tools
        .executor(context())
        .with_policy(allowing("alone"))
        .build()
        .unwrap();
    let mut reports = executor.execute(vec![work("1", "first", &json!({})), work("2", "alone", &json!({}))]);
    assert_eq!(ready(&mut reports), ["began 1"]);
    release.notify_one();
    assert_eq!(ready(&mut reports), ["began 2", "settled 1"]);
    release.notify_one();
    assert_eq!(ready(&mut reports), ["settled 2"]);
}

#[tokio::test]
async fn a_call_whose_key_another_session_uses_has_not_started() {
    let release = Arc::new(Notify::new());
    let tool = typed("t", "Waits.", {
        let release = Arc::clone(&release);
        move |_: NoArguments| {
            let release = Arc::clone(&release);
            async move {
                release.notified().await;
                Ok(())
            }
        }
    });
    let tools = ToolRegistry::new();
    tools
        .register(Registration::new(
            tool.with_annotations(ToolAnnotations::new().with_concurrency_key("k")),
        ))
        .unwrap();
    let session = || tools.executor(context()).build().unwrap();
    let mut first = session().execute(vec![work("1", "t", &json!({}))]);
    let mut second = session().execute(vec![work("2", "t", &json!({}))]);
    assert_eq!(ready(&mut first), ["began 1"]);
    assert_eq!(ready(&mut second), [""; 0]);
    release.notify_one();
    assert_eq!(ready(&mut first), ["settled 1"]);
    assert_eq!(ready(&mut second), ["began 2"]);
    release.notify_one();
    assert_eq!(ready(&mut second), ["settled 2"]);
}

#[tokio::test]
async fn no_call_begins_after_the_run_was_cancelled() {
    let token = CancellationToken::new();
    let echo = Echo::new("t");
    let executor = crate::support::registry([echo.clone()])
        .executor(context_builder().with_cancellation(token.clone()).build())
        .with_max_concurrency(1)
        .build()
        .unwrap();
    let mut reports = executor.execute(["a", "b", "c"].map(|id| work(id, "t", &json!({}))).into());
    assert_eq!(word(&reports.next().await.unwrap()), "began a");
    token.cancel();
    let rest: Vec<_> = reports.collect().await;
    assert_eq!(rest.len(), 3, "{rest:?}");
    for report in rest {
        let ToolReport::Settled { outcome, .. } = report else {
            panic!("{report:?}")
        };
        assert_eq!(fatal_text(&outcome), "the call was cancelled");
    }
    assert_eq!(echo.count(), 0);
}

#[tokio::test]
async fn a_resumed_call_begins_again() {
    let tool = typed("t", "Asks.", |_: NoArguments, context: ToolContext| async move {
        Ok(match context.answer() {
            None => ToolOutput::awaiting_input(InputRequest::new("Which?")),
            Some(answer) => ToolOutput::value(answer.value.clone()),
        })
    });
    let executor = executor_for([tool]).build().unwrap();
    let mut reports: Vec<_> = executor.execute(vec![work("1", "t", &json!({}))]).collect().await;
    let Some(ToolReport::Settled { outcome, .. }) = reports.pop() else {
        panic!()
    };
    assert_eq!(word(&reports[0]), "began 1");
    let resumed = ToolWork::resumed(
        call("1", "t", &json!({})),
        question(outcome),
        Answer::Value(json!("this")),
    );
    let reports = executor.execute(vec![resumed]).map(|report| word(&report));
    assert_eq!(reports.collect::<Vec<_>>().await, ["began 1", "settled 1"]);
}

/// A tool that waits for a form, and works before and after it.
#[tokio::test(start_paused = true)]
async fn a_tool_that_waits_for_a_person_is_reported() {
    let tool = typed(
        "t",
        "Shows a form.",
        |_: NoArguments, context: ToolContext| async move {
            context.wait_for_person(std::future::ready(())).await;
            let minute = || tokio::time::sleep(Duration::from_secs(60));
            let form = context.wait_for_person(async { context.wait_for_person(minute()).await });
            tokio::join!(form, context.wait_for_person(minute()));
            Ok(Value::Null)
        },
    );
    let executor = executor_for([tool]).build().unwrap();
    let reports = executor.execute(vec![work("1", "t", &json!({}))]);
    let reports: Vec<_> = reports.map(|report| word(&report)).collect().await;
    assert_eq!(reports, ["began 1", "1 waits: true", "1 waits: false", "settled 1"]);
}

/// Every call that waits for its turn to be asked about waits for a person, too.
#[tokio::test]
async fn calls_behind_a_question_wait_as_well() {
    let approver = Arc::new(LateApprover::default());
    let executor = executor_for([Echo::new("t")])
        .with_policy(ToolPolicy::new(ask_about("t")).with_approver(approver.clone()))
        .build()
        .unwrap();
    let mut reports = executor.execute(["a", "b"].map(|id| work(id, "t", &json!({"id": id}))).into());
    let waiting = ready(&mut reports);
    assert_eq!(waiting.len(), 2, "{waiting:?}");
    assert!(
        waiting.iter().all(|report| report.ends_with("waits: true")),
        "{waiting:?}"
    );
    approver.0.notify_one();
    let first = ready(&mut reports);
    assert!(first.iter().any(|report| report.starts_with("settled")), "{first:?}");
    approver.0.notify_one();
    let second = ready(&mut reports);
    assert!(second.iter().any(|report| report.starts_with("settled")), "{second:?}");
    assert!(reports.next().await.is_none());
}

#[tokio::test]
async fn calls_begin_at_once_if_the_rules_alone_allow_them_and_none_waits() {
    let tools = ToolRegistry::new();
    let tool = |name: &str| typed(name, "Works.", |_: NoArguments| async { Ok(()) });
    tools.register(tool("free")).unwrap();
    tools.register(tool("asks")).unwrap();
    let alone = tool("alone").with_annotations(ToolAnnotations::new().with_destructive(true));
    tools.register(alone).unwrap();
    let keyed = tool("keyed").with_annotations(ToolAnnotations::new().with_concurrency_key("k"));
    tools.register(keyed).unwrap();
    let executor = tools
        .executor(context())
        .with_policy(ToolPolicy::new(
            ask_about("asks").with_rule(Rule::tool(RuleState::Allow, "alone")),
        ))
        .with_max_concurrency(2);
    let executor = executor.build().unwrap();
    let check = |names: &[&str], expected: bool| {
        let works: Vec<_> = names.iter().map(|name| work(name, name, &json!({}))).collect();
        assert_eq!(executor.begins_at_once(&works), expected, "{names:?}");
    };
    check(&["free"], true);
    check(&["free", "free"], true);
    check(&["free", "free", "free"], false);
    check(&["asks"], false);
    check(&["free", "asks"], false);
    check(&["alone"], true);
    check(&["free", "alone"], false);
    check(&["keyed"], false);
    check(&["unknown"], false);
}

#[tokio::test]
async fn calls_of_idempotent_and_read_only_tools_may_be_repeated() {
    let tools = ToolRegistry::new();
    let register = |name: &str, annotations: ToolAnnotations| {
        let tool = typed(name, "Works.", |_: NoArguments| async { Ok(()) });
        tools.register(tool.with_annotations(annotations)).unwrap();
    };
    register("append", ToolAnnotations::new());
    register("put", ToolAnnotations::new().with_idempotent(true));
    register("look", ToolAnnotations::new().with_read_only(true));
    register("once", ToolAnnotations::new().with_idempotent(false));
    let executor = tools.executor(context()).build().unwrap();
    for (name, expected) in [
        ("append", false),
        ("put", true),
        ("look", true),
        ("once", false),
        ("unknown", false),
    ] {
        assert_eq!(
            executor.is_repeatable(&work("c", name, &json!({})).call),
            expected,
            "{name}"
        );
    }
}

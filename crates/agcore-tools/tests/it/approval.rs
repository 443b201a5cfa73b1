//! Approvers that misbehave or edit, and what they are shown.

use std::sync::Arc;

use agcore_chat::{ToolExecutor, ToolOutcome};
use agcore_tools::{
    Approval, ApprovalRequest, Approver, Arguments, Permission, PermissionRules, Rule, RuleState, ToolPolicy,
    permission::ArgumentTest,
    schemars::{self, JsonSchema},
    typed,
};
use async_trait::async_trait;
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    Echo, Scripted, context_builder, error_text, executor_of, fatal_text, registry, reports, settle, text, work,
};

fn asking() -> PermissionRules {
    PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "*").with_name("house rule"))
}

fn edited(value: &Value) -> Approval {
    Approval::edited(Arguments::from(value.as_object().cloned().unwrap()))
}

#[tokio::test]
async fn sees_the_call_and_the_reason() {
    let approver = Scripted::new([Approval::once()]);
    let tool = Echo::new("t").needs([Permission::Write]);
    let policy = ToolPolicy::new(asking()).with_approver(approver.clone());
    let context = context_builder().actor("ann").build();
    let executor = registry([tool]).executor(context).policy(policy).build().unwrap();
    settle(&executor, "t", json!({"x": 1})).await;
    let asked = approver.asked().remove(0);
    assert_eq!(
        (&*asked.tool, &*asked.call_id, &*asked.session_id),
        ("t", "call", "session")
    );
    assert_eq!(asked.actor.as_deref(), Some("ann"));
    assert_eq!(asked.permissions, [Permission::Write]);
    assert_eq!(asked.arguments["x"], 1);
    assert_eq!(asked.reason, "rule 1 (house rule: ask *)");
}

#[tokio::test]
async fn a_no_reaches_the_model_and_the_loop_goes_on() {
    let approver = Scripted::new([Approval::deny("use the other folder"), Approval::deny(" ")]);
    let executor = executor_of([Echo::new("t")])
        .policy(ToolPolicy::new(asking()).with_approver(approver))
        .build()
        .unwrap();
    let told = error_text(&settle(&executor, "t", json!({})).await);
    assert_eq!(told, "t was denied by a person: use the other folder");
    // The same call once more is asked once more: a person may change their mind.
    assert_eq!(
        error_text(&settle(&executor, "t", json!({})).await),
        "t was denied by a person: no reason was given"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Send {
    #[expect(dead_code, reason = "only its reading is tested")]
    to: String,
}

fn send() -> impl agcore_tools::BaseTool + 'static {
    typed("send", "Sends.", |args: Send| async move {
        drop(args);
        Ok("sent")
    })
}

#[tokio::test]
async fn nobody_is_bothered_with_a_call_that_could_not_run() {
    let approver = Scripted::new([]);
    let policy = ToolPolicy::new(asking()).with_approver(approver.clone());
    let executor = executor_of([send()]).policy(policy).build().unwrap();
    let told = error_text(&settle(&executor, "send", json!({"to": 1})).await);
    assert!(told.contains("$.to"), "{told}");
    assert!(approver.asked().is_empty());
}

#[tokio::test]
async fn edited_arguments_are_checked_again() {
    let approver = Scripted::new([edited(&json!({"to": 7})), edited(&json!({"to": "b"}))]);
    let policy = ToolPolicy::new(asking()).with_approver(approver);
    let executor = executor_of([send()]).policy(policy).build().unwrap();
    let told = error_text(&settle(&executor, "send", json!({"to": "a"})).await);
    assert!(
        told.starts_with("the call was approved with other arguments, but those are of no use"),
        "{told}"
    );
    assert_eq!(text(&settle(&executor, "send", json!({"to": "a"})).await), "sent");
}

#[tokio::test]
async fn edited_arguments_do_not_get_past_a_deny_rule() {
    let rules = asking()
        .with_rule(Rule::argument(RuleState::Deny, "*", "$.path", ArgumentTest::Within("/etc".into())).unwrap());
    let tool = Echo::new("t");
    let approver = Scripted::new([edited(&json!({"path": "/etc/passwd"}))]);
    let policy = ToolPolicy::new(rules).with_approver(approver);
    let executor = executor_of([tool.clone()]).policy(policy).build().unwrap();
    let told = error_text(&settle(&executor, "t", json!({"path": "/tmp"})).await);
    assert!(told.contains("permission denied"), "{told}");
    assert_eq!(tool.count(), 0);
}

/// Lets others go on before it answers.
struct Slow(Arc<Scripted>);

#[async_trait]
impl Approver for Slow {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        tokio::task::yield_now().await;
        self.0.approve(request).await
    }
}

/// Calls of one reply: the yes for the session to the first is a yes to the others, too.
#[tokio::test]
async fn neighbours_are_asked_one_after_another() {
    let approver = Scripted::new([Approval::session()]);
    let tool = Echo::new("t");
    let policy = ToolPolicy::new(asking()).with_approver(Arc::new(Slow(approver.clone())));
    let executor = executor_of([tool.clone()]).policy(policy).build().unwrap();
    let calls = (0..5).map(|id| work(&id.to_string(), "t", &json!({}))).collect();
    assert_eq!(reports(&executor, calls).await.len(), 5);
    assert_eq!((approver.asked().len(), tool.count()), (1, 5));
}

struct Panics;

#[async_trait]
impl Approver for Panics {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        panic!("the terminal is gone")
    }
}

#[tokio::test]
async fn a_panic_counts_as_no() {
    let tool = Echo::new("t");
    let policy = ToolPolicy::new(asking()).with_approver(Arc::new(Panics));
    let executor = executor_of([tool.clone()]).policy(policy).build().unwrap();
    let told = error_text(&settle(&executor, "t", json!({})).await);
    assert!(told.contains("could not answer"), "{told}");
    assert_eq!(tool.count(), 0);
}

struct Never;

#[async_trait]
impl Approver for Never {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        std::future::pending().await
    }
}

/// Waiting for a person counts in no timeout; other calls go on; cancelling the run ends the wait.
#[tokio::test(start_paused = true)]
async fn one_who_never_answers_holds_up_nobody_else() {
    let token = CancellationToken::new();
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "asks"));
    let context = context_builder().cancellation(token.clone()).build();
    let executor = registry([Echo::new("asks"), Echo::new("free")])
        .executor(context)
        .policy(ToolPolicy::new(rules).with_approver(Arc::new(Never)))
        .build()
        .unwrap();
    let mut reports = executor.execute(vec![work("1", "asks", &json!({})), work("2", "free", &json!({}))]);
    let first = reports.next().await.unwrap();
    assert!(
        matches!(&first, agcore_chat::ToolReport::Settled { call_id, .. } if call_id == "2"),
        "{first:?}"
    );
    // An hour passes, far more than any timeout.
    let hour = std::time::Duration::from_secs(3600);
    assert!(tokio::time::timeout(hour, reports.next()).await.is_err());
    token.cancel();
    let Some(agcore_chat::ToolReport::Settled { outcome, .. }) = reports.next().await else {
        panic!()
    };
    assert_eq!(fatal_text(&outcome), "the call was cancelled");
    assert!(reports.next().await.is_none());
}

#[tokio::test]
async fn policies_are_told_once_and_then_end_the_loop() {
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Deny, "t"));
    let tool = Echo::new("t");
    let executor = executor_of([tool.clone()])
        .policy(ToolPolicy::new(rules))
        .build()
        .unwrap();
    let same = || settle(&executor, "t", json!({"a": 1, "b": 2}));
    let told = error_text(&same().await);
    assert_eq!(
        told, "permission denied: this call of t is not allowed here; do not try it again, go on another way",
        "the model does not learn the rules"
    );
    assert!(
        matches!(settle(&executor, "t", json!({"a": 2})).await, ToolOutcome::Done(_)),
        "another call"
    );
    let ended = settle(&executor, "t", json!({"b": 2, "a": 1})).await;
    assert_eq!(
        fatal_text(&ended),
        "t was denied: rule 1 (deny t) (the model was told, and made the same call again)"
    );
    assert_eq!(tool.count(), 0);
}

//! Approvers: what they are shown, and approvers that edit or misbehave.

use std::sync::Arc;

use agcore_chat::{Actor, ToolExecutor, ToolOutcome};
use agcore_tools::{
    Approval, ApprovalRequest, Approver, Arguments, Permission, PermissionRules, Rule, RuleState, ToolAnnotations,
    ToolPolicy,
    permission::ArgumentTest,
    schemars::{self, JsonSchema},
    typed,
};
use async_trait::async_trait;
use futures_util::{FutureExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    Echo, ScriptedApprover, context_builder, error_text, executor_for, fatal_text, progress_and_results, registry,
    reports, settle, text, work,
};

fn ask_about_everything() -> PermissionRules {
    PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "*").with_name("local rule"))
}

fn edited(value: &Value) -> Approval {
    Approval::edited(Arguments::from(value.as_object().cloned().unwrap()))
}

#[tokio::test]
async fn the_approver_sees_the_call_and_the_reason() {
    let approver = ScriptedApprover::new([Approval::once()]);
    let tool = Echo::new("t").with_permissions([Permission::Write]);
    let policy = ToolPolicy::new(ask_about_everything()).with_approver(approver.clone());
    let context = context_builder().with_actor(Actor::user("ann")).build();
    let executor = registry([tool]).executor(context).with_policy(policy).build().unwrap();
    settle(&executor, "t", json!({"x": 1})).await;
    let asked = approver.requests().remove(0);
    assert_eq!(
        (&*asked.tool, &*asked.call_id, &*asked.session_id),
        ("t", "call", "session")
    );
    assert_eq!(asked.actor, Actor::user("ann"));
    assert_eq!(asked.permissions, [Permission::Write]);
    assert_eq!(asked.arguments["x"], 1);
    assert_eq!(asked.reason, "rule 1 (local rule: ask *)");
}

#[tokio::test]
async fn the_model_sees_a_denial_and_the_turn_continues() {
    let approver = ScriptedApprover::new([Approval::deny("use the other folder"), Approval::deny(" ")]);
    let executor = executor_for([Echo::new("t")])
        .with_policy(ToolPolicy::new(ask_about_everything()).with_approver(approver))
        .build()
        .unwrap();
    let shown = error_text(&settle(&executor, "t", json!({})).await);
    assert_eq!(shown, "t was denied by a person: use the other folder");
    // A repeated call is asked about again: a person may change their mind.
    assert_eq!(
        error_text(&settle(&executor, "t", json!({})).await),
        "t was denied by a person: no reason was given"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Send {
    #[expect(dead_code, reason = "only its deserialization is tested")]
    to: String,
}

fn send() -> impl agcore_tools::BaseTool + 'static {
    typed("send", "Sends.", |args: Send| async move {
        drop(args);
        Ok("sent")
    })
}

#[tokio::test]
async fn does_not_ask_about_a_call_that_cannot_run() {
    let approver = ScriptedApprover::new([]);
    let policy = ToolPolicy::new(ask_about_everything()).with_approver(approver.clone());
    let executor = executor_for([send()]).with_policy(policy).build().unwrap();
    let shown = error_text(&settle(&executor, "send", json!({"to": 1})).await);
    assert!(shown.contains("$.to"), "{shown}");
    assert!(approver.requests().is_empty());
}

#[tokio::test]
async fn validates_edited_arguments() {
    let approver = ScriptedApprover::new([edited(&json!({"to": 7})), edited(&json!({"to": "b"}))]);
    let policy = ToolPolicy::new(ask_about_everything()).with_approver(approver);
    let executor = executor_for([send()]).with_policy(policy).build().unwrap();
    let shown = error_text(&settle(&executor, "send", json!({"to": "a"})).await);
    assert!(
        shown.starts_with("the call was approved with edited arguments, but they are invalid"),
        "{shown}"
    );
    assert_eq!(text(&settle(&executor, "send", json!({"to": "a"})).await), "sent");
}

#[tokio::test]
async fn a_deny_rule_applies_to_edited_arguments() {
    let rules = ask_about_everything()
        .with_rule(Rule::argument(RuleState::Deny, "*", "$.path", ArgumentTest::Within("/etc".into())).unwrap());
    let tool = Echo::new("t");
    let approver = ScriptedApprover::new([edited(&json!({"path": "/etc/passwd"}))]);
    let policy = ToolPolicy::new(rules).with_approver(approver);
    let executor = executor_for([tool.clone()]).with_policy(policy).build().unwrap();
    let shown = error_text(&settle(&executor, "t", json!({"path": "/tmp"})).await);
    assert!(shown.contains("permission denied"), "{shown}");
    assert_eq!(tool.count(), 0);
}

/// An approver that yields before it answers.
struct YieldingApprover(Arc<ScriptedApprover>);

#[async_trait]
impl Approver for YieldingApprover {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        tokio::task::yield_now().await;
        self.0.approve(request).await
    }
}

/// For the calls of one reply, an approval of the first one for the session covers the others.
#[tokio::test]
async fn asks_about_one_call_after_another() {
    let approver = ScriptedApprover::new([Approval::session()]);
    let tool = Echo::new("t");
    let policy = ToolPolicy::new(ask_about_everything()).with_approver(Arc::new(YieldingApprover(approver.clone())));
    let executor = executor_for([tool.clone()]).with_policy(policy).build().unwrap();
    let calls = (0..5).map(|id| work(&id.to_string(), "t", &json!({}))).collect();
    assert_eq!(reports(&executor, calls).await.len(), 5);
    assert_eq!((approver.requests().len(), tool.count()), (1, 5));
}

struct PanickingApprover;

#[async_trait]
impl Approver for PanickingApprover {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        panic!("the terminal is gone")
    }
}

#[tokio::test]
async fn a_panic_counts_as_a_denial() {
    let tool = Echo::new("t");
    let policy = ToolPolicy::new(ask_about_everything()).with_approver(Arc::new(PanickingApprover));
    let executor = executor_for([tool.clone()]).with_policy(policy).build().unwrap();
    let shown = error_text(&settle(&executor, "t", json!({})).await);
    assert!(shown.contains("failed to answer"), "{shown}");
    assert_eq!(tool.count(), 0);
}

struct PendingApprover;

#[async_trait]
impl Approver for PendingApprover {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        std::future::pending().await
    }
}

/// The wait for a person has no timeout, other calls continue, and cancelling the run ends the wait.
#[tokio::test(start_paused = true)]
async fn a_missing_answer_does_not_block_other_calls() {
    let token = CancellationToken::new();
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "asks"));
    let context = context_builder().with_cancellation(token.clone()).build();
    let executor = registry([Echo::new("asks"), Echo::new("free")])
        .executor(context)
        .with_policy(ToolPolicy::new(rules).with_approver(Arc::new(PendingApprover)))
        .build()
        .unwrap();
    let calls = vec![work("1", "asks", &json!({})), work("2", "free", &json!({}))];
    let mut reports = progress_and_results(executor.execute(calls));
    let first = reports.next().await.unwrap();
    assert!(
        matches!(&first, agcore_chat::ToolReport::Settled { call_id, .. } if call_id == "2"),
        "{first:?}"
    );
    // An hour is far longer than any timeout.
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
async fn a_call_denied_by_policy_is_fatal_when_repeated() {
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Deny, "t"));
    let tool = Echo::new("t");
    let executor = executor_for([tool.clone()])
        .with_policy(ToolPolicy::new(rules))
        .build()
        .unwrap();
    let same = || settle(&executor, "t", json!({"a": 1, "b": 2}));
    let shown = error_text(&same().await);
    assert_eq!(
        shown, "permission denied: this call of t is not allowed; do not repeat it, try a different approach",
        "the model must not learn the rules"
    );
    assert!(
        matches!(settle(&executor, "t", json!({"a": 2})).await, ToolOutcome::Done(_)),
        "a call with other arguments"
    );
    let ended = settle(&executor, "t", json!({"b": 2, "a": 1})).await;
    assert_eq!(
        fatal_text(&ended),
        "t was denied: rule 1 (deny t) (the model was informed, and repeated the call)"
    );
    assert_eq!(tool.count(), 0);
}

#[tokio::test]
async fn a_call_without_an_approver_is_denied_with_the_way_to_allow_it() {
    let ends = "and there is no approver: set one, or allow the tool with a rule (the model was informed, and repeated the call)";
    let write = Echo::new("t").with_permissions([Permission::Write]);
    let destructive = Echo::new("t").with_annotations(ToolAnnotations::new().with_destructive(true));
    for (tool, reason) in [
        (write, "it needs write, which is not among the allowed permissions"),
        (destructive, "it is declared destructive, and no rule names it"),
    ] {
        let executor = executor_for([tool.clone()]).build().unwrap();
        let call = || settle(&executor, "t", json!({"password": "hunter2"}));
        assert_eq!(
            error_text(&call().await),
            "permission denied: this call of t is not allowed; do not repeat it, try a different approach"
        );
        assert_eq!(fatal_text(&call().await), format!("t was denied: {reason}, {ends}"));
        assert_eq!(tool.count(), 0);
    }
}

/// An approver that never answers for one session, and at once for any other.
struct SlowFor(&'static str);

#[async_trait]
impl Approver for SlowFor {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        if request.session_id == self.0 {
            std::future::pending::<()>().await;
        }
        Approval::once()
    }
}

#[tokio::test]
async fn a_person_who_does_not_answer_blocks_no_other_session() {
    let policy = ToolPolicy::new(ask_about_everything()).with_approver(Arc::new(SlowFor("slow")));
    let executor = |session: &str| {
        registry([Echo::new("t")])
            .executor(context_builder().with_session_id(session).build())
            .with_policy(policy.clone())
            .build()
            .unwrap()
    };
    let mut slow = executor("slow").execute(vec![work("1", "t", &json!({}))]);
    assert!(matches!(
        slow.next().await,
        Some(agcore_chat::ToolReport::Waiting { waiting: true, .. })
    ));
    let fast = settle(&executor("fast"), "t", json!({})).now_or_never();
    text(&fast.expect("the call completes immediately"));
}

#[tokio::test]
async fn destructive_tools_are_asked_about_unless_a_rule_names_them() {
    let delete = || Echo::new("delete").with_annotations(ToolAnnotations::new().with_destructive(true));
    let named = PermissionRules::default().with_rule(Rule::tool(RuleState::Allow, "delete"));
    for (rules, asked) in [(PermissionRules::default(), 1), (named, 0)] {
        let approver = ScriptedApprover::new([Approval::session()]);
        let policy = ToolPolicy::new(rules.clone()).with_approver(approver.clone());
        let executor = executor_for([delete(), Echo::new("read")])
            .with_policy(policy)
            .build()
            .unwrap();
        text(&settle(&executor, "read", json!({})).await);
        text(&settle(&executor, "delete", json!({})).await);
        text(&settle(&executor, "delete", json!({})).await);
        let requests = approver.requests();
        assert_eq!(requests.len(), asked);
        if let Some(request) = requests.first() {
            assert_eq!(request.reason, "it is declared destructive, and no rule names it");
        }
        // Without an approver, a rule must allow the call.
        let executor = executor_for([delete()])
            .with_policy(ToolPolicy::new(rules))
            .build()
            .unwrap();
        let result = settle(&executor, "delete", json!({})).await;
        match asked {
            0 => _ = text(&result),
            _ => assert!(error_text(&result).contains("permission denied"), "{result:?}"),
        }
    }
}

//! Audit: every decision and every end of a call is recorded.

use std::sync::{Arc, Mutex};

use agcore_chat::Actor;
use agcore_tools::{Approval, AuditRecord, AuditSink, Permission, PermissionRules, Rule, RuleState, ToolPolicy};
use serde_json::{Value, json};

use crate::support::{Echo, ScriptedApprover, context_builder, registry, reports, settle, work};

#[derive(Default)]
struct RecordingSink(Mutex<Vec<Value>>);

impl AuditSink for RecordingSink {
    fn record(&self, record: &AuditRecord<'_>) {
        self.0.lock().unwrap().push(serde_json::to_value(record).unwrap());
    }
}

impl RecordingSink {
    /// Returns the outcome, decider and verdict of each decision, and the error of each end.
    fn summaries(&self) -> Vec<String> {
        let records = self.0.lock().unwrap();
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let summary = |record: &Value| match record["event"].as_str() {
            Some("decided") => ["outcome", "decider", "verdict"]
                .map(|key| word(&record[key]))
                .join(" "),
            _ => format!("finished {}", word(&record["error"])),
        };
        records.iter().map(summary).collect()
    }
}

async fn check(rules: PermissionRules, answer: Option<Approval>, expected: &[&str]) -> Arc<RecordingSink> {
    let sink = Arc::new(RecordingSink::default());
    let mut policy = ToolPolicy::new(rules);
    if let Some(answer) = answer {
        policy = policy.with_approver(ScriptedApprover::new([answer]));
    }
    let context = context_builder()
        .with_actor(Actor::user("ann"))
        .with_trace_id("trace")
        .build();
    let tools = registry([Echo::new("t").with_permissions([Permission::Write])]);
    let executor = tools
        .executor(context)
        .with_policy(policy)
        .with_audit(sink.clone())
        .build()
        .unwrap();
    settle(&executor, "t", json!({"x": 1})).await;
    assert_eq!(sink.summaries(), expected);
    sink
}

#[tokio::test]
async fn records_who_decided_what_and_why() {
    let rule = |state| PermissionRules::default().with_rule(Rule::tool(state, "t").with_name("r"));
    let sink = check(rule(RuleState::Allow), None, &["allowed rules allow", "finished -"]).await;
    let mut record = sink.0.lock().unwrap().remove(0);
    assert!(
        record["at_ms"].as_u64().is_some_and(|at| at > 1_600_000_000_000),
        "{record}"
    );
    record["at_ms"] = 0.into();
    assert_eq!(
        record,
        json!({
            "at_ms": 0, "session_id": "session", "trace_id": "trace", "actor": {"tenant": "local", "user": "ann"}, "call_id": "call", "tool": "t",
            "arguments": {"x": 1}, "event": "decided", "outcome": "allowed", "decider": "rules", "verdict": "allow",
            "reason": "rule 1 (r: allow t)", "edited": false,
        })
    );
    check(rule(RuleState::Deny), None, &["denied rules deny"]).await;
    check(rule(RuleState::Ask), None, &["denied nobody ask"]).await;
    check(PermissionRules::default(), None, &["denied rules not_allowed"]).await;
    check(
        rule(RuleState::Ask),
        Some(Approval::once()),
        &["allowed person ask", "finished -"],
    )
    .await;
    check(rule(RuleState::Ask), Some(Approval::deny("no")), &["denied person ask"]).await;
    check(rule(RuleState::Ask), Some(Approval::Suspend), &["suspended person ask"]).await;
}

#[tokio::test]
async fn records_a_grant_as_the_decider() {
    let sink = Arc::new(RecordingSink::default());
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "t"));
    let policy = ToolPolicy::new(rules).with_approver(ScriptedApprover::new([Approval::session()]));
    let executor = crate::support::executor_for([Echo::new("t")])
        .with_policy(policy)
        .with_audit(sink.clone())
        .build()
        .unwrap();
    settle(&executor, "t", json!({})).await;
    settle(&executor, "t", json!({})).await;
    assert_eq!(
        sink.summaries(),
        ["allowed person ask", "finished -", "allowed grant ask", "finished -"]
    );
}

#[tokio::test]
async fn decides_all_calls_of_a_reply_before_the_first_one_runs() {
    let sink = Arc::new(RecordingSink::default());
    let tools = registry([Echo::new("t").with_permissions([Permission::Write])]);
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Allow, "t"));
    let executor = tools
        .executor(context_builder().build())
        .with_policy(ToolPolicy::new(rules));
    let executor = executor
        .with_audit(sink.clone())
        .with_max_concurrency(2)
        .build()
        .unwrap();
    let ids = ["a", "b", "c"];
    reports(&executor, ids.map(|id| work(id, "t", &json!({}))).into()).await;
    let records = sink.0.lock().unwrap();
    let order: Vec<_> = records
        .iter()
        .map(|record| (record["event"].as_str().unwrap(), record["call_id"].as_str().unwrap()))
        .collect();
    let expected = ["decided", "finished"].map(|event| ids.map(|id| (event, id)));
    assert_eq!(order, expected.concat());
}

//! Every decision and every end is told to the sink.

use std::sync::{Arc, Mutex};

use agcore_tools::{Approval, AuditRecord, AuditSink, Permission, PermissionRules, Rule, RuleState, ToolPolicy};
use serde_json::{Value, json};

use crate::support::{Echo, Scripted, context_builder, registry, reports, settle, work};

#[derive(Default)]
struct Kept(Mutex<Vec<Value>>);

impl AuditSink for Kept {
    fn record(&self, record: &AuditRecord<'_>) {
        self.0.lock().unwrap().push(serde_json::to_value(record).unwrap());
    }
}

impl Kept {
    /// Outcome, decider and verdict of decisions; the error of ends.
    fn short(&self) -> Vec<String> {
        let records = self.0.lock().unwrap();
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let short = |record: &Value| match record["event"].as_str() {
            Some("decided") => ["outcome", "decider", "verdict"]
                .map(|key| word(&record[key]))
                .join(" "),
            _ => format!("finished {}", word(&record["error"])),
        };
        records.iter().map(short).collect()
    }
}

async fn check(rules: PermissionRules, answer: Option<Approval>, expected: &[&str]) -> Arc<Kept> {
    let sink = Arc::new(Kept::default());
    let mut policy = ToolPolicy::new(rules);
    if let Some(answer) = answer {
        policy = policy.with_approver(Scripted::new([answer]));
    }
    let context = context_builder().actor("ann").trace_id("trace").build();
    let tools = registry([Echo::new("t").needs([Permission::Write])]);
    let executor = tools
        .executor(context)
        .policy(policy)
        .audit(sink.clone())
        .build()
        .unwrap();
    settle(&executor, "t", json!({"x": 1})).await;
    assert_eq!(sink.short(), expected);
    sink
}

#[tokio::test]
async fn who_what_when_why_and_which_rule() {
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
            "at_ms": 0, "session_id": "session", "trace_id": "trace", "actor": "ann", "call_id": "call", "tool": "t",
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
async fn a_grant_is_named_as_the_decider() {
    let sink = Arc::new(Kept::default());
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "t"));
    let policy = ToolPolicy::new(rules).with_approver(Scripted::new([Approval::session()]));
    let executor = crate::support::executor_of([Echo::new("t")])
        .policy(policy)
        .audit(sink.clone())
        .build()
        .unwrap();
    settle(&executor, "t", json!({})).await;
    settle(&executor, "t", json!({})).await;
    assert_eq!(
        sink.short(),
        ["allowed person ask", "finished -", "allowed grant ask", "finished -"]
    );
}

#[tokio::test]
async fn a_whole_reply_is_decided_before_any_of_it_runs() {
    let sink = Arc::new(Kept::default());
    let tools = registry([Echo::new("t").needs([Permission::Write])]);
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Allow, "t"));
    let executor = tools.executor(context_builder().build()).policy(ToolPolicy::new(rules));
    let executor = executor.audit(sink.clone()).most_at_a_time(2).build().unwrap();
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

//! Audit: every decision and every end of a call is recorded.

use std::sync::{Arc, Mutex};

use agcore_chat::{Actor, Answer, ToolCall, ToolGuard, ToolOutcome, ToolWork};
use agcore_tools::{
    Approval, AuditRecord, AuditSink, Grant, Permission, PermissionRules, Rule, RuleState, SuspendingApprover,
    ToolPolicy,
};
use futures_util::FutureExt;
use serde_json::{Value, json};

use crate::support::{Echo, ScriptedApprover, context_builder, question, registry, reports, resume, settle, work};

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

/// Returns the records without the members that are the same in all of them.
fn short(sink: &RecordingSink) -> Vec<Value> {
    let mut records = sink.0.lock().unwrap().clone();
    for record in &mut records {
        let members = record.as_object_mut().unwrap();
        for name in ["at_ms", "session_id", "verdict", "edited", "duration_us"] {
            members.remove(name);
        }
        assert_eq!(members.remove("actor"), Some(json!({"tenant": "local", "user": "ann"})));
    }
    records
}

fn audited(policy: ToolPolicy, sink: &Arc<RecordingSink>) -> agcore_tools::RegistryExecutor {
    let context = context_builder().with_actor(Actor::user("ann")).build();
    registry([Echo::new("t")])
        .executor(context)
        .with_policy(policy)
        .with_audit(sink.clone())
        .build()
        .unwrap()
}

#[tokio::test]
async fn records_calls_that_are_refused_before_a_decision() {
    let sink = Arc::new(RecordingSink::default());
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "t"));
    let edited = Approval::edited(json!({"x": 2}).as_object().cloned().unwrap());
    let executor = audited(
        ToolPolicy::new(rules).with_approver(ScriptedApprover::new([edited])),
        &sink,
    );
    settle(&executor, "missing", json!({"x": 1})).await;
    executor
        .settle(ToolWork::new(ToolCall::function("call", "t", "{")))
        .await;
    let guard = ToolGuard::new(|_| async { Err(ToolOutcome::error("blocked by a hook")) });
    executor
        .settle(work("call", "t", &json!({"x": 1})).with_guard(guard))
        .await;
    let refused = |tool: &str, arguments: Value, error: &str, message: &str| {
        json!({
            "call_id": "call", "tool": tool, "arguments": arguments, "event": "refused", "error": error,
            "message": message,
        })
    };
    let records = short(&sink);
    let unreadable = records[1]["message"].as_str().unwrap().to_owned();
    assert!(unreadable.starts_with("invalid arguments for t: "), "{unreadable}");
    assert_eq!(
        records,
        [
            refused(
                "missing",
                json!({}),
                "not_found",
                r#"there is no tool named "missing"; use only the tools you were given"#
            ),
            refused("t", json!({}), "invalid_arguments", &unreadable),
            refused("t", json!({"x": 2}), "permission_denied", "blocked by a hook"),
        ]
    );
}

#[tokio::test]
async fn records_calls_with_invalid_arguments() {
    let sink = Arc::new(RecordingSink::default());
    let tool = Echo::new("t").with_parameters(json!({"type": "object", "required": ["x"]}));
    let executor = registry([tool])
        .executor(context_builder().with_actor(Actor::user("ann")).build())
        .with_audit(sink.clone())
        .build()
        .unwrap();
    settle(&executor, "t", json!({"y": 1})).await;
    let record = short(&sink).remove(0);
    assert_eq!(
        (&record["event"], &record["error"]),
        (&json!("refused"), &json!("invalid_arguments"))
    );
    assert_eq!(record["arguments"], json!({"y": 1}));
}

#[tokio::test]
async fn records_the_answer_of_a_person() {
    let sink = Arc::new(RecordingSink::default());
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "t"));
    let answers = [
        Approval::once().with_approver("carol"),
        Approval::always().with_grant(Grant::new("*")),
        Approval::deny("never"),
    ];
    let policy = ToolPolicy::new(rules.clone()).with_approver(ScriptedApprover::new(answers));
    let executor = audited(policy, &sink);
    for x in 1..4 {
        settle(&executor, "t", json!({"x": x})).await;
    }
    let executor = audited(
        ToolPolicy::new(rules).with_approver(ScriptedApprover::new([Approval::deny("never").with_approver("dave")])),
        &sink,
    );
    settle(&executor, "t", json!({})).await;
    let records = sink.0.lock().unwrap();
    let decided: Vec<Value> = records
        .iter()
        .filter(|record| record["event"] == "decided")
        .map(|record| {
            let picked = ["outcome", "decider", "scope", "grant", "approver", "message"];
            let picked = picked.map(|name| (name, record[name].clone()));
            picked.into_iter().filter(|(_, value)| !value.is_null()).collect()
        })
        .collect();
    let grant = json!({"owner": {"tenant": "local", "user": "ann"}, "tool": "*"});
    assert_eq!(
        decided,
        [
            json!({"outcome": "allowed", "decider": "person", "scope": "once", "approver": "carol"}),
            json!({"outcome": "allowed", "decider": "person", "scope": "always", "grant": grant}),
            json!({"outcome": "allowed", "decider": "grant", "grant": grant}),
            json!({"outcome": "denied", "decider": "person", "approver": "dave", "message": "never"}),
        ]
    );
}

#[tokio::test]
async fn records_of_a_suspension_and_its_answer_name_the_question() {
    for (answer, outcome) in [
        (Answer::approve().with_approver("carol"), "allowed"),
        (Answer::deny("no").with_approver("carol"), "denied"),
    ] {
        let sink = Arc::new(RecordingSink::default());
        let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "t"));
        let policy = ToolPolicy::new(rules).with_approver(Arc::new(SuspendingApprover));
        let executor = audited(policy, &sink);
        let asked = question(settle(&executor, "t", json!({"x": 1})).await);
        resume(&executor, "t", json!({"x": 1}), asked, answer).await;
        let records = sink.0.lock().unwrap();
        let pick = |at: usize, name: &str| records[at][name].as_str().unwrap().to_owned();
        assert_eq!(
            (pick(0, "outcome"), pick(0, "question")),
            ("suspended".into(), "call?0".into())
        );
        assert_eq!(
            (pick(1, "outcome"), pick(1, "question")),
            (outcome.into(), "call?0".into())
        );
        assert_eq!(
            (pick(1, "approver"), &records[1]["arguments"]),
            ("carol".into(), &json!({"x": 1}))
        );
    }
}

/// A sink that panics at one kind of event.
struct PanickingSink(&'static str);

impl AuditSink for PanickingSink {
    fn record(&self, record: &AuditRecord<'_>) {
        let event = serde_json::to_value(record.event).unwrap();
        assert_ne!(event["event"], self.0, "the disk is full");
    }
}

#[tokio::test]
async fn a_sink_that_panics_after_the_run_does_not_change_the_result() {
    let tool = Echo::new("t");
    let executor = |event| {
        crate::support::executor_for([tool.clone()])
            .with_audit(Arc::new(PanickingSink(event)))
            .build()
            .unwrap()
    };
    assert_eq!(
        crate::support::text(&settle(&executor("finished"), "t", json!({})).await),
        "{}"
    );
    assert_eq!(tool.count(), 1);
    // A call that cannot be recorded does not run.
    let refused = crate::support::error_text(&settle(&executor("decided"), "t", json!({})).await);
    assert_eq!(refused, "t was not run because of a fault in the application");
    assert_eq!(tool.count(), 1);
    let missing = crate::support::error_text(&settle(&executor("refused"), "missing", json!({})).await);
    assert!(missing.starts_with("there is no tool"), "{missing}");
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_runs_leaves_a_record_of_its_end() {
    let sink = Arc::new(RecordingSink::default());
    let tool = agcore_tools::typed("t", "Hangs.", |_: agcore_tools::NoArguments| {
        std::future::pending::<Result<(), agcore_tools::ToolError>>()
    });
    let executor = crate::support::executor_for([tool])
        .with_audit(sink.clone())
        .build()
        .unwrap();
    assert!(settle(&executor, "t", json!({})).now_or_never().is_none());
    assert_eq!(sink.summaries(), ["allowed rules allow", "finished cancelled"]);
}

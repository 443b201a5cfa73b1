//! Grants: for the session, permanent, and for certain arguments.

use std::sync::Arc;

use agcore_tools::{
    Approval, Grant, GrantStore, GrantedArgument, InMemoryGrants, PermissionRules, Rule, RuleState, ToolError,
    ToolErrorKind, ToolPolicy, ToolSession,
    permission::{ArgumentTest, JsonPath},
};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::support::{Echo, ScriptedApprover, error_text, executor_for, settle, text};

fn ask_about_tools() -> PermissionRules {
    PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "fs.*"))
}

fn ask_about_paths() -> PermissionRules {
    let etc = ArgumentTest::Within("/etc".into());
    ask_about_tools().with_rule(Rule::argument(RuleState::Ask, "fs.*", "$.path", etc).unwrap())
}

/// Runs the calls in one session and returns the indices of those a person was asked about.
async fn asked_about(rules: PermissionRules, answers: &[Approval], calls: &[(&str, Value)]) -> Vec<usize> {
    let approver = ScriptedApprover::new(answers.to_vec());
    let policy = ToolPolicy::new(rules).with_approver(approver.clone());
    let executor = executor_for([Echo::new("fs.read"), Echo::new("fs.write")])
        .with_policy(policy)
        .build()
        .unwrap();
    let mut asked = Vec::new();
    for (index, (tool, arguments)) in calls.iter().enumerate() {
        let before = approver.requests().len();
        text(&settle(&executor, tool, arguments.clone()).await);
        if approver.requests().len() > before {
            asked.push(index);
        }
    }
    asked
}

#[tokio::test]
async fn a_grant_covers_one_tool_with_any_arguments() {
    let calls = [
        ("fs.read", json!({"path": "/a"})),
        ("fs.read", json!({"path": "/b"})),
        ("fs.write", json!({"path": "/a"})),
    ];
    let session = [Approval::session(), Approval::session()];
    assert_eq!(asked_about(ask_about_tools(), &session, &calls).await, [0, 2]);
    let once = [Approval::once(), Approval::once(), Approval::once()];
    assert_eq!(asked_about(ask_about_tools(), &once, &calls).await, [0, 1, 2]);
}

#[tokio::test]
async fn a_grant_for_a_tool_does_not_cover_an_argument_that_a_rule_asks_about() {
    let calls = [
        ("fs.read", json!({"path": "/tmp/a"})),
        ("fs.read", json!({"path": "/etc/passwd"})),
        ("fs.read", json!({"path": "/etc/passwd"})),
        ("fs.read", json!({"path": "/etc/shadow"})),
        ("fs.read", json!({"path": "/tmp/b"})),
    ];
    let answers = [Approval::session(), Approval::session(), Approval::session()];
    assert_eq!(asked_about(ask_about_paths(), &answers, &calls).await, [0, 1, 3]);
}

#[tokio::test]
async fn a_grant_must_name_every_argument_that_rules_ask_about() {
    let present = |path| Rule::argument(RuleState::Ask, "*", path, ArgumentTest::Present).unwrap();
    let rules = PermissionRules::default().with_rules([present("$.path"), present("$.mode")]);
    let calls = [
        ("fs.read", json!({"path": "/a"})),
        ("fs.read", json!({"path": "/a", "mode": "raw"})),
        ("fs.read", json!({"path": "/a", "mode": "raw"})),
        ("fs.read", json!({"path": "/a", "mode": "text"})),
        ("fs.read", json!({"path": "/a"})),
        ("fs.read", json!({})),
    ];
    let answers = [Approval::session(), Approval::session(), Approval::once()];
    assert_eq!(asked_about(rules, &answers, &calls).await, [0, 1, 3]);
}

#[tokio::test]
async fn an_approver_may_widen_or_narrow_the_grant() {
    let grant = |path: &str| {
        let values = vec![json!(path)];
        let path = JsonPath::new("$.path").unwrap();
        let mut argument = GrantedArgument::from_arguments(path, &agcore_tools::Arguments::new());
        argument.values = values;
        Grant::new("fs.read").with_argument(argument)
    };
    let allow = |grant| Approval::Allow {
        scope: agcore_chat::ApprovalScope::Session,
        arguments: None,
        grant: Some(grant),
    };
    let calls = [
        ("fs.read", json!({"path": "/a"})),
        ("fs.read", json!({"path": "/a", "other": 1})),
        ("fs.read", json!({"path": "/b"})),
    ];
    let answers = [allow(grant("/a")), Approval::once()];
    assert_eq!(asked_about(ask_about_tools(), &answers, &calls).await, [0, 2]);
}

#[tokio::test]
async fn permanent_grants_apply_to_other_sessions_and_session_grants_do_not() {
    for (answer, asked_again) in [(Approval::always(), false), (Approval::session(), true)] {
        let store = Arc::new(InMemoryGrants::new());
        for first in [true, false] {
            let approver = ScriptedApprover::new([answer.clone()]);
            let policy = ToolPolicy::new(ask_about_tools())
                .with_approver(approver.clone())
                .with_grants(store.clone());
            let executor = executor_for([Echo::new("fs.read")])
                .with_policy(policy)
                .build()
                .unwrap();
            settle(&executor, "fs.read", json!({})).await;
            assert_eq!(approver.requests().len() == 1, first || asked_again, "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_session_round_trips_through_json_with_its_grants() {
    let session = ToolSession::new();
    let policy =
        |answers: Vec<Approval>| ToolPolicy::new(ask_about_tools()).with_approver(ScriptedApprover::new(answers));
    let executor = |session, answers| {
        executor_for([Echo::new("fs.read")])
            .with_policy(policy(answers))
            .with_session(session)
            .build()
            .unwrap()
    };
    settle(
        &executor(session.clone(), vec![Approval::session()]),
        "fs.read",
        json!({}),
    )
    .await;
    let restored = ToolSession::restore(session.export()).unwrap();
    text(&settle(&executor(restored.clone(), vec![]), "fs.read", json!({})).await);
    assert_eq!((restored.revoke("fs.read"), restored.grants().len()), (1, 0));
    let denied = settle(
        &executor(restored, vec![Approval::deny("no more")]),
        "fs.read",
        json!({}),
    )
    .await;
    assert!(error_text(&denied).contains("no more"));
}

/// Without an approver, a call that needs approval runs only if a grant covers it.
#[tokio::test]
async fn without_an_approver_only_granted_calls_run() {
    let store = Arc::new(InMemoryGrants::from_iter([Grant::new("fs.read")]));
    let policy = ToolPolicy::new(ask_about_tools()).with_grants(store);
    let executor = executor_for([Echo::new("fs.read"), Echo::new("fs.write")])
        .with_policy(policy)
        .build()
        .unwrap();
    text(&settle(&executor, "fs.read", json!({})).await);
    assert!(error_text(&settle(&executor, "fs.write", json!({})).await).contains("permission denied"));
}

#[tokio::test]
async fn grants_round_trip_through_json() {
    let path = JsonPath::new("$.path").unwrap();
    let argument = GrantedArgument::from_arguments(path, &serde_json::from_value(json!({"path": "/a"})).unwrap());
    let store = InMemoryGrants::from_iter([Grant::new("a"), Grant::new("b").with_argument(argument)]);
    store.add(Grant::new("a")).await.unwrap();
    assert_eq!(store.list().len(), 2, "duplicates are stored once");
    let json = store.to_json();
    let again = InMemoryGrants::from_json(&json).unwrap();
    assert_eq!(again.list(), store.list());
    assert_eq!((again.revoke("a"), again.list().len()), (1, 1));
    assert_eq!(
        serde_json::from_str::<Value>(&json).unwrap(),
        json!({"version": 1, "grants": [
            {"tool": "a"}, {"tool": "b", "arguments": [{"path": "$.path", "values": ["/a"]}]},
        ]})
    );
}

#[test]
fn rejects_corrupt_and_newer_grants() {
    for (text, reason) in [
        ("", "EOF while parsing"),
        (r#"{"version": 1, "gra"#, "EOF while parsing"),
        ("[]", "they have no version; restore or remove them"),
        (
            r#"{"version": 2, "grants": []}"#,
            "they have version 2, but this program reads version 1; update the program",
        ),
        (
            r#"{"version": 1, "grants": [{"tool": "a", "path": "/"}]}"#,
            "unknown field `path`",
        ),
        (
            r#"{"version": 1, "grants": [{"tool": "a", "arguments": [{"path": "x", "values": []}]}]}"#,
            "must start with $",
        ),
    ] {
        let error = InMemoryGrants::from_json(text).expect_err(text);
        assert_eq!(error.kind(), ToolErrorKind::Config);
        assert!(error.message().starts_with("cannot read the grants: "), "{error}");
        assert!(error.message().contains(reason), "{text}: {error}");
    }
}

struct BrokenStore;

#[async_trait]
impl GrantStore for BrokenStore {
    async fn find(&self, _: &str) -> Result<Vec<Grant>, ToolError> {
        Err(ToolError::failed("disk on fire"))
    }

    async fn add(&self, _: Grant) -> Result<(), ToolError> {
        Err(ToolError::failed("disk on fire"))
    }
}

#[tokio::test]
async fn a_broken_store_grants_nothing_and_blocks_no_call() {
    let approver = ScriptedApprover::new([Approval::always()]);
    let policy = ToolPolicy::new(ask_about_tools())
        .with_approver(approver.clone())
        .with_grants(Arc::new(BrokenStore));
    let executor = executor_for([Echo::new("fs.read")])
        .with_policy(policy)
        .build()
        .unwrap();
    text(&settle(&executor, "fs.read", json!({})).await);
    // The grant could not be stored, but is valid for this session.
    text(&settle(&executor, "fs.read", json!({})).await);
    assert_eq!(approver.requests().len(), 1);
}

//! What a person has allowed: for the session, for good, for which arguments.

use std::sync::Arc;

use agcore_tools::{
    Approval, Grant, GrantStore, InMemoryGrants, PermissionRules, Rule, RuleState, SameArgument, ToolError,
    ToolErrorKind, ToolPolicy, ToolSession,
    permission::{ArgumentTest, JsonPath},
};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::support::{Echo, Scripted, error_text, executor_of, settle, text};

fn asks_tool() -> PermissionRules {
    PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "fs.*"))
}

fn asks_path() -> PermissionRules {
    let etc = ArgumentTest::Within("/etc".into());
    asks_tool().with_rule(Rule::argument(RuleState::Ask, "fs.*", "$.path", etc).unwrap())
}

/// Makes the calls in one session; says at which of them a person was asked.
async fn asked_at(rules: PermissionRules, answers: &[Approval], calls: &[(&str, Value)]) -> Vec<usize> {
    let approver = Scripted::new(answers.to_vec());
    let policy = ToolPolicy::new(rules).with_approver(approver.clone());
    let executor = executor_of([Echo::new("fs.read"), Echo::new("fs.write")])
        .policy(policy)
        .build()
        .unwrap();
    let mut asked = Vec::new();
    for (place, (tool, arguments)) in calls.iter().enumerate() {
        let before = approver.asked().len();
        text(&settle(&executor, tool, arguments.clone()).await);
        if approver.asked().len() > before {
            asked.push(place);
        }
    }
    asked
}

#[tokio::test]
async fn a_grant_is_of_one_tool_whatever_its_arguments() {
    let calls = [
        ("fs.read", json!({"path": "/a"})),
        ("fs.read", json!({"path": "/b"})),
        ("fs.write", json!({"path": "/a"})),
    ];
    let session = [Approval::session(), Approval::session()];
    assert_eq!(asked_at(asks_tool(), &session, &calls).await, [0, 2]);
    let once = [Approval::once(), Approval::once(), Approval::once()];
    assert_eq!(asked_at(asks_tool(), &once, &calls).await, [0, 1, 2]);
}

#[tokio::test]
async fn a_yes_to_the_tool_is_no_yes_to_an_argument_that_a_rule_asks_about() {
    let calls = [
        ("fs.read", json!({"path": "/tmp/a"})),
        ("fs.read", json!({"path": "/etc/passwd"})),
        ("fs.read", json!({"path": "/etc/passwd"})),
        ("fs.read", json!({"path": "/etc/shadow"})),
        ("fs.read", json!({"path": "/tmp/b"})),
    ];
    let answers = [Approval::session(), Approval::session(), Approval::session()];
    assert_eq!(asked_at(asks_path(), &answers, &calls).await, [0, 1, 3]);
}

#[tokio::test]
async fn every_argument_that_rules_ask_about_must_be_granted() {
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
    assert_eq!(asked_at(rules, &answers, &calls).await, [0, 1, 3]);
}

#[tokio::test]
async fn an_approver_may_widen_or_narrow_the_grant() {
    let grant = |path: &str| {
        let values = vec![json!(path)];
        let mut same = SameArgument::of(JsonPath::new("$.path").unwrap(), &agcore_tools::Arguments::new());
        same.values = values;
        Grant::new("fs.read").with_argument(same)
    };
    let yes = |grant| Approval::Allow {
        scope: agcore_chat::ApprovalScope::Session,
        arguments: None,
        grant: Some(grant),
    };
    let calls = [
        ("fs.read", json!({"path": "/a"})),
        ("fs.read", json!({"path": "/a", "other": 1})),
        ("fs.read", json!({"path": "/b"})),
    ];
    let answers = [yes(grant("/a")), Approval::once()];
    assert_eq!(asked_at(asks_tool(), &answers, &calls).await, [0, 2]);
}

#[tokio::test]
async fn for_good_holds_in_other_sessions_and_for_the_session_does_not() {
    for (answer, asked_again) in [(Approval::always(), false), (Approval::session(), true)] {
        let store = Arc::new(InMemoryGrants::new());
        for first in [true, false] {
            let approver = Scripted::new([answer.clone()]);
            let policy = ToolPolicy::new(asks_tool())
                .with_approver(approver.clone())
                .with_grants(store.clone());
            let executor = executor_of([Echo::new("fs.read")]).policy(policy).build().unwrap();
            settle(&executor, "fs.read", json!({})).await;
            assert_eq!(approver.asked().len() == 1, first || asked_again, "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_session_survives_as_json_with_its_grants() {
    let session = ToolSession::new();
    let policy = |answers: Vec<Approval>| ToolPolicy::new(asks_tool()).with_approver(Scripted::new(answers));
    let executor = |session, answers| {
        executor_of([Echo::new("fs.read")])
            .policy(policy(answers))
            .session(session)
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

/// Without an approver nothing that asks may run, unless a person has allowed it before.
#[tokio::test]
async fn headless_denies_but_for_what_was_granted() {
    let store = Arc::new(InMemoryGrants::with([Grant::new("fs.read")]));
    let policy = ToolPolicy::new(asks_tool()).with_grants(store);
    let executor = executor_of([Echo::new("fs.read"), Echo::new("fs.write")])
        .policy(policy)
        .build()
        .unwrap();
    text(&settle(&executor, "fs.read", json!({})).await);
    assert!(error_text(&settle(&executor, "fs.write", json!({})).await).contains("permission denied"));
}

#[tokio::test]
async fn written_and_read_again() {
    let path = JsonPath::new("$.path").unwrap();
    let same = SameArgument::of(path, &serde_json::from_value(json!({"path": "/a"})).unwrap());
    let store = InMemoryGrants::with([Grant::new("a"), Grant::new("b").with_argument(same)]);
    store.add(Grant::new("a")).await.unwrap();
    assert_eq!(store.list().len(), 2, "the same yes is kept once");
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
fn corrupt_and_newer_grants_are_refused() {
    for (text, why) in [
        ("", "EOF while parsing"),
        (r#"{"version": 1, "gra"#, "EOF while parsing"),
        ("[]", "they have no version; restore or remove them"),
        (
            r#"{"version": 2, "grants": []}"#,
            "they are of version 2, this program knows 1; update it",
        ),
        (
            r#"{"version": 1, "grants": [{"tool": "a", "path": "/"}]}"#,
            "unknown field `path`",
        ),
        (
            r#"{"version": 1, "grants": [{"tool": "a", "arguments": [{"path": "x", "values": []}]}]}"#,
            "must begin with $",
        ),
    ] {
        let error = InMemoryGrants::from_json(text).expect_err(text);
        assert_eq!(error.kind(), ToolErrorKind::Config);
        assert!(error.message().starts_with("the grants cannot be read: "), "{error}");
        assert!(error.message().contains(why), "{text}: {error}");
    }
}

struct Broken;

#[async_trait]
impl GrantStore for Broken {
    async fn find(&self, _: &str) -> Result<Vec<Grant>, ToolError> {
        Err(ToolError::failed("disk on fire"))
    }

    async fn add(&self, _: Grant) -> Result<(), ToolError> {
        Err(ToolError::failed("disk on fire"))
    }
}

#[tokio::test]
async fn a_broken_store_grants_nothing_and_stops_nobody() {
    let approver = Scripted::new([Approval::always()]);
    let policy = ToolPolicy::new(asks_tool())
        .with_approver(approver.clone())
        .with_grants(Arc::new(Broken));
    let executor = executor_of([Echo::new("fs.read")]).policy(policy).build().unwrap();
    text(&settle(&executor, "fs.read", json!({})).await);
    // It could not be kept for good, but holds for this session.
    text(&settle(&executor, "fs.read", json!({})).await);
    assert_eq!(approver.asked().len(), 1);
}

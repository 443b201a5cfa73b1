//! Grants: for the session, permanent, and for certain arguments.

use std::sync::Arc;

use agcore_chat::ApprovalScope;
use agcore_tools::{
    Actor, Approval, Arguments, Grant, GrantStore, GrantedArgument, InMemoryGrants, PermissionConfig, PermissionRules,
    Rule, RuleState, ToolError, ToolErrorKind, ToolPolicy, ToolSession,
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
async fn by_default_a_grant_covers_the_same_arguments_only() {
    let calls = [
        ("fs.read", json!({"path": "/a", "limit": 1000})),
        ("fs.read", json!({"limit": 1e3, "path": "/a"})),
        ("fs.read", json!({"path": "/b", "limit": 1000})),
        ("fs.read", json!({"path": "/a"})),
        ("fs.write", json!({"path": "/a", "limit": 1000})),
    ];
    for wide in [Approval::session(), Approval::always()] {
        let answers = [wide, Approval::once(), Approval::once(), Approval::once()];
        assert_eq!(asked_about(ask_about_tools(), &answers, &calls).await, [0, 2, 3, 4]);
    }
    let once = vec![Approval::once(); 5];
    assert_eq!(asked_about(ask_about_tools(), &once, &calls).await, [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn the_approver_may_allow_a_tool_with_any_arguments() {
    let calls = [
        ("fs.read", json!({"path": "/a"})),
        ("fs.read", json!({"path": "/b"})),
        ("fs.write", json!({"path": "/a"})),
    ];
    let answers = [Approval::session().with_grant(Grant::new("fs.read")), Approval::once()];
    assert_eq!(asked_about(ask_about_tools(), &answers, &calls).await, [0, 2]);
    let answers = [Approval::session().with_grant(Grant::new("fs.*"))];
    assert_eq!(asked_about(ask_about_tools(), &answers, &calls).await, [0]);
}

#[tokio::test]
async fn the_approver_is_offered_a_narrow_and_a_wide_grant() {
    let approver = ScriptedApprover::new([Approval::once(), Approval::once()]);
    let policy = ToolPolicy::new(ask_about_paths()).with_approver(approver.clone());
    let context = crate::support::context_builder().with_actor(Actor::user("ann")).build();
    let executor = crate::support::registry([Echo::new("fs.read")])
        .executor(context)
        .with_policy(policy)
        .build()
        .unwrap();
    let arguments = json!({"path": "/etc/passwd", "limit": 1});
    settle(&executor, "fs.read", arguments.clone()).await;
    let asked = approver.requests().remove(0);
    let arguments: Arguments = serde_json::from_value(arguments).unwrap();
    let ann = |grant: Grant| grant.with_owner(Actor::user("ann"));
    assert_eq!(asked.grant, ann(Grant::same_arguments("fs.read", &arguments)));
    let path = GrantedArgument::from_arguments(JsonPath::new("$.path").unwrap(), &arguments);
    assert_eq!(asked.tool_grant, ann(Grant::new("fs.read").with_argument(path)));
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
    let wide = || Approval::session().with_grant(Grant::new("fs.read"));
    let answers = [wide(), Approval::session(), Approval::session()];
    assert_eq!(asked_about(ask_about_paths(), &answers, &calls).await, [0, 1, 3]);
}

/// A rule that asks about an argument only leaves the others open.
#[tokio::test]
async fn by_default_a_grant_names_the_arguments_that_rules_ask_about() {
    let etc = ArgumentTest::Within("/etc".into());
    let rules = PermissionRules::default().with_rule(Rule::argument(RuleState::Ask, "*", "$.path", etc).unwrap());
    let calls = [
        ("fs.read", json!({"path": "/etc/passwd", "limit": 1})),
        ("fs.read", json!({"path": "/etc/passwd", "limit": 2})),
        ("fs.read", json!({"path": "/etc/shadow", "limit": 1})),
        ("fs.read", json!({"path": "/tmp/a", "limit": 1})),
    ];
    let answers = [Approval::session(), Approval::once()];
    assert_eq!(asked_about(rules, &answers, &calls).await, [0, 2]);
}

/// Runs a call for a user, in a session of its own unless one is given.
async fn call_for(user: &Actor, policy: &ToolPolicy, session: Option<&ToolSession>) -> agcore_chat::ToolOutcome {
    let context = crate::support::context_builder().with_actor(user.clone()).build();
    let mut builder = crate::support::registry([Echo::new("fs.read")])
        .executor(context)
        .with_policy(policy.clone());
    if let Some(session) = session {
        builder = builder.with_session(session.clone());
    }
    settle(&builder.build().unwrap(), "fs.read", json!({"path": "/a"})).await
}

#[tokio::test]
async fn the_grants_of_one_user_cover_no_other() {
    let line = |line| Actor::new("acme", "ann").with_line(line);
    let actors = [
        line("support"),
        line("sales"),
        Actor::new("acme", "ann"),
        Actor::new("acme", "bob").with_line("support"),
        Actor::new("other", "ann").with_line("support"),
        Actor::local(),
    ];
    // Even in a session that users share.
    for session in [None, Some(ToolSession::new())] {
        let approver = ScriptedApprover::new(std::iter::once(Approval::always()).chain(vec![Approval::once(); 5]));
        let policy = ToolPolicy::new(ask_about_tools()).with_approver(approver.clone());
        for (calls, actor) in (1..).zip(&actors) {
            text(&call_for(actor, &policy, session.as_ref()).await);
            assert_eq!(approver.requests().len(), calls, "{actor}");
        }
        text(&call_for(&actors[0], &policy, session.as_ref()).await);
        assert_eq!(approver.requests().len(), actors.len());
    }
}

#[tokio::test]
async fn a_grant_always_belongs_to_the_user_of_the_run() {
    let (ann, bob) = (Actor::user("ann"), Actor::user("bob"));
    let for_bob = Grant::new("fs.read").with_owner(bob.clone());
    let approver = ScriptedApprover::new([Approval::always().with_grant(for_bob), Approval::deny("no")]);
    let store = Arc::new(InMemoryGrants::new());
    let policy = ToolPolicy::new(ask_about_tools())
        .with_approver(approver)
        .with_grants(store.clone());
    text(&call_for(&ann, &policy, None).await);
    assert_eq!(store.all(), [Grant::new("fs.read").with_owner(ann.clone())]);
    assert!(error_text(&call_for(&bob, &policy, None).await).contains("denied by a person"));
    // A grant for all lines of business is kept as it is.
    let support = ann.clone().with_line("support");
    text(&call_for(&support, &policy, None).await);
}

/// A store that returns what belongs to others, too.
struct LeakyStore;

#[async_trait]
impl GrantStore for LeakyStore {
    async fn list(&self, _: &Actor) -> Result<Vec<Grant>, ToolError> {
        Ok(vec![Grant::new("*").with_owner(Actor::user("ann"))])
    }

    async fn add(&self, _: Grant) -> Result<(), ToolError> {
        Ok(())
    }

    async fn revoke(&self, _: &Grant) -> Result<bool, ToolError> {
        Ok(false)
    }
}

#[tokio::test]
async fn grants_of_others_are_ignored_whatever_the_store_returns() {
    let policy = ToolPolicy::new(ask_about_tools()).with_grants(Arc::new(LeakyStore));
    text(&call_for(&Actor::user("ann"), &policy, None).await);
    let bob = call_for(&Actor::user("bob"), &policy, None).await;
    assert!(error_text(&bob).contains("permission denied"));
}

#[tokio::test]
async fn grants_can_be_listed_and_revoked() {
    let (ann, bob) = (Actor::user("ann"), Actor::user("bob"));
    let grant = |tool: &str, owner: &Actor| Grant::new(tool).with_owner(owner.clone());
    let store: Arc<dyn GrantStore> = Arc::new(InMemoryGrants::new());
    for grant in [grant("fs.*", &ann), grant("mail", &ann), grant("fs.read", &bob)] {
        store.add(grant).await.unwrap();
    }
    assert_eq!(
        store.list(&ann).await.unwrap(),
        [grant("fs.*", &ann), grant("mail", &ann)]
    );
    assert_eq!(store.find(&ann, "fs.read").await.unwrap(), [grant("fs.*", &ann)]);
    assert!(store.revoke(&grant("fs.*", &ann)).await.unwrap());
    assert!(!store.revoke(&grant("fs.*", &ann)).await.unwrap());
    assert_eq!(store.find(&ann, "fs.read").await.unwrap(), []);
    assert_eq!(store.list(&bob).await.unwrap(), [grant("fs.read", &bob)]);

    let session = ToolSession::new();
    session.grant(grant("fs.*", &ann));
    assert!(session.revoke(&grant("fs.*", &ann)) && !session.revoke(&grant("fs.*", &ann)));
    assert_eq!(session.grants(), []);
}

#[test]
fn an_argument_may_be_a_pattern() {
    let local = Actor::local();
    let covers = |json: Value, arguments: Value| {
        let grant: Grant = serde_json::from_value(json!({"tool": "t", "arguments": [json]})).unwrap();
        let again: Grant = serde_json::from_str(&serde_json::to_string(&grant).unwrap()).unwrap();
        assert_eq!(again, grant);
        let arguments: Arguments = serde_json::from_value(arguments).unwrap();
        grant.covers(&local, "t", &arguments, &[&JsonPath::new("$.x").unwrap()])
    };
    let x = |value: Value| json!({"x": value});
    let equals = json!({"path": "$.x", "equals": 1000});
    assert!(covers(equals.clone(), x(json!(1000.0))) && !covers(equals, x(json!("1000"))));
    let glob = json!({"path": "$.x", "matches": "git *"});
    assert!(covers(glob.clone(), x(json!("git log"))) && !covers(glob, x(json!("git log; reboot"))));
    let within = json!({"path": "$.x", "within": "/srv"});
    assert!(covers(within.clone(), x(json!("/srv/a"))) && !covers(within.clone(), x(json!("/srv/../etc"))));
    assert!(!covers(within, json!({})));
    let command = json!({"path": "$.x", "command": "git *"});
    assert!(covers(command.clone(), x(json!("git log"))) && !covers(command, x(json!("git `reboot`"))));
    let any = json!({"path": "$.x"});
    assert!(covers(any.clone(), x(json!(null))) && !covers(any, json!({"y": 1})));
    // Only the exact arguments name every argument.
    let all = json!({"path": "$", "values": [{"x": 1, "y": 2}]});
    assert!(covers(all.clone(), json!({"y": 2, "x": 1.0})) && !covers(all, json!({"x": 1, "y": 3})));
    assert!(!covers(json!({"path": "$"}), json!({"x": 1})));
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
async fn an_approver_may_narrow_the_grant() {
    let path = GrantedArgument::new(JsonPath::new("$.path").unwrap(), ArgumentTest::Equals("/a".into())).unwrap();
    let calls = [
        ("fs.read", json!({"path": "/a"})),
        ("fs.read", json!({"path": "/a", "other": 1})),
        ("fs.read", json!({"path": "/b"})),
    ];
    let narrow = Approval::session().with_grant(Grant::new("fs.read").with_argument(path));
    assert_eq!(
        asked_about(ask_about_tools(), &[narrow, Approval::once()], &calls).await,
        [0, 2]
    );
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
    assert_eq!((restored.revoke_tool("fs.read"), restored.grants().len()), (1, 0));
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
    assert_eq!(store.all().len(), 2, "duplicates are stored once");
    let json = store.to_json();
    let again = InMemoryGrants::from_json(&json).unwrap();
    assert_eq!(again.all(), store.all());
    assert_eq!((again.revoke_tool("a"), again.all().len()), (1, 1));
    assert_eq!(
        serde_json::from_str::<Value>(&json).unwrap(),
        json!({"version": 2, "grants": [
            {"owner": {"tenant": "local", "user": "local"}, "tool": "a"},
            {
                "owner": {"tenant": "local", "user": "local"}, "tool": "b",
                "arguments": [{"path": "$.path", "values": ["/a"]}],
            },
        ]})
    );
}

/// Grants of version 1 had no owners: they belong to the user of programs without users.
#[test]
fn reads_grants_without_owners() {
    let saved = r#"{"version": 1, "grants": [
        {"tool": "a"}, {"tool": "b", "arguments": [{"path": "$.path", "values": ["/a"]}]}
    ]}"#;
    let path = JsonPath::new("$.path").unwrap();
    let argument = GrantedArgument::from_arguments(path, &serde_json::from_value(json!({"path": "/a"})).unwrap());
    let grants = InMemoryGrants::from_json(saved).unwrap();
    assert_eq!(grants.all(), [Grant::new("a"), Grant::new("b").with_argument(argument)]);
    assert!(grants.all().iter().all(|grant| grant.owner == Actor::local()));

    let saved = json!({"version": 1, "batch": 3, "told": {}, "grants": [{"tool": "a"}]});
    let session = ToolSession::restore(saved).unwrap();
    assert_eq!(
        (session.grants(), session.export()["version"].clone()),
        (vec![Grant::new("a")], json!(2))
    );
}

#[test]
fn rejects_corrupt_and_newer_grants() {
    for (text, reason) in [
        ("", "EOF while parsing"),
        (r#"{"version": 1, "gra"#, "EOF while parsing"),
        ("[]", "they have no version; restore or remove them"),
        (
            r#"{"version": 3, "grants": []}"#,
            "they have version 3, but this program reads version 2; update the program",
        ),
        (
            r#"{"version": 1, "grants": [{"tool": "a", "path": "/"}]}"#,
            "unknown field `path`",
        ),
        (
            r#"{"version": 2, "grants": [{"tool": "a", "arguments": [{"path": "$", "value": 1}]}]}"#,
            "unknown field `value`",
        ),
        (
            r#"{"version": 2, "grants": [{"tool": "a", "arguments": [{"path": "$", "values": [1], "equals": 1}]}]}"#,
            "cannot have other conditions",
        ),
        (
            r#"{"version": 2, "grants": [{"tool": "a", "arguments": [{"path": "$.p", "within": "/a/.."}]}]}"#,
            "no path is within",
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
    async fn list(&self, _: &Actor) -> Result<Vec<Grant>, ToolError> {
        Err(ToolError::failed("disk on fire"))
    }

    async fn add(&self, _: Grant) -> Result<(), ToolError> {
        Err(ToolError::failed("disk on fire"))
    }

    async fn revoke(&self, _: &Grant) -> Result<bool, ToolError> {
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

#[tokio::test]
async fn a_grant_with_edited_arguments_covers_only_those() {
    let allowed = ArgumentTest::Within("/srv".into());
    let rules = PermissionRules::from(PermissionConfig::default().with_allow_unspecified(false))
        .with_rule(Rule::argument(RuleState::Allow, "fs.*", "$.path", allowed).unwrap());
    let edited = json!({"path": "/srv/x"}).as_object().cloned().unwrap();
    let session = Approval::Allow {
        scope: ApprovalScope::Session,
        arguments: Some(edited.into()),
        grant: None,
        approver: None,
    };
    let calls = [
        ("fs.write", json!({"path": "/etc/x"})),
        ("fs.write", json!({"path": "/etc/passwd"})),
    ];
    let asked = asked_about(rules, &[session, Approval::once()], &calls).await;
    assert_eq!(asked, [0, 1], "the approval was given for /srv/x");
}

#[tokio::test]
async fn a_grant_for_a_wildcard_covers_the_same_members_only() {
    let any = Rule::argument(RuleState::Ask, "fs.*", "$.*", ArgumentTest::Present).unwrap();
    let rules = PermissionRules::default().with_rule(any);
    let calls = [
        ("fs.write", json!({"from": "a", "to": "b"})),
        ("fs.write", json!({"to": "a", "from": "b"})),
        ("fs.write", json!({"x": "a", "y": "b"})),
        ("fs.write", json!({"to": "b", "from": "a"})),
    ];
    let answers = [Approval::session(), Approval::once(), Approval::once()];
    assert_eq!(asked_about(rules, &answers, &calls).await, [0, 1, 2]);
}

//! Calls that a person must confirm each time or is not asked about, and deny rules that cannot be checked.

use agcore_tools::{
    Approval, Grant, GrantStore, InMemoryGrants, PermissionRules, Registration, Rule, RuleState, ToolError, ToolPolicy,
    ToolRegistry, permission::ArgumentTest,
};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{Echo, ScriptedApprover, context, error_text, settle, text};

/// A tool whose calls with `{"guarded": true}` must be confirmed.
fn guarded() -> ToolRegistry {
    let tools = ToolRegistry::new();
    let tool = Registration::new(Echo::new("t"))
        .with_confirmation(|arguments, _| (arguments["guarded"] == true).then(|| "it is guarded".to_owned()));
    tools.register(tool).unwrap();
    tools
}

fn rules(state: RuleState) -> PermissionRules {
    PermissionRules::default().with_rule(Rule::tool(state, "t"))
}

#[tokio::test]
async fn a_call_is_confirmed_although_a_rule_allows_it() {
    let approver = ScriptedApprover::new([Approval::always(), Approval::session(), Approval::deny("no")]);
    let grants = Arc::new(InMemoryGrants::new());
    grants.add(Grant::new("t")).await.unwrap();
    let policy = ToolPolicy::new(rules(RuleState::Allow))
        .with_approver(approver.clone())
        .with_grants(grants.clone());
    let executor = guarded().executor(context()).with_policy(policy).build().unwrap();
    let call = json!({"guarded": true});
    for _ in 0..2 {
        assert!(text(&settle(&executor, "t", call.clone()).await).contains("guarded"));
    }
    // Neither answer nor the grant of the store is remembered for it.
    assert!(error_text(&settle(&executor, "t", call).await).contains("denied by a person"));
    let asked = approver.requests();
    assert_eq!(asked.len(), 3);
    assert!(
        asked
            .iter()
            .all(|request| request.each_time && request.reason == "it is guarded")
    );
    assert_eq!(grants.list(&agcore_tools::Actor::local()).await.unwrap().len(), 1);
    // Other calls are not asked about.
    settle(&executor, "t", json!({})).await;
    assert_eq!(approver.requests().len(), 3);
}

#[tokio::test]
async fn without_an_approver_a_call_that_must_be_confirmed_is_denied() {
    for state in [RuleState::Allow, RuleState::Ask, RuleState::Deny] {
        let policy = ToolPolicy::new(rules(state));
        let executor = guarded().executor(context()).with_policy(policy).build().unwrap();
        let outcome = settle(&executor, "t", json!({"guarded": true})).await;
        assert!(error_text(&outcome).contains("not allowed"), "{state}");
    }
}

#[tokio::test]
async fn a_call_that_would_fail_is_not_asked_about() {
    let tools = ToolRegistry::new();
    let tool = Registration::new(Echo::new("t")).with_precondition(|arguments, _| match arguments["broken"] == true {
        true => Err(ToolError::failed("it is broken")),
        false => Ok(()),
    });
    tools.register(tool).unwrap();
    let approver = ScriptedApprover::new([Approval::once()]);
    let executor = |state: RuleState| {
        let policy = ToolPolicy::new(rules(state)).with_approver(approver.clone());
        tools.executor(context()).with_policy(policy).build().unwrap()
    };
    let (broken, whole) = (json!({"broken": true}), json!({"broken": false}));
    let asking = executor(RuleState::Ask);
    assert_eq!(error_text(&settle(&asking, "t", broken.clone()).await), "it is broken");
    assert!(approver.requests().is_empty());
    text(&settle(&asking, "t", whole).await);
    assert_eq!(approver.requests().len(), 1);
    // Without a question, the tool itself reports what is wrong; a denied call does not mention it.
    text(&settle(&executor(RuleState::Allow), "t", broken.clone()).await);
    let denied = settle(&executor(RuleState::Deny), "t", broken).await;
    assert!(error_text(&denied).contains("not allowed"), "{denied:?}");
}

#[tokio::test]
async fn a_deny_rule_that_cannot_be_checked_asks() {
    let deny = ArgumentTest::CommandLine(vec!["rm *".into()]);
    let rules = PermissionRules::default()
        .with_rule(Rule::argument(RuleState::Deny, "t", "$.command", deny).unwrap())
        .with_rule(Rule::tool(RuleState::Allow, "t"));
    let approver = ScriptedApprover::new(std::iter::repeat_n(Approval::once(), 8));
    let policy = ToolPolicy::new(rules).with_approver(approver.clone());
    let tools = ToolRegistry::new();
    tools.register(Echo::new("t")).unwrap();
    let executor = tools.executor(context()).with_policy(policy).build().unwrap();
    let run = |line: &str| {
        let (executor, call): (_, Value) = (&executor, json!({"command": line}));
        async move { settle(executor, "t", call).await }
    };
    for line in ["ls *", "echo $HOME", "echo 'a", "echo a > b", "rm $X"] {
        let before = approver.requests().len();
        assert!(text(&run(line).await).contains("command"), "{line}");
        let asked = approver.requests();
        assert_eq!(asked.len(), before + 1, "{line}");
        let reason = "rule 1 (deny t with $.command commands like rm *) cannot be checked, because the command has syntax that only a \
                      shell understands";
        assert!(
            asked[before].unclear && asked[before].reason == reason,
            "{line}: {}",
            asked[before].reason
        );
    }
    let before = approver.requests().len();
    for line in ["rm x", "ls && rm x", "r''m x"] {
        assert!(error_text(&run(line).await).contains("not allowed"), "{line}");
    }
    assert!(text(&run("ls").await).contains("ls"));
    assert_eq!(approver.requests().len(), before);
}

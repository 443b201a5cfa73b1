//! The tables of `docs/permissions.md`, row by row: static rules, rules on top, and the answers of the approver.

use agcore_chat::ToolOutcome;
use agcore_tools::{
    Approval, Arguments, Permission, PermissionConfig, PermissionRules, Rule, RuleState, ToolPolicy,
    permission::{ArgumentTest, ToolFacts, Verdict, decide},
};
use serde_json::{Value, json};

use crate::support::{Echo, ScriptedApprover, error_text, executor_for, settle};

use Permission::{Delete, Network, Read, Shell, Write};
use RuleState::{Allow, Ask, Deny};

fn arguments(value: &Value) -> Arguments {
    Arguments::from(value.as_object().cloned().unwrap())
}

fn verdict(rules: &PermissionRules, permissions: &[Permission]) -> Verdict {
    decide(
        rules,
        ToolFacts::new("fs.write", permissions),
        &arguments(&json!({"path": "/notes/a"})),
    )
    .verdict
}

#[test]
fn static_rules_apply_in_order() {
    let listed = PermissionConfig::new();
    let unlisted = PermissionConfig::new().with_allowed([]);
    let strict = |config: &PermissionConfig| config.clone().with_allow_unspecified(false);
    for (config, permissions, expected) in [
        (listed.clone(), vec![Delete], Verdict::Deny),
        (listed.clone(), vec![Read, Shell], Verdict::Deny),
        (listed.clone(), vec![], Verdict::Allow),
        (strict(&listed), vec![], Verdict::NotAllowed),
        (unlisted.clone(), vec![Write], Verdict::Allow),
        (strict(&unlisted), vec![Write], Verdict::NotAllowed),
        (unlisted, vec![Shell], Verdict::Deny),
        (listed.clone(), vec![Read, Network], Verdict::Allow),
        (listed.clone(), vec![Read, Write], Verdict::NotAllowed),
        (strict(&listed), vec![Read], Verdict::Allow),
        (listed.clone().with_denied([Read]), vec![Read], Verdict::Deny),
        (listed.clone().with_ask_unlisted(true), vec![Read, Write], Verdict::Ask),
        (listed.clone().with_ask_unlisted(true), vec![Read], Verdict::Allow),
        (listed.clone().with_ask_unlisted(true), vec![Shell], Verdict::Deny),
        (strict(&listed).with_ask_unlisted(true), vec![], Verdict::NotAllowed),
    ] {
        assert_eq!(
            verdict(&config.clone().into(), &permissions),
            expected,
            "{config:?} {permissions:?}"
        );
    }
}

/// One rule of each state and kind on top of each of the three static results.
#[test]
fn one_rule_on_top_of_each_static_result() {
    let argument = |state| Rule::argument(state, "fs.*", "$.path", ArgumentTest::Within("/notes".into())).unwrap();
    type Kind<'a> = (&'a str, &'a dyn Fn(RuleState) -> Rule);
    let by_tool = |state| Rule::tool(state, "fs.*");
    let by_permission = |state| Rule::permission(state, Write);
    let kinds: [Kind<'_>; 3] = [
        ("permission", &by_permission),
        ("tool", &by_tool),
        ("argument", &argument),
    ];
    for (kind, rule) in kinds {
        let lifts = kind != "permission";
        for (state, allowed, not_allowed) in [
            (
                Allow,
                Verdict::Allow,
                if lifts { Verdict::Allow } else { Verdict::NotAllowed },
            ),
            (
                Ask,
                Verdict::Ask,
                if lifts { Verdict::Ask } else { Verdict::NotAllowed },
            ),
            (Deny, Verdict::Deny, Verdict::Deny),
        ] {
            let on_top_of =
                |config: PermissionConfig| verdict(&PermissionRules::new(config).with_rule(rule(state)), &[Write]);
            assert_eq!(
                on_top_of(PermissionConfig::new().with_allowed([Write])),
                allowed,
                "{kind} {state} on top of allow"
            );
            assert_eq!(
                on_top_of(PermissionConfig::new()),
                not_allowed,
                "{kind} {state} on top of not allowed"
            );
            let asked = match not_allowed {
                Verdict::NotAllowed => Verdict::Ask,
                other => other,
            };
            assert_eq!(
                on_top_of(PermissionConfig::new().with_ask_unlisted(true)),
                asked,
                "{kind} {state} on top of asking about unlisted permissions"
            );
            assert_eq!(
                on_top_of(PermissionConfig::new().with_denied([Write])),
                Verdict::Deny,
                "{kind} {state} on top of deny"
            );
        }
    }
}

#[test]
fn deny_overrides_ask_and_ask_overrides_allow_in_any_order() {
    let config = || PermissionConfig::new().with_allowed([Write]);
    let tool = |state| Rule::tool(state, "fs.write");
    let permission = |state| Rule::permission(state, Write);
    for (rules, expected) in [
        (vec![tool(Allow), permission(Deny)], Verdict::Deny),
        (vec![permission(Deny), tool(Allow)], Verdict::Deny),
        (vec![tool(Allow), permission(Ask)], Verdict::Ask),
        (vec![permission(Allow), tool(Ask)], Verdict::Ask),
        (vec![tool(Ask), permission(Deny), tool(Allow)], Verdict::Deny),
    ] {
        let rules = PermissionRules::new(config()).with_rules(rules);
        assert_eq!(verdict(&rules, &[Write]), expected, "{rules:?}");
    }
    // The allow rule names the tool and lifts *not allowed*; then the ask rule applies.
    let lifted = PermissionRules::default().with_rules([tool(Allow), permission(Ask)]);
    assert_eq!(verdict(&lifted, &[Write]), Verdict::Ask);
}

#[test]
fn an_allow_rule_needs_all_values_to_pass_and_a_deny_rule_any() {
    let files = |state| Rule::argument(state, "*", "$.files[*]", ArgumentTest::Within("/notes".into())).unwrap();
    let matches = |state, value: Value| files(state).matches("any", &[], &arguments(&value));
    let mixed = json!({"files": ["/notes/a", "/etc/passwd"]});
    let escape = json!({"files": ["/notes/../etc/passwd"]});
    assert!(!matches(Allow, mixed.clone()));
    assert!(matches(Deny, mixed.clone()) && matches(Ask, mixed));
    assert!(!matches(Allow, escape.clone()));
    assert!(matches(Deny, escape.clone()) && matches(Ask, escape));
    for state in [Allow, Ask, Deny] {
        assert!(!matches(state, json!({"files": []})), "{state}");
        assert!(!matches(state, json!({})), "{state}");
        assert!(!matches(state, json!({"files": [7]})), "{state}");
    }
}

/// *Ask* and *not allowed*, without an approver and with each of its answers.
#[tokio::test]
async fn the_answer_of_the_approver_decides() {
    let asking = || PermissionRules::new(PermissionConfig::new()).with_rule(Rule::tool(Ask, "t"));
    let not_allowed = PermissionRules::default;
    for (name, rules) in [("ask", asking as fn() -> _), ("not allowed", not_allowed as fn() -> _)] {
        for (answer, runs) in [
            (None, false),
            (Some(Approval::once()), true),
            (Some(Approval::session()), true),
            (Some(Approval::always()), true),
            (Some(Approval::edited(arguments(&json!({"x": 2})))), true),
            (Some(Approval::deny("not today")), false),
            (Some(Approval::Suspend), false),
        ] {
            let echo = Echo::new("t").with_permissions([Write]);
            let mut policy = ToolPolicy::new(rules());
            if let Some(answer) = &answer {
                policy = policy.with_approver(ScriptedApprover::new([answer.clone()]));
            }
            let executor = executor_for([echo.clone()]).with_policy(policy).build().unwrap();
            let outcome = settle(&executor, "t", json!({"x": 1})).await;
            assert_eq!(echo.count() == 1, runs, "{name} {answer:?}");
            match answer {
                None => assert!(error_text(&outcome).contains("permission denied"), "{outcome:?}"),
                Some(Approval::Deny { .. }) => {
                    assert!(error_text(&outcome).contains("not today"), "{outcome:?}");
                }
                Some(Approval::Suspend) => {
                    assert!(matches!(outcome, ToolOutcome::Ask(_)), "{outcome:?}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn rules_round_trip_through_json() {
    let json = r#"{
        "permissions": {"allowed": ["read", "write"], "denied": ["shell"], "allow_unspecified": false},
        "rules": [
            {"state": "deny", "permission": "acme:refund"},
            {"name": "nulls", "state": "ask", "tool": "db.*", "argument": "$.id", "equals": null},
            {"state": "allow", "argument": "$.url", "matches": "https://example.org/*"}
        ]
    }"#;
    let rules: PermissionRules = serde_json::from_str(json).unwrap();
    assert_eq!(rules.rules[1].to_string(), "nulls: ask db.* with $.id equal to null");
    assert_eq!(
        rules.rules[2].to_string(),
        "allow * with $.url matching https://example.org/*"
    );
    let restored: PermissionRules = serde_json::from_str(&serde_json::to_string(&rules).unwrap()).unwrap();
    assert_eq!(restored, rules);
}

#[test]
fn rejects_ambiguous_and_misspelled_rules() {
    for (json, reason) in [
        (r#"{"rule": []}"#, "unknown field `rule`"),
        (r#"{"permissions": {"deny": ["shell"]}}"#, "unknown field `deny`"),
        (
            r#"{"rules": [{"state": "deny"}]}"#,
            "needs a `permission`, a `tool` or an `argument`",
        ),
        (
            r#"{"rules": [{"state": "forbid", "tool": "x"}]}"#,
            "unknown variant `forbid`",
        ),
        (
            r#"{"rules": [{"state": "deny", "tool": "x", "within": "/"}]}"#,
            "needs the path of an `argument`",
        ),
        (
            r#"{"rules": [{"state": "deny", "tool": "x", "permission": "read"}]}"#,
            "cannot have other conditions",
        ),
        (
            r#"{"rules": [{"state": "deny", "argument": "$.a", "equals": 1, "within": "/"}]}"#,
            "more than one of",
        ),
        (
            r#"{"rules": [{"state": "deny", "argument": "path"}]}"#,
            "must start with $",
        ),
        (
            r#"{"rules": [{"state": "deny", "permission": "everything"}]}"#,
            "is not a permission",
        ),
    ] {
        let error = serde_json::from_str::<PermissionRules>(json)
            .expect_err(json)
            .to_string();
        assert!(error.contains(reason), "{json}: {error}");
    }
}

#[test]
fn numbers_are_compared_by_value() {
    let amount = json!({"state": "deny", "tool": "pay", "argument": "$.amount", "equals": 1000});
    let rule: Rule = serde_json::from_value(amount).unwrap();
    for (text, denied) in [
        ("1000", true),
        ("1000.0", true),
        ("1e3", true),
        ("1001", false),
        ("\"1000\"", false),
    ] {
        let value: Value = serde_json::from_str(&format!("{{\"amount\": {text}}}")).unwrap();
        assert_eq!(rule.matches("pay", &[], &arguments(&value)), denied, "{text}");
    }
}

#[test]
fn a_loose_pattern_allows_no_second_command() {
    let git = |state| Rule::argument(state, "sh", "$.cmd", ArgumentTest::Matches("git *".into())).unwrap();
    let matches = |state, command: &str| git(state).matches("sh", &[], &arguments(&json!({"cmd": command})));
    assert!(matches(Allow, "git log --oneline"));
    for hostile in [
        "git status; rm -rf /",
        "git status\nreboot",
        "git $(reboot)",
        "git `reboot`",
        "git a && b",
        "git a | sh",
        "git log > /etc/passwd",
        "git a\0b",
    ] {
        assert!(!matches(Allow, hostile), "{hostile:?}");
        assert!(matches(Deny, hostile) && matches(Ask, hostile), "{hostile:?}");
    }
    // Characters that the pattern itself contains are meant.
    let url = Rule::argument(
        Allow,
        "*",
        "$.cmd",
        ArgumentTest::Matches("https://example.org/?a=*&b=*".into()),
    )
    .unwrap();
    assert!(url.matches("get", &[], &arguments(&json!({"cmd": "https://example.org/?a=1&b=2"}))));
}

#[test]
fn a_deny_rule_catches_other_spellings_of_a_path() {
    let etc = Rule::argument(Deny, "*", "$.path", ArgumentTest::Within("/etc".into())).unwrap();
    for path in [
        "/etc/passwd",
        "etc/passwd",
        " /etc/passwd",
        "/etc\0/passwd",
        "file:///etc/passwd",
        "//etc//passwd",
        "/a/../etc",
    ] {
        assert!(etc.matches("t", &[], &arguments(&json!({"path": path}))), "{path:?}");
    }
    assert!(!etc.matches("t", &[], &arguments(&json!({"path": "/srv/etc"}))));
}

#[test]
fn rejects_rules_that_no_value_can_match() {
    for (test, reason) in [
        (json!({"within": "/srv/../etc"}), "no path is within"),
        (json!({"within": ""}), "no path is within"),
        (
            json!({"within": "/etc", "relative_to": "here"}),
            "must refer to an absolute path",
        ),
        (json!({"relative_to": "/etc"}), "needs a `within`"),
        (json!({"command": " "}), "has no words"),
        (json!({"command": "git *", "matches": "git *"}), "more than one of"),
    ] {
        let mut rule = json!({"state": "deny", "tool": "t", "argument": "$.path"});
        rule.as_object_mut().unwrap().extend(test.as_object().cloned().unwrap());
        let error = serde_json::from_value::<Rule>(rule).unwrap_err().to_string();
        assert!(error.contains(reason), "{test}: {error}");
    }
    assert!(Rule::argument(Deny, "t", "$.path", ArgumentTest::Within("".into())).is_err());
    let rule = json!({"state": "allow", "tool": "t", "argument": "$.path", "within": "notes", "relative_to": "/srv"});
    let rule: Rule = serde_json::from_value(rule.clone())
        .inspect(|read: &Rule| {
            assert_eq!(serde_json::to_value(read).unwrap(), rule);
        })
        .unwrap();
    assert_eq!(rule.to_string(), "allow t with $.path within notes (relative to /srv)");
}

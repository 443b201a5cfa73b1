//! Tool arguments and permission rules: parsing and deciding always terminate, and neither reordering nor adding rules
//! weakens a denial.
//!
//! The input is the rules as JSON, the name of the tool, its permissions (separated by commas) and the raw arguments,
//! separated by NUL.
#![no_main]

use agcore_chat::ToolCall;
use agcore_fuzz::parts;
use agcore_tools::{
    Arguments, Permission, PermissionRules, Rule, RuleState,
    permission::{Basis, ToolFacts, Verdict, decide},
};
use libfuzzer_sys::fuzz_target;

fn read_permissions(text: &str) -> Vec<Permission> {
    text.split(',')
        .filter_map(|word| serde_json::from_value(word.into()).ok())
        .collect()
}

fn check(rules: &PermissionRules, tool: ToolFacts<'_>, arguments: &Arguments) {
    let verdict = |rules: &PermissionRules| decide(rules, tool, arguments).verdict;
    let decision = decide(rules, tool, arguments);
    assert_eq!(decide(rules, tool, arguments), decision, "decided twice");
    if let Basis::Rule(at) = decision.basis {
        assert!(
            rules.rules[at].matches(tool.name, tool.permissions, arguments),
            "the rule behind the decision does not match"
        );
    }
    for at in decision.asking_arguments {
        let rule = &rules.rules[at];
        assert!(
            rule.state == RuleState::Ask && rule.path().is_some(),
            "{rule} does not ask because of an argument"
        );
    }
    let mut reversed = rules.clone();
    reversed.rules.reverse();
    assert_eq!(
        verdict(&reversed),
        decision.verdict,
        "the order of rules must not matter"
    );

    let with = |state| rules.clone().with_rule(Rule::tool(state, "*"));
    assert_eq!(
        verdict(&with(RuleState::Deny)),
        Verdict::Deny,
        "deny overrides everything"
    );
    assert_ne!(verdict(&with(RuleState::Ask)), Verdict::Allow, "ask overrides allow");
    match decision.verdict {
        Verdict::Deny => assert_eq!(
            verdict(&with(RuleState::Allow)),
            Verdict::Deny,
            "allow does not override deny"
        ),
        Verdict::Ask => assert_eq!(
            verdict(&with(RuleState::Allow)),
            Verdict::Ask,
            "allow does not override ask"
        ),
        _ => {}
    }
}

fuzz_target!(|input: &str| {
    let [rules, name, permissions, raw] = parts(input);
    let call = ToolCall::function("call_1", name, raw);
    let arguments = match Arguments::from_call(&call) {
        Ok(arguments) => arguments,
        Err(error) => {
            assert!(!error.message().is_empty(), "an error without a message");
            Arguments::new()
        }
    };
    let rules = serde_json::from_str::<PermissionRules>(rules).unwrap_or_default();
    let written = serde_json::to_string(&rules).expect("rules can be written");
    let reread: PermissionRules = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(reread, rules, "{written}");
    check(&rules, ToolFacts::new(name, &read_permissions(permissions)), &arguments);
});

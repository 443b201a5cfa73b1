//! Checks, as a pure function of the expectations and the observation.

use agcore_chat::Money;
use agcore_eval::{Format, Observation, ObservedCall, Status, Suite, check};
use serde_json::{Value, json};

/// Returns the problems that an expectation finds.
fn problems(expect: &Value, seen: &Observation) -> Vec<String> {
    let suite = json!({"name": "s", "cases": [{"name": "c", "input": "i", "expect": expect}]}).to_string();
    let suite = Suite::parse("s", Format::Yaml, &suite).unwrap();
    let checks = check(&suite.cases[0].expect, seen);
    assert_eq!(checks[0].name, "status");
    let failed = checks
        .into_iter()
        .filter_map(|check| Some(format!("{}: {}", check.name, check.problem?)));
    failed.collect()
}

fn call(name: &str, arguments: Value) -> ObservedCall {
    ObservedCall::new(name, arguments.as_object().cloned().unwrap_or_default())
}

#[test]
fn answers() {
    let seen = Observation::new(" Paris, France \n");
    let check = |expect: Value, expected: &[&str]| assert_eq!(problems(&json!({"answer": expect}), &seen), expected);
    check(json!({"equals": "Paris, France"}), &[]);
    check(
        json!({"equals": "Paris"}),
        &[r#"answer.equals: expected "Paris", got " Paris, France \n""#],
    );
    check(
        json!({"contains": ["Paris", "France"], "excludes": ["Spain"], "matches": ["^ Par.s"]}),
        &[],
    );
    check(
        json!({"contains": ["Paris", "Spain"], "excludes": ["France"], "matches": ["^Paris"]}),
        &[
            r#"answer.contains: "Spain" is not in " Paris, France \n""#,
            r#"answer.excludes: "France" is in " Paris, France \n""#,
            r#"answer.matches: /^Paris/ does not match " Paris, France \n""#,
        ],
    );
    let long = problems(&json!({"answer": {"equals": ""}}), &Observation::new("ä".repeat(1_000)));
    assert!(long[0].ends_with("ä\" …") && long[0].len() < 700, "{long:?}");
}

#[test]
fn values_of_json_answers() {
    let seen = Observation::new(r#"{"city": {"name": "Paris", "rank": 1}, "a/b": [true]}"#);
    let check = |expect: Value, expected: &[&str]| assert_eq!(problems(&json!({"json": [expect]}), &seen), expected);
    check(json!({"pointer": "/city/name", "equals": "Paris"}), &[]);
    check(json!({"pointer": "/city/rank", "equals": 1.0}), &[]);
    check(json!({"pointer": "/a~1b/0", "equals": true}), &[]);
    check(json!({"pointer": "/city"}), &[]);
    check(json!({"pointer": "/city/name", "matches": "^P"}), &[]);
    check(
        json!({"pointer": "/city/name", "equals": "Rome"}),
        &[r#"json: /city/name: expected "Rome", got "Paris""#],
    );
    check(
        json!({"pointer": "/city/rank", "matches": "1"}),
        &["json: /city/rank: /1/ does not match 1"],
    );
    check(
        json!({"pointer": "/country"}),
        &[r#"json: there is no /country in {"city":{"name":"Paris","rank":1},"a/b":[true]}"#],
    );
    let plain = problems(&json!({"json": [{"pointer": ""}]}), &Observation::new("Paris"));
    assert!(plain[0].starts_with("json: the answer is not JSON ("), "{plain:?}");
}

#[test]
fn calls_of_tools() {
    let seen = Observation::new("").with_calls([
        call("read", json!({"path": "a", "limit": 5})),
        call("read", json!({"path": "b"})),
        call("write", json!({"path": "b"})),
    ]);
    let check = |expect: Value, expected: &[&str]| assert_eq!(problems(&json!({"tools": expect}), &seen), expected);
    let (a, b, write) = (
        json!({"name": "read", "arguments": {"path": "a"}}),
        json!({"name": "read", "arguments": {"path": "b"}}),
        json!({"name": "write"}),
    );
    check(json!({"calls": [a, write]}), &[]);
    check(json!({"calls": [a, b, write], "order": "exact"}), &[]);
    check(json!({"calls": [write, a], "order": "any"}), &[]);
    let all = r#"it called `read` with {"path":"a","limit":5}, `read` with {"path":"b"}, `write` with {"path":"b"}"#;
    check(
        json!({"calls": [write, a]}),
        &[&format!(
            r#"tools.calls: `read` with {{"path":"a"}} is missing or comes too early; {all}"#
        )],
    );
    check(
        json!({"calls": [a, write], "order": "exact"}),
        &[r#"tools.calls: call 2: expected a call of `write`, got `read` with {"path":"b"}"#],
    );
    check(
        json!({"calls": [a, b], "order": "exact"}),
        &[r#"tools.calls: it also called `write` with {"path":"b"}"#],
    );
    // One call does not count twice.
    check(
        json!({"calls": [a, a], "order": "any"}),
        &[&format!(r#"tools.calls: `read` with {{"path":"a"}} is missing; {all}"#)],
    );
    check(json!({"never": ["delete"]}), &[]);
    check(
        json!({"never": ["write"]}),
        &[r#"tools.never: it called `write` with {"path":"b"}"#],
    );
    let none = problems(
        &json!({"tools": {"calls": [write], "order": "exact"}}),
        &Observation::new(""),
    );
    assert_eq!(none, ["tools.calls: a call of `write` is missing; it called no tool"]);
    // With an exact list without calls, no tool may be called.
    assert_eq!(problems(&json!({"tools": {"order": "exact"}}), &seen).len(), 1);
}

#[test]
fn limits() {
    let mut seen = Observation::new("").with_calls([call("read", json!({}))]);
    (seen.steps, seen.tokens) = (2, Some(100));
    seen.costs = vec![Money::from_micros(60_000, "USD")];
    let check = |expect: Value, seen: &Observation, expected: &[&str]| assert_eq!(problems(&expect, seen), expected);
    check(
        json!({"max_steps": 2, "max_tool_calls": 1, "max_tokens": 100, "max_cost": "0.06 USD"}),
        &seen,
        &[],
    );
    check(
        json!({"max_steps": 1, "max_tool_calls": 0, "max_tokens": 99, "max_cost": "0.05 USD"}),
        &seen,
        &[
            "max_steps: it called the model 2 times; at most 1 are expected",
            "max_tool_calls: it called tools 1 times; at most 0 are expected",
            "max_tokens: it used 100 tokens; at most 99 are expected",
            "max_cost: it cost 0.060000 USD; at most 0.050000 USD are expected",
        ],
    );
    check(
        json!({"max_cost": "1 EUR"}),
        &seen,
        &["max_cost: a part of the cost is in another currency: 0.060000 USD"],
    );
    // What is unknown is not below a limit.
    check(
        json!({"max_tokens": 100, "max_cost": "1 USD"}),
        &Observation::new(""),
        &[
            "max_tokens: the tokens are unknown: the model did not report them for each call",
            "max_cost: the cost is unknown; the target needs the prices of its model",
        ],
    );
    seen.unused_replies = 2;
    check(json!({}), &seen, &["replies: 2 replies of the script were not used"]);
}

#[test]
fn the_status() {
    let mut seen = Observation::new("");
    seen.status = Status::Failed;
    seen.problem = Some("too many rounds".to_owned());
    let expected = "status: expected a turn that is finished, but it is failed: too many rounds";
    assert_eq!(problems(&json!({}), &seen), [expected]);
    assert!(problems(&json!({"status": "failed"}), &seen).is_empty());
}

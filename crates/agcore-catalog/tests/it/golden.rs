//! The golden cases of billing, whose expected values come from `tests/golden/generate.py`.

use std::collections::BTreeMap;

use agcore_catalog::price_line;
use serde_json::{Value, json};

const CASES: &str = include_str!("../golden/billing.jsonl");

#[test]
fn every_golden_case_matches() {
    let mut dimensions = BTreeMap::<String, usize>::new();
    let mut mismatches = Vec::new();
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (question, expected) = (&case["question"], &case["expected"]);
        let answer = serde_json::to_value(price_line(&question.to_string())).unwrap();
        let error = answer["error"].as_str();
        let is_same = ["cost", "cost_source", "tiers"]
            .iter()
            .all(|member| answer[member] == expected[member])
            && match expected["error"].as_str() {
                None => error.is_none(),
                // An error names the message.
                Some(part) => {
                    error.is_some_and(|error| error.contains(part) && error.contains(question["id"].as_str().unwrap()))
                }
            };
        if !is_same || answer["id"] != question["id"] {
            mismatches.push(format!("{question}\n  is  {answer}\n  not {expected}"));
        }
        *dimensions
            .entry(case["dimension"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    assert!(
        mismatches.is_empty(),
        "{} mismatches:\n{}",
        mismatches.len(),
        mismatches.join("\n")
    );
    assert!(dimensions.values().sum::<usize>() >= 150, "{dimensions:?}");
    assert!(dimensions.len() >= 18, "{dimensions:?}");
}

#[test]
fn the_worked_examples_are_exact() {
    let first = json!({
        "id": "first", "session_currency": "CNY",
        "prices": [{"model": "deepseek-chat", "currency": "CNY", "tiers": [
            {"max_prompt_tokens": null, "input": "2", "output": "3", "hit": "0.2"},
        ]}],
        "calls": [{
            "model": "deepseek-chat", "provider_cost": null, "provider_currency": null,
            "usage": {"prompt_tokens": 1200, "completion_tokens": 300, "cached_tokens": 1000},
        }],
    });
    assert_eq!(price_line(&first.to_string()).cost.as_deref(), Some("0.001500"));
    let second = json!({
        "id": "second", "session_currency": "CNY",
        "prices": [{"model": "qwen-plus", "currency": "CNY", "tiers": [
            {"max_prompt_tokens": 32000, "input": "0.8", "output": "2"},
            {"max_prompt_tokens": null, "input": "2.4", "output": "20"},
        ]}],
        "calls": [{
            "model": "qwen-plus", "provider_cost": null, "provider_currency": null,
            "usage": {"prompt_tokens": 40000, "cached_tokens": 8000, "completion_tokens": 1000, "reasoning_tokens": 400},
        }],
    });
    let answer = price_line(&second.to_string());
    assert_eq!(
        (answer.cost.as_deref(), &*answer.tiers),
        (Some("0.116000"), &[Some(1)][..])
    );
}

/// Checks that a line is refused, and that its error contains every text.
#[track_caller]
fn refused(line: &Value, texts: &[&str]) {
    let answer = price_line(&line.to_string());
    let error = answer
        .error
        .unwrap_or_else(|| panic!("{line} is priced: {:?}", answer.cost));
    assert_eq!(
        (answer.cost, answer.cost_source, answer.id.as_deref()),
        (None, None, line["id"].as_str())
    );
    for text in texts {
        assert!(error.contains(text), "{error}");
    }
}

fn with_tiers(tiers: Value) -> Value {
    json!({
        "id": "x", "session_currency": "CNY", "prices": [{"model": "m", "currency": "CNY", "tiers": tiers}],
        "calls": [{"model": "m", "usage": null, "provider_cost": null, "provider_currency": null}],
    })
}

#[test]
fn wrong_tables_are_refused() {
    let tier = |limit: Value| json!({"max_prompt_tokens": limit, "input": "1", "output": "2"});
    refused(
        &with_tiers(json!([])),
        &["prices[0].tiers: an empty list", "at least one tier"],
    );
    refused(
        &with_tiers(json!([tier(json!(5))])),
        &["tiers[0].max_prompt_tokens: 5", "the last tier is open"],
    );
    refused(
        &with_tiers(json!([tier(json!(5)), tier(json!(5)), tier(json!(null))])),
        &["tiers[1]", "ascend strictly"],
    );
    refused(
        &with_tiers(json!([tier(json!(9)), tier(json!(5)), tier(json!(null))])),
        &["tiers[1]", "ascend strictly"],
    );
    refused(
        &with_tiers(json!([tier(json!(null)), tier(json!(5))])),
        &["tiers[0]", "only the last", "tiers[1]"],
    );
    refused(
        &with_tiers(json!([tier(json!(null)), tier(json!(null))])),
        &["tiers[0]", "only the last tier is open"],
    );
    refused(
        &with_tiers(json!([tier(json!(-1)), tier(json!(null))])),
        &["cannot be read", "-1"],
    );
    for (rate, rule) in [
        ("-0.5", "at least 0"),
        ("1000000001", "at most 1000000000"),
        ("1e400", "at most 1000000000"),
        ("0.1234567890123", "12 decimals"),
        ("1,5", "decimal number"),
        ("NaN", "decimal number"),
    ] {
        for name in ["input", "output", "hit", "write", "reasoning"] {
            let mut row = tier(json!(null));
            row[name] = json!(rate);
            refused(
                &with_tiers(json!([row])),
                &[&format!("prices[0].tiers[0].{name}: \"{rate}\""), rule],
            );
        }
    }
    refused(
        &with_tiers(json!([{"max_prompt_tokens": null, "output": "1"}])),
        &["missing field `input`"],
    );
    refused(
        &with_tiers(json!([{"max_prompt_tokens": null, "input": "1"}])),
        &["missing field `output`"],
    );
    refused(
        &with_tiers(json!([{"max_prompt_tokens": null, "input": "1", "output": "1", "hitt": "1"}])),
        &["hitt"],
    );
    // Rates can be numbers as well, and keep all digits.
    let numbers = with_tiers(json!([{"max_prompt_tokens": null, "input": 0.1, "output": 1}]));
    assert_eq!(price_line(&numbers.to_string()).error, None);
}

#[test]
fn wrong_lines_are_refused() {
    let mut line = with_tiers(json!([{"max_prompt_tokens": null, "input": "1", "output": "2"}]));
    let twice = [line["prices"][0].clone(), line["prices"][0].clone()];
    line["prices"] = json!(twice);
    refused(&line, &["prices[1].model", "prices[0] has the same model"]);
    line["prices"][1]["currency"] = json!("RMB");
    refused(&line, &["prices[1].currency: \"RMB\"", "ISO 4217"]);
    line["session_currency"] = json!("yuan");
    refused(&line, &["session_currency: \"yuan\""]);
    line["session_currency"] = json!("CNY");
    line["prices"][1] = json!({"model": "n", "currency": "CNY"});
    refused(&line, &["missing field `tiers`"]);
    line["prices"] = json!([]);
    line["calls"][0]["provider_cost"] = json!("1e300");
    refused(&line, &["message \"x\"", "too large"]);
    line["calls"][0]["usage"] = json!({"prompt_tokens": -5});
    refused(&line, &["cannot be read"]);
    for text in ["", "{", "[]", "null", "7", "{\"id\": 7}"] {
        let answer = price_line(text);
        assert!(answer.id.is_none() && answer.error.is_some(), "{text}");
    }
}

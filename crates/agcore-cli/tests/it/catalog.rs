//! `catalog`: costs from prices.

use serde_json::{Value, json};

use crate::support::Agcore;

const GOLDEN: &str = include_str!("../../../agcore-catalog/tests/golden/billing.jsonl");

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn prices_the_golden_cases_from_a_file_and_from_standard_input() {
    let cases = lines(GOLDEN);
    let questions: Vec<String> = cases.iter().map(|case| case["question"].to_string()).collect();
    let text = format!("\u{feff}{}\n\n", questions.join("\n"));
    let agcore = Agcore::new().with_file("messages.jsonl", &text);
    let ran = agcore.run(["catalog", "price", "messages.jsonl"]);
    let answers = lines(ran.assert_success());
    assert_eq!(answers.len(), cases.len());
    for (answer, case) in answers.iter().zip(&cases) {
        for member in ["cost", "cost_source", "tiers"] {
            assert_eq!(answer[member], case["expected"][member], "{case}");
        }
        assert_eq!(answer["error"].is_null(), case["expected"]["error"].is_null());
    }
    for arguments in [&["catalog", "price"][..], &["catalog", "price", "-"]] {
        assert_eq!(agcore.run_with(arguments, text.as_bytes()).assert_success(), ran.stdout);
    }
}

#[test]
fn a_line_with_an_error_does_not_stop_the_next() {
    let fine = json!({"id": "b", "session_currency": "cny", "prices": [], "calls": []}).to_string();
    let input = [b"nonsense\n{\"id\": \"a\"}\n\xff\n".as_slice(), fine.as_bytes()].concat();
    let ran = Agcore::new().run_with(["catalog", "price"], &input);
    let answers = lines(ran.assert_success());
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(null), &json!("a"), &json!(null), &json!("b")]);
    assert!(answers[1]["error"].as_str().unwrap().contains("session_currency"));
    let expected = json!({
        "id": "b", "cost": "0.000000", "currency": "CNY", "cost_source": "catalog_fallback", "tiers": [], "error": null,
    });
    assert_eq!(answers[3], expected);
}

#[test]
fn a_missing_file_is_an_error() {
    let ran = Agcore::new().run(["catalog", "price", "nowhere.jsonl"]);
    ran.assert_failed(2, &["cannot read nowhere.jsonl"]);
    assert_eq!(Agcore::new().run(["catalog"]).code(), Some(2));
}

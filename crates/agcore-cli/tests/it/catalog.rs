//! `catalog` and `models --catalog`: catalogs of models, and costs from prices.

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

const SAMPLE: &str = include_str!("../../../agcore-catalog/samples/models.toml");

#[test]
fn a_catalog_is_checked_with_places() {
    let agcore = Agcore::new().with_file("models.toml", SAMPLE);
    let ran = agcore.run(["catalog", "check", "models.toml", "--role", "intent"]);
    assert_eq!(
        ran.assert_success(),
        "models.toml is valid: vendors 2, models 2, roles 3.\n"
    );
    agcore
        .run(["catalog", "check", "models.toml", "--role", "plan", "--role", "review"])
        .assert_failed(
            1,
            &[
                "the catalog has 2 problems",
                "roles.plan: nothing is refused: the role is required",
                "roles.review",
            ],
        );
    let wrong = SAMPLE
        .replace("\"2.4\"", "\"-2.4\"")
        .replace("kind = \"text\"", "kind = \"txt\"");
    let agcore = agcore.with_file("wrong.toml", &wrong);
    agcore.run(["catalog", "check", "wrong.toml"]).assert_failed(
        1,
        &[
            "wrong.toml:20:8: vendors[0].models[0].kind",
            "tiers[1].input: \"-2.4\" is refused",
        ],
    );
    let ran = agcore.run(["catalog", "check", "wrong.toml", "--json"]);
    assert_eq!(ran.code(), Some(1));
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&result["problems"][0]["line"], &result["problems"][0]["column"]),
        (&json!(20), &json!(8))
    );
    let agcore = agcore.with_file(
        "other.yaml",
        "vendors: [{name: v, endpoints: [{name: e, api: opnai, kinds: [text]}]}]",
    );
    agcore
        .run(["catalog", "check", "other.yaml"])
        .assert_failed(1, &["does not have these APIs: opnai"]);
    agcore
        .run(["catalog", "check", "models.txt"])
        .assert_failed(2, &["must end in .toml"]);
    agcore
        .run(["catalog", "check", "nowhere.toml"])
        .assert_failed(2, &["cannot read nowhere.toml"]);
}

#[test]
fn models_lists_those_of_a_catalog_with_the_state_of_keys() {
    let agcore = Agcore::new()
        .with_file("models.toml", SAMPLE)
        .with("DEEPSEEK_API_KEY", "sk-very-secret");
    let ran = agcore.run(["models", "--catalog", "models.toml"]);
    let shown = ran.assert_success();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[0].starts_with("deepseek-chat") && lines[0].contains("128000 tokens"),
        "{shown}"
    );
    assert!(
        lines[0].contains("2 / 3 CNY") && lines[0].ends_with("team: set"),
        "{shown}"
    );
    assert!(lines[1].contains("0.8 / 2 CNY and more tiers"), "{shown}");
    assert!(
        lines[1].contains("support: DASHSCOPE_API_KEY is not set, everyone: DASHSCOPE_SHARED_KEY is not set"),
        "{shown}"
    );
    let ran = agcore.run(["models", "--catalog", "models.toml", "--filter", "QWEN", "--json"]);
    let list: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let models = &list["models"];
    assert_eq!(
        (
            models.as_array().unwrap().len(),
            &models[0]["prices"][0]["tiers"][1]["input"]
        ),
        (1, &json!("2.4"))
    );
    assert!(!ran.stdout.contains("very-secret") && !shown.contains("very-secret"));
    agcore
        .run(["models", "--catalog", "models.toml", "--filter", "none"])
        .assert_failed(1, &["no model of the catalog matches (2 available)"]);
}

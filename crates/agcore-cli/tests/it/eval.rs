//! `agcore eval`: cases in a file, reports, and the difference between two.

use std::fs;

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply};
use serde_json::Value;

use crate::support::{Agcore, Server};

const SUITE: &str = r#"
name = "math"

[[cases]]
name = "adds"
input = "17 + 25?"
replies = [
    { calls = [{ name = "arithmetic", arguments = { operation = "add", a = 17, b = 25 } }], tokens = [10, 5] },
    { text = "42", tokens = [20, 1] },
]
expect = { answer = { equals = "42" }, tools = { calls = [{ name = "arithmetic", arguments = { a = 17 } }], order = "exact" } }

[[cases]]
name = "knows"
input = "The answer?"
tags = ["real"]
expect.answer.contains = ["42"]
"#;

#[test]
fn cases_with_replies_need_no_key() {
    let agcore = Agcore::new().with_file("math.toml", SUITE);
    let ran = agcore.run([
        "eval",
        "math.toml",
        "--filter",
        "adds",
        "--junit",
        "math.xml",
        "--output",
        "math.json",
    ]);
    let shown = ran.assert_success();
    assert!(shown.starts_with("✓  adds  2 steps  36 tokens  "), "{shown}");
    assert!(shown.ends_with("\n1 of 1 runs passed\n"), "{shown}");
    let file = |name: &str| fs::read_to_string(agcore.directory.path().join(name)).unwrap();
    assert!(file("math.xml").contains(r#"<testcase name="adds" classname="math""#));
    let report: Value = serde_json::from_str(&file("math.json")).unwrap();
    assert_eq!(report["results"][0]["tools"][0], "arithmetic");
    agcore.run(["eval", "diff", "math.json", "math.json"]).assert_success();

    agcore.run(["eval", "math.toml"]).assert_failed(3, &["OPENAI_API_KEY"]);
}

#[test]
fn a_model_that_becomes_worse_is_a_regression() {
    let asked = |answer: &'static str, output: &str| {
        let server = Server::start(MockOptions::new(), move |_: &RecordedRequest| Reply::text(answer));
        let agcore = Agcore::talking_to(&server).with_file("math.toml", SUITE);
        let ran = agcore.run(["eval", "math.toml", "--output", output, "--filter", "real"]);
        let report = fs::read_to_string(agcore.directory.path().join(output)).unwrap();
        (ran, report)
    };
    let (ran, before) = asked("It is 42.", "before.json");
    ran.assert_success();
    let (ran, after) = asked("It is 41.", "after.json");
    ran.assert_failed(1, &["1 of 1 runs failed"]);
    assert!(
        ran.stdout
            .contains("\n    answer.contains: \"42\" is not in \"It is 41.\"\n"),
        "{}",
        ran.stdout
    );

    let agcore = Agcore::new()
        .with_file("before.json", &before)
        .with_file("after.json", &after);
    let ran = agcore.run(["eval", "diff", "before.json", "after.json"]);
    ran.assert_failed(1, &["some cases have become worse"]);
    assert!(
        ran.stdout
            .starts_with("regressed  knows  1/1 → 0/1 passed  1 → 1 steps"),
        "{}",
        ran.stdout
    );
    let ran = agcore.run(["eval", "diff", "after.json", "before.json", "--json"]);
    let diff: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(diff["cases"][0]["change"], "improved");
    agcore
        .run(["eval", "diff", "before.json", "none.json"])
        .assert_failed(2, &["cannot read none.json"]);
}

#[test]
fn a_model_judges() {
    let suite =
        "name: s\ncases:\n- {name: a, input: Hello, replies: [{text: Hi.}], expect: {judge: {criteria: Polite.}}}";
    let server = Server::start(MockOptions::new(), |_: &RecordedRequest| {
        Reply::text(r#"{"reason": "It is short.", "score": 0.2}"#)
    });
    let agcore = Agcore::talking_to(&server).with_file("s.yaml", suite);
    let ran = agcore.run(["eval", "s.yaml", "--judge", "judge-1", "--json"]);
    ran.assert_failed(1, &["1 of 1 runs failed"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let problem = report["results"][0]["checks"][1]["problem"].as_str().unwrap();
    assert_eq!(problem, "the score is 0.2, at least 0.5 is expected: It is short.");
    assert_eq!(server.requests()[0].json()["model"], "judge-1");
}

#[test]
fn files_that_are_wrong_are_reported_with_their_place() {
    let agcore = Agcore::new()
        .with_file("math.toml", &SUITE.replace("tags", "tagz"))
        .with_file("math.txt", SUITE);
    let check = |arguments: &[&str], expected: &str| {
        agcore
            .run([&["eval"], arguments].concat())
            .assert_failed(2, &[expected]);
    };
    check(
        &["math.toml"],
        "math.toml:16:1: cases[1]: there is no member `tagz`; did you mean `tags`?",
    );
    check(&["math.txt"], "its name must end in .toml, .yaml, .yml or .json");
    check(&["none.toml"], "cannot read none.toml");
    let agcore = Agcore::new().with_file("math.toml", SUITE);
    agcore
        .run(["eval", "math.toml", "--filter", "nothing"])
        .assert_failed(2, &["no case in math.toml has \"nothing\""]);
}

//! Tests of `--record` and `agcore inspect cassette`.

use serde_json::Value;

use crate::support::{Agcore, KEY, Server};

const CASSETTE: &str = concat!(
    r#"{"agcore_cassette":1}"#,
    "\n",
    r#"{"call":1,"provider":"openai","model":"gpt-5","stream":true,"request":{"messages":[{"role":"user","content":"Add"}],"tools":[{}]},"#,
    r#""chunks":[{"ms":5,"items":[{"call":{"index":0,"id":"c","name":"add","input":"{}"}},{"finish":"tool_calls"},"#,
    r#"{"usage":{"prompt_tokens":12,"completion_tokens":5}}]}],"end":"ok","ms":1250}"#,
    "\n",
    r#"{"call":2,"provider":"openai","model":"gpt-5","stream":false,"request":{"model":"gpt-5-mini","messages":[{},{},{}]},"#,
    r#""chunks":[{"ms":5,"items":[{"text":"It is "}]},{"ms":7,"items":[{"text":"three\u001b[2J"},{"finish":"stop"}]}],"end":"ok","ms":7}"#,
    "\n",
    r#"{"call":3,"stream":false,"request":{"messages":[{}]},"chunks":[],"#,
    r#""end":{"error":{"kind":"rate_limit","message":"slow down","retryable":true,"status":429}},"ms":0}"#,
    "\n",
);

#[test]
fn lists_exchanges() {
    let agcore = Agcore::new().with_file("a.jsonl", CASSETTE);
    let ran = agcore.run(["inspect", "cassette", "a.jsonl"]);
    let shown = ran.assert_success();
    let lines: Vec<_> = shown
        .lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert_eq!(
        lines[1],
        [
            "1",
            "openai gpt-5",
            "1 message, 1 tool, streamed",
            "12 in, 5 out",
            "1.250 s",
            "tool_calls",
            "[add]"
        ]
    );
    assert_eq!(
        lines[2],
        [
            "2",
            "openai gpt-5-mini",
            "3 messages",
            "0.007 s",
            "stop",
            "It is three\u{fffd}[2J"
        ]
    );
    assert_eq!(
        lines[3],
        ["3", "1 message", "0.000 s", "error", "rate_limit: slow down (HTTP 429)"]
    );
}

#[test]
fn prints_exchanges_as_json() {
    let agcore = Agcore::new().with_file("a.jsonl", CASSETTE);
    let ran = agcore.run(["inspect", "cassette", "a.jsonl", "--json"]);
    let report: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let exchanges = report["exchanges"].as_array().unwrap();
    assert_eq!(exchanges.len(), 3);
    assert_eq!(exchanges[0]["calls"][0], "add");
    assert_eq!(
        (&exchanges[1]["model"], &exchanges[1]["chunks"]),
        (&"gpt-5-mini".into(), &2.into())
    );
    assert_eq!(exchanges[2]["error"]["kind"], "rate_limit");
    assert_eq!(report["damage"].as_array().unwrap().len(), 0);
}

#[test]
fn lists_the_readable_part_of_a_damaged_cassette_and_fails() {
    let cut = &CASSETTE[..CASSETTE.len() - 30];
    let agcore = Agcore::new().with_file("cut", cut);
    let ran = agcore.run(["inspect", "cassette", "cut"]);
    ran.assert_failed(
        1,
        &["the cassette is damaged: line 4: the exchange is truncated; record it again"],
    );
    assert!(
        ran.stdout.contains("It is three") && !ran.stdout.contains("slow down"),
        "{}",
        ran.stdout
    );
    let ran = agcore.run(["inspect", "cassette", "cut", "--json"]);
    ran.assert_failed(1, &["damaged"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["damage"][0]["line"], 4);
}

#[test]
fn rejects_other_files() {
    let agcore = Agcore::new()
        .with_file("empty", "")
        .with_file("other", "{\"id\": 1}\n")
        .with_file("newer", "{\"agcore_cassette\":9}\n");
    let check = |file: &str, text: &str| {
        agcore
            .run(["inspect", "cassette", file])
            .assert_failed(2, &[file, text]);
    };
    check("gone", "cannot read");
    check("empty", "the cassette is empty");
    check("other", "not a cassette: line 1");
    check("newer", "version 9");
}

#[test]
fn exchanges_are_recorded_to_a_cassette() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    for prompt in ["hello", "hello again"] {
        agcore.run(["-p", prompt, "--record", "chat.cassette"]).assert_success();
    }
    let shown = agcore.run(["inspect", "cassette", "chat.cassette"]).stdout;
    let recorded = std::fs::read_to_string(agcore.directory.path().join("chat.cassette")).unwrap();
    assert!(
        recorded.contains("hello again") && !recorded.contains(KEY),
        "{recorded}"
    );
    assert_eq!(shown.matches("2 messages, ").count(), 2, "{shown}");
    let agcore = agcore.with_file("notes.txt", "my notes");
    agcore.run(["-p", "hello", "--record", "notes.txt"]).assert_failed(
        2,
        &["cannot record to notes.txt: the file exists and is not a cassette"],
    );
}

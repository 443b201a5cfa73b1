//! Standard output: machine formats, no colors without a terminal, closed pipes.

use std::process::Stdio;

use agcore_demo::Playground;
use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time::timeout,
};

use crate::{
    machine::{of_type, result, stream, types},
    support::{Agcore, LIMIT, RunOutput, Server, runtime},
};

const STREAM: [&str; 2] = ["--output-format", "stream-json"];

fn streamed(agcore: &Agcore, arguments: &[&str]) -> RunOutput {
    agcore.run([&["chat"], &STREAM[..], arguments].concat())
}

#[test]
fn prints_a_line_for_every_event_of_a_turn() {
    let server = Server::playground();
    let ran = streamed(&Agcore::talking_to(&server), &["some arithmetic, 请"]);
    ran.assert_success();
    assert_eq!(ran.stderr, "");
    let lines = stream(&ran);
    assert_eq!(
        types(&lines),
        [
            "init",
            "turn_start",
            "message",
            "usage",
            "tool_use",
            "tool_start",
            "tool_result",
            "message",
            "usage",
            "turn_end",
            "result"
        ]
    );
    let init = &lines[0];
    assert_eq!(
        (&init["provider"], &init["model"]),
        (&json!("openai"), &json!("gpt-5-mini"))
    );
    assert_eq!(
        (&init["version"], &init["permission_mode"]),
        (&json!(env!("CARGO_PKG_VERSION")), &json!("default"))
    );
    assert_eq!(
        (&init["mcp_servers"], &init["trust"]),
        (&json!([]), &json!("not trusted"))
    );
    assert!(
        init["tools"].as_array().unwrap().contains(&json!("arithmetic")),
        "{init}"
    );
    assert_eq!(
        (&lines[2]["role"], &lines[2]["text"]),
        (&json!("user"), &json!("some arithmetic, 请"))
    );
    let (call, start, end) = (&lines[4], &lines[5], &lines[6]);
    assert_eq!((&call["name"], &call["id"]), (&json!("arithmetic"), &end["id"]));
    assert_eq!(start["id"], end["id"]);
    assert!(call["input"].is_object(), "{call}");
    assert_eq!((&end["status"], &end["output"]), (&json!("ok"), &json!("2")));
    let (answer, result) = (&lines[7], &lines[10]);
    assert_eq!((&answer["final"], &answer["text"]), (&json!(true), &result["text"]));
    assert!(
        result["text"].as_str().unwrap().contains("**arithmetic** returned: 2"),
        "{result}"
    );
    assert_eq!(
        (&result["stop_reason"], &result["num_model_calls"]),
        (&json!("stop"), &json!(2))
    );
    // Within the turn, every line names it.
    assert!(
        lines[1..10]
            .iter()
            .all(|line| line["turn_id"].is_string() && line["session_id"].is_string())
    );
}

#[test]
fn distinguishes_the_usage_of_calls_turns_and_models() {
    let server = Server::playground();
    let ran = streamed(&Agcore::talking_to(&server), &["some arithmetic"]);
    let lines = stream(&ran);
    let calls = of_type(&lines, "usage");
    let usage = &lines.last().unwrap()["usage"];
    let sum = |name: &str| calls.iter().map(|call| call[name].as_u64().unwrap()).sum::<u64>();
    for name in ["input", "output"] {
        assert_eq!(usage["last_call"][name], calls[1][name]);
        for total in ["turn", "session"] {
            assert_eq!(usage[total][name], json!(sum(name)), "{usage}");
        }
        assert_eq!(usage["by_model"]["gpt-5-mini"][name], json!(sum(name)), "{usage}");
    }
    assert_eq!(
        (&usage["turn"]["calls"], &usage["turn"]["complete"]),
        (&json!(2), &json!(true))
    );
    // The server reports neither: unknown is not 0.
    assert_eq!(usage["turn"]["cache_write"], Value::Null);
    let cost = &lines.last().unwrap()["cost"];
    assert_eq!(
        *cost,
        json!({"amount": null, "currency": null, "exact": false, "price_table": null})
    );
}

#[test]
fn includes_partial_messages_on_request() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran = streamed(&agcore, &["think", "--include-partial-messages"]);
    let lines = stream(&ran);
    let text = |kind: &str| -> String {
        let texts = of_type(&lines, kind)
            .into_iter()
            .map(|line| line["text"].as_str().unwrap());
        texts.collect()
    };
    assert!(of_type(&lines, "message_delta").len() > 1 && of_type(&lines, "reasoning_delta").len() > 1);
    assert_eq!(text("message_delta"), lines.last().unwrap()["text"].as_str().unwrap());
    assert_eq!(text("reasoning_delta"), text("reasoning"));
    let whole = stream(&streamed(&agcore, &["think"]));
    assert!(types(&whole).iter().all(|kind| !kind.ends_with("_delta")), "{whole:?}");
}

#[test]
fn json_prints_the_result_alone() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    for command in [&["chat"] as &[&str], &["-p"], &[]] {
        let ran = agcore.run([command, &["hello", "--output-format", "json"]].concat());
        let result = result(&ran);
        assert!(result["text"].as_str().unwrap().contains("> hello"), "{result}");
        assert_eq!((&result["status"], &result["exit_code"]), (&json!("ok"), &json!(0)));
    }
    // The former name of stream-json.
    let lines = stream(&agcore.run(["chat", "--json", "hello"]));
    assert_eq!(types(&lines)[0], "init");
}

#[test]
fn a_denied_call_is_named() {
    let server = Server::playground();
    let ran = streamed(&Agcore::talking_to(&server), &["save_note hello"]);
    let lines = stream(&ran);
    let (call, end) = (of_type(&lines, "tool_use")[0], of_type(&lines, "tool_result")[0]);
    assert_eq!((&end["id"], &end["status"]), (&call["id"], &json!("denied")));
    let denial = &lines.last().unwrap()["denials"][0];
    assert_eq!(
        (&denial["name"], &denial["input"]),
        (&json!("save_note"), &call["input"])
    );
    assert!(
        denial["reason"].as_str().unwrap().contains("no one can be asked"),
        "{denial}"
    );
}

#[test]
fn an_approval_is_reported() {
    let server = Server::playground();
    let ran = streamed(&Agcore::talking_to(&server), &["save_note hello", "--yes"]);
    ran.assert_success();
    let lines = stream(&ran);
    assert_eq!(lines[0]["permission_mode"], "bypassPermissions");
    let relevant = [
        "tool_use",
        "approval_request",
        "approval_resolved",
        "tool_start",
        "tool_result",
    ];
    let found: Vec<&str> = types(&lines)
        .into_iter()
        .filter(|kind| relevant.contains(kind))
        .collect();
    assert_eq!(found, relevant);
    let resolved = of_type(&lines, "approval_resolved")[0];
    assert_eq!(
        (&resolved["decision"], &resolved["scope"]),
        (&json!("allow"), &json!("once"))
    );
}

#[test]
fn a_tool_that_fails_or_does_not_exist_is_an_error() {
    let reply = |request: &RecordedRequest| match request.prompt().results().is_empty() {
        true => Reply::tool_calls(vec![
            ToolCall::new("gone", &json!({})),
            ToolCall::new("arithmetic", &json!({"operation": "divide", "a": 1, "b": 0})),
        ]),
        false => Reply::text("Done."),
    };
    let server = Server::start(MockOptions::new(), reply);
    let lines = stream(&streamed(&Agcore::talking_to(&server), &["go"]));
    let ends = of_type(&lines, "tool_result");
    assert_eq!(
        (&ends[0]["status"], &ends[1]["status"]),
        (&json!("error"), &json!("error"))
    );
    assert_eq!(lines.last().unwrap()["denials"], json!([]));
}

#[test]
fn a_failed_turn_ends_with_a_result() {
    let server = Server::playground();
    let ran = streamed(&Agcore::talking_to(&server), &["error 400"]);
    ran.assert_failed(1, &["(HTTP 400)"]);
    let lines = stream(&ran);
    assert_eq!(types(&lines), ["init", "turn_start", "message", "turn_end", "result"]);
    let error = &lines[4]["error"];
    assert_eq!(error["kind"], "invalid_request");
    assert!(error["message"].as_str().unwrap().contains("(HTTP 400)"), "{error}");
    assert_eq!(lines[4]["usage"]["turn"], Value::Null);
}

#[test]
fn a_broken_answer_keeps_its_part() {
    let server = Server::playground();
    for command in ["cut", "fail"] {
        let lines = stream(&streamed(&Agcore::talking_to(&server), &[command]));
        let message = *of_type(&lines, "message").last().unwrap();
        assert_eq!(
            (&message["partial"], &message["final"]),
            (&json!(true), &json!(false)),
            "{command}"
        );
        let result = lines.last().unwrap();
        assert_eq!(
            (&result["status"], &result["text"]),
            (&json!("error"), &message["text"]),
            "{command}"
        );
        assert!(result["text"].as_str().unwrap().starts_with("word1"), "{result}");
    }
}

/// A server that is busy once.
#[test]
fn a_retry_is_reported() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let busy_once = move |_: &RecordedRequest| match count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => Reply::error(agcore_testkit::mock_server::ApiError::new(503)),
        _ => Reply::text("Hello."),
    };
    let server = Server::start(MockOptions::new(), busy_once);
    let lines = stream(&streamed(&Agcore::talking_to(&server), &["hi"]));
    let retry = of_type(&lines, "retry")[0];
    assert_eq!(
        (&retry["attempt"], &retry["restarted"]),
        (&json!(2), &json!(false)),
        "{retry}"
    );
    assert!(
        retry["delay_ms"].is_u64() && retry["error"]["kind"].is_string(),
        "{retry}"
    );
    assert_eq!(lines.last().unwrap()["status"], "ok");
}

#[test]
fn failures_before_the_turn_have_a_result_too() {
    let server = Server::start(MockOptions::new().with_key("another key"), Playground::new());
    let check = |agcore: Agcore, arguments: &[&str], code: i32, kind: &str| {
        for format in ["json", "stream-json"] {
            let ran = agcore.run([arguments, &["--output-format", format]].concat());
            assert_eq!(ran.code(), Some(code), "{}", ran.stderr);
            let lines = stream(&ran);
            let error = &lines.last().unwrap()["error"];
            assert_eq!(error["kind"], kind, "{error}");
            // The error is for people, too.
            let message = error["message"].as_str().unwrap();
            assert!(ran.stderr.contains(message.lines().next().unwrap()), "{}", ran.stderr);
        }
    };
    check(Agcore::talking_to(&server), &["chat", "hi"], 3, "auth");
    check(Agcore::new(), &["chat", "hi"], 3, "auth");
    check(
        Agcore::new().trusting().with_file("agcore.toml", "modle = 1"),
        &["chat", "hi"],
        2,
        "usage",
    );
    check(
        Agcore::new().with_file("agcore.toml", "= broken"),
        &["run", "hi"],
        2,
        "usage",
    );
    check(Agcore::new().with("AGCORE_LOG", "loud"), &["chat", "hi"], 2, "usage");
    check(Agcore::new().with("OPENAI_API_KEY", "x"), &["chat", " "], 2, "usage");
}

#[test]
fn text_mode_prints_only_the_answer() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    for (message, answer) in [
        ("think", "I have thought about it.\n"),
        (
            "some arithmetic",
            "The tools answered:\n\n- **arithmetic** returned: 2\n",
        ),
    ] {
        let ran = agcore.run(["chat", message]);
        assert_eq!(ran.assert_success(), answer);
        assert!(ran.stderr.contains("tokens in"), "{}", ran.stderr);
    }
    let ran = agcore.run(["chat", "think"]);
    assert!(ran.stderr.contains("First I read the message."), "{}", ran.stderr);
}

#[test]
fn uses_no_colors_without_a_terminal() {
    let server = Server::playground();
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color"), ("CLICOLOR", "1")] {
        let agcore = Agcore::talking_to(&server).with(name, value);
        // Fails if the output contains escape codes.
        agcore.run(["chat", "some arithmetic"]).assert_success();
    }
}

/// Like `head -1`. The rest of the answer does not fit into the pipe.
#[test]
fn exits_silently_when_the_reader_goes_away() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran: RunOutput = runtime().block_on(async {
        let mut child = agcore.spawn(["chat", "--json", "--include-partial-messages", "long 10000"]);
        let mut line = String::new();
        let mut output = BufReader::with_capacity(16, child.stdout.take().unwrap());
        let read = timeout(LIMIT, output.read_line(&mut line)).await;
        read.expect("no line arrived in time").unwrap();
        drop(output);
        let ended = timeout(LIMIT, child.wait_with_output()).await;
        ended.expect("the program did not exit in time").unwrap().into()
    });
    assert_silent(&ran);
}

#[test]
fn exits_silently_without_a_reader() {
    let server = Server::playground();
    let case = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/wire/openai-chat/choice-members-null-or-absent.json"
    );
    for arguments in [
        &["chat", "hi"][..],
        &["chat", "--json", "hi"],
        &["chat", "--output-format", "json", "hi"],
        &["sessions", "list"],
        &["demo"],
        &["schema"],
        &["inspect", "case", case],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let agcore = Agcore::talking_to(&server).at_home();
        let mut command = agcore.command();
        command.args(arguments).stdin(Stdio::null()).stdout(writer);
        let ran = RunOutput::from(command.output().unwrap());
        assert_silent(&ran);
    }
}

#[track_caller]
fn assert_silent(ran: &RunOutput) {
    ran.assert_clean();
    assert_eq!(ran.code(), Some(141), "{}", ran.stderr);
    for unwanted in ["error", "--resume"] {
        assert!(!ran.stderr.contains(unwanted), "{}", ran.stderr);
    }
}

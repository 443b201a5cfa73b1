//! Tools in a chat without a terminal.

use agcore_testkit::mock_server::{Answer, MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::json;

use crate::support::{Agcore, Server};

#[test]
fn runs_and_shows_a_tool() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "some arithmetic"]);
    assert!(ran.assert_success().contains("**arithmetic** returned: 2"));
    assert!(
        ran.stderr.contains("● arithmetic {\"operation\":\"add\"") && ran.stderr.contains("✓ arithmetic "),
        "{}",
        ran.stderr
    );
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn denies_calls_that_need_approval() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "save it"]);
    ran.assert_failed(
        6,
        &[
            "✗ save_note",
            "it needs approval, and there is no terminal at which to ask (it needs write",
            "Pass --allow save_note, or --yes for every tool, or allow the tool in your agcore.toml: [permissions] allow = [\"save_note\"].",
        ],
    );
    // The answer is printed regardless.
    assert!(
        ran.stdout.contains("this call of save_note is not allowed"),
        "{}",
        ran.stdout
    );
    assert!(agcore.files().is_empty(), "{:?}", agcore.files());
}

#[test]
fn a_model_that_repeats_a_denied_call_ends_the_turn() {
    let call = |_: &RecordedRequest| {
        let call = ToolCall::new("save_note", &json!({"text": "x"}));
        Reply::answer(Answer::new().with_call(call))
    };
    let server = Server::start(MockOptions::new(), call);
    let ran = Agcore::talking_to(&server).run(["-p", "go"]);
    ran.assert_failed(
        6,
        &[
            "error: save_note was denied: it needs approval",
            "\nPass --allow save_note, or --yes",
            "\nThe turn ended because the model repeated the call.",
        ],
    );
    assert_eq!(server.requests().len(), 2);
    let agcore = Agcore::talking_to(&server)
        .trusting()
        .with_file("agcore.toml", "[permissions]\ndeny = ['save_note']\n");
    agcore
        .run(["-p", "go"])
        .assert_failed(1, &["error: save_note was denied: rule", "repeated the call"]);
}

#[test]
fn yes_option_approves_calls() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    agcore.run(["chat", "--yes", "save it"]).assert_success();
    assert_eq!(agcore.files(), ["agcore-notes.md"]);
    let notes = std::fs::read_to_string(agcore.directory.path().join("agcore-notes.md")).unwrap();
    assert_eq!(notes, "- save it\n");
}

#[test]
fn no_tools_option_offers_none() {
    let server = Server::playground();
    Agcore::talking_to(&server)
        .run(["chat", "--no-tools", "some arithmetic"])
        .assert_success();
    assert_eq!(server.requests()[0].json().get("tools"), None);
}

#[test]
fn a_chat_reads_the_pages_that_are_kept() {
    let filler = "Nothing else is known about it. ".repeat(300);
    let text = format!("# Pump\n\n{filler}\n\nThe reset code of the pump is 4711.\n\n{filler}");
    let answer = |request: &RecordedRequest| {
        let request = request.json();
        match request["tools"].is_null() || request["messages"].to_string().contains("4711") {
            true => Reply::text("found it"),
            false => {
                let call = ToolCall::new("retrieve", &json!({"query": "reset code of the pump"}));
                Reply::answer(Answer::new().with_call(call))
            }
        }
    };
    let server = Server::start(MockOptions::new(), answer);
    let agcore = Agcore::talking_to(&server).at_home();
    // Without pages, there is no tool for them.
    agcore.run(["-p", "go", "--no-tools"]).assert_success();
    agcore
        .run_with(["knowledge", "add", "-", "--id", "pump"], text.as_bytes())
        .assert_success();
    // No question is asked.
    let ran = agcore.run(["-p", "What is the reset code?"]);
    assert_eq!(ran.assert_success(), "found it\n");
    let requests = server.requests();
    let offered = requests.last().unwrap().json()["tools"].to_string();
    for (name, is_offered) in [
        ("retrieve", true),
        ("read_page", true),
        ("remember", false),
        ("recall", false),
    ] {
        assert_eq!(offered.contains(&format!("\"name\":\"{name}\"")), is_offered, "{name}");
    }
    assert!(requests[0].json()["tools"].is_null());
}

//! `agcore acp`: editors that start the program, and sessions that continue in the terminal and back.

use std::fs;

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};

use crate::{
    editor::Editor,
    support::{Agcore, Server},
};

/// A model that calls the tool after `call`, with the arguments that follow it, and repeats what it got.
fn model() -> Server {
    Server::start(MockOptions::new(), |request: &RecordedRequest| {
        let json = request.json();
        let last = json["messages"].as_array().unwrap().last().unwrap().clone();
        if last["role"] == "tool" {
            return Reply::text(format!("Result: {}", last["content"].as_str().unwrap()));
        }
        let text = request.prompt().last_user().to_owned();
        match text.split_once("call ").and_then(|(_, call)| call.split_once(' ')) {
            Some((tool, arguments)) => {
                let arguments: Value = serde_json::from_str(arguments).unwrap();
                Reply::tool_calls([ToolCall::new(tool, &arguments)])
            }
            None => Reply::text(format!("You said: {text}")),
        }
    })
}

fn answer(editor: &Editor) -> String {
    let chunks = editor.updates("agent_message_chunk");
    chunks
        .iter()
        .map(|chunk| chunk["content"]["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_session_goes_from_the_editor_to_the_terminal_and_back() {
    let server = model();
    let agcore = Agcore::talking_to(&server).at_home();
    let mut editor = Editor::start(&agcore, &[]);
    let session = editor.session(agcore.directory.path());
    editor.prompt(&session, "Hello from the editor");
    assert_eq!(answer(&editor), "You said: Hello from the editor");
    assert_eq!(editor.leave(), Some(0));

    let ran = agcore.run(["-p", "Hello from the terminal", "--continue"]);
    assert_eq!(ran.assert_success().trim(), "You said: Hello from the terminal");
    assert_eq!(
        server.requests().last().unwrap().json()["messages"]
            .as_array()
            .unwrap()
            .len(),
        4
    );

    let mut editor = Editor::start(&agcore, &[]);
    let listed = editor.ok("session/list", json!({"cwd": agcore.directory.path()}));
    assert_eq!(listed["sessions"][0]["sessionId"], session.as_str());
    assert!(listed["nextCursor"].is_null());
    let load = json!({"sessionId": session, "cwd": agcore.directory.path(), "mcpServers": []});
    editor.ok("session/load", load);
    assert!(answer(&editor).contains("You said: Hello from the terminal"));
    editor.prompt(&session, "/status");
    assert!(answer(&editor).contains(&format!("agcore chat --resume {session}")));
    editor.ok("session/delete", json!({"sessionId": session}));
    assert_eq!(editor.ok("session/list", json!({}))["sessions"], json!([]));
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn an_editor_that_dies_in_a_question_leaves_it_for_the_terminal() {
    let server = model();
    let agcore = Agcore::talking_to(&server).at_home();
    let mut editor = Editor::start(&agcore, &[]);
    let session = editor.session(agcore.directory.path());
    editor.begin_prompt(&session, r#"call save_note {"text": "milk"}"#);
    editor.asked();
    assert_eq!(editor.leave(), Some(0));
    assert!(agcore.files().is_empty(), "{:?}", agcore.files());

    let listed: Value = serde_json::from_str(agcore.run(["approvals", "list", "--json"]).assert_success()).unwrap();
    let question = &listed["approvals"][0];
    assert_eq!(
        (&question["tool"], &question["session_id"]),
        (&json!("save_note"), &json!(session))
    );
    agcore
        .run(["approvals", "allow", question["id"].as_str().unwrap()])
        .assert_success();
    // The answer that was given in the terminal counts in the editor.
    let mut editor = Editor::start(&agcore, &[]);
    editor.ok(
        "session/load",
        json!({"sessionId": session, "cwd": agcore.directory.path(), "mcpServers": []}),
    );
    let before = answer(&editor);
    editor.prompt(&session, "Thanks");
    let text = answer(&editor);
    assert!(
        text[before.len()..].starts_with("Result: Saved to agcore-notes.md."),
        "{text}"
    );
    assert!(text.ends_with("You said: Thanks"), "{text}");
    assert!(
        editor
            .seen
            .iter()
            .all(|message| message["method"] != "session/request_permission")
    );
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn an_answer_for_always_counts_in_later_processes() {
    let server = model();
    let agcore = Agcore::talking_to(&server).at_home();
    let call = r#"call write_file {"path": "a.txt", "content": "new\n"}"#;
    let mut editor = Editor::start(&agcore, &[]);
    editor.answers.push("allow_always");
    let session = editor.session(agcore.directory.path());
    editor.prompt(&session, call);
    let question = editor.asked_before();
    let diff = &question["params"]["toolCall"]["content"][0];
    assert_eq!((&diff["type"], &diff["newText"]), (&json!("diff"), &json!("new\n")));
    assert_eq!(editor.leave(), Some(0));
    fs::remove_file(agcore.directory.path().join("a.txt")).unwrap();
    agcore.run(["-p", call]).assert_success();
    assert_eq!(
        fs::read_to_string(agcore.directory.path().join("a.txt")).unwrap(),
        "new\n"
    );
}

#[test]
fn files_are_read_from_the_editor_and_paths_outside_are_refused() {
    let server = model();
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_file("a.txt", "saved\n")
        .with_file(".env", "KEY=1\n");
    let mut editor = Editor::start(&agcore, &[]);
    editor.unsaved = Some("unsaved\n");
    let session = editor.session(agcore.directory.path());
    editor.prompt(&session, r#"call read_file {"path": "a.txt"}"#);
    assert_eq!(answer(&editor), "Result: unsaved\n");
    // The rules of the tools hold before the editor is asked.
    for path in ["../outside.txt", "/etc/passwd", ".env"] {
        let asked = reads(&editor);
        editor.prompt(&session, &format!(r#"call read_file {{"path": "{path}"}}"#));
        assert_eq!(reads(&editor), asked, "{path}");
    }
    // A file that the editor does not have is read from the disk.
    editor.unsaved = None;
    editor.prompt(&session, r#"call read_file {"path": "a.txt"}"#);
    assert!(answer(&editor).ends_with("Result: saved\n"));
    assert_eq!(editor.leave(), Some(0));
}

fn reads(editor: &Editor) -> usize {
    editor
        .seen
        .iter()
        .filter(|message| message["method"] == "fs/read_text_file")
        .count()
}

#[test]
fn modes_and_models_change_and_wrong_ones_are_refused() {
    let server = model();
    let agcore = Agcore::talking_to(&server).at_home();
    let mut editor = Editor::start(&agcore, &["--permission-mode", "plan"]);
    let session = editor.session(agcore.directory.path());
    let call = r#"call write_file {"path": "a.txt", "content": "new\n"}"#;
    editor.prompt(&session, call);
    assert!(answer(&editor).contains("plan mode is on"), "{}", answer(&editor));
    editor.ok(
        "session/set_mode",
        json!({"sessionId": session, "modeId": "acceptEdits"}),
    );
    editor.prompt(&session, call);
    assert!(agcore.directory.path().join("a.txt").exists());
    let change = editor.updates("tool_call_update").pop().unwrap();
    assert_eq!(change["content"][0]["type"], "diff");
    for mode in ["bypassPermissions", "dontAsk", "none"] {
        let answer = editor.call("session/set_mode", json!({"sessionId": session, "modeId": mode}));
        assert_eq!(answer["error"]["code"], -32602, "{mode}: {answer}");
    }
    let wrong = json!({"sessionId": session, "configId": "model", "value": "no-such-model"});
    assert_eq!(editor.call("session/set_config_option", wrong)["error"]["code"], -32602);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn what_an_editor_hands_over_needs_trust() {
    let server = model();
    let agcore = Agcore::talking_to(&server).at_home();
    let marker = agcore.directory.path().join("started");
    let servers = json!([{"name": "evil", "command": "/bin/sh", "args": ["-c", format!("touch '{}'", marker.display())], "env": []}]);
    let params = json!({"cwd": agcore.directory.path(), "mcpServers": servers});
    let mut editor = Editor::start(&agcore, &[]);
    editor.ok("session/new", params.clone());
    let notices = loop {
        let notices = editor.updates("notice");
        if !notices.is_empty() {
            break notices;
        }
        editor.ok("session/list", json!({}));
    };
    let text = notices[0]["title"].as_str().unwrap();
    assert!(text.contains("evil") && text.contains("agcore trust"), "{text}");
    assert_eq!(editor.leave(), Some(0));
    assert!(!marker.exists());
    let mut editor = Editor::start(&agcore, &["--trust-folder"]);
    editor.ok("session/new", params);
    assert_eq!(editor.leave(), Some(0));
    assert!(marker.exists());
}

#[test]
fn what_cannot_be_used_is_explained() {
    let server = model();
    let agcore = Agcore::talking_to(&server).at_home();
    let mut editor = Editor::start(&agcore, &[]);
    let open = |folder: &str| json!({"cwd": folder, "mcpServers": []});
    let missing = editor.call("session/new", open("/no/such/folder"));
    assert_eq!(missing["error"]["code"], -32602);
    assert!(
        missing["error"]["message"]
            .as_str()
            .unwrap()
            .contains("/no/such/folder"),
        "{missing}"
    );
    let load = json!({"sessionId": "none", "cwd": agcore.directory.path(), "mcpServers": []});
    assert_eq!(editor.call("session/load", load)["error"]["code"], -32002);
    let session = editor.session(agcore.directory.path());
    let other = editor.call("session/new", open("/tmp"));
    assert!(
        other["error"]["message"]
            .as_str()
            .unwrap()
            .contains("start another `agcore acp`"),
        "{other}"
    );
    editor.ok("session/close", json!({"sessionId": session}));
    editor.ok("session/new", open("/tmp"));
    assert_eq!(
        editor.call("session/list", json!({"cursor": "x"}))["error"]["code"],
        -32602
    );
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_missing_key_is_explained_and_never_taken() {
    let agcore = Agcore::new().at_home();
    let mut editor = Editor::start(&agcore, &[]);
    let opened = editor.call("session/new", json!({"cwd": agcore.directory.path(), "mcpServers": []}));
    let message = opened["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        opened["error"]["code"] == -32000 || opened["error"]["code"] == -32602,
        "{opened}"
    );
    let signed_in = editor.call("authenticate", json!({"methodId": "agcore-keys"}));
    assert!(signed_in.get("error").is_some(), "{signed_in}");
    assert!(message.contains("agcore"), "{message}");
    assert_eq!(editor.leave(), Some(0));
}

//! `[hooks]`: commands before and after tools, messages and turns.

use std::fs;

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};

#[cfg(feature = "sqlite")]
use crate::serve::{Serving, input};
use crate::{
    person::Person,
    support::{Agcore, Server},
};

/// Saves a note, and answers with the result.
fn notes() -> Server {
    Server::start(MockOptions::new(), |request: &RecordedRequest| {
        let json = request.json();
        match json["messages"].as_array().unwrap().last().unwrap() {
            last if last["role"] == "tool" => Reply::text(last["content"].as_str().unwrap()),
            _ => Reply::tool_calls([ToolCall::new("save_note", &json!({"text": "milk"}))]),
        }
    })
}

fn with_hooks(server: &Server, hooks: &str) -> Agcore {
    Agcore::talking_to(server).at_home().with_user_settings(hooks)
}

#[test]
fn exit_code_2_blocks_a_call_and_the_model_receives_the_reason() {
    let server = notes();
    let agcore = with_hooks(
        &server,
        "[[hooks.PreToolUse]]\nmatcher = 'save_.*'\ncommand = \"cat > seen.json; echo 'no notes today' >&2; exit 2\"\n",
    );
    let ran = agcore.run(["-p", "note it", "--yes"]);
    let answer = ran.assert_success();
    assert!(answer.contains("save_note was not run: no notes today"), "{answer}");
    let seen = fs::read_to_string(agcore.directory.path().join("seen.json")).unwrap();
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(
        (&seen["hook_event_name"], &seen["tool_name"]),
        (&json!("PreToolUse"), &json!("save_note"))
    );
    assert_eq!(
        (&seen["tool_input"]["text"], &seen["permission_mode"]),
        (&json!("milk"), &json!("bypassPermissions"))
    );
    assert_eq!(seen["session_id"].as_str().map(str::len), Some(36));
    assert!(!agcore.directory.path().join("agcore-notes.md").exists());
}

#[cfg(feature = "sqlite")]
#[test]
fn evaluations_and_servers_name_the_session() {
    const SUITE: &str =
        "name = 's'\n[[cases]]\nname = 'c'\ninput = 'Hi'\nreplies = [{ text = 'Hi.' }]\nexpect.answer.equals = 'Hi.'\n";
    let server = notes();
    // A file that a command names is compared with what it was when the program started.
    let agcore = with_hooks(
        &server,
        "[[hooks.UserPromptSubmit]]\ncommand = 'f=prompt; cat > $f.json'\n\
         [[hooks.PreToolUse]]\ncommand = 'f=call; cat > $f.json'\n",
    );
    let session = |file: &str| {
        let seen = fs::read_to_string(agcore.directory.path().join(file)).unwrap();
        let seen: Value = serde_json::from_str(&seen).unwrap();
        seen["session_id"].as_str().map(str::to_owned)
    };
    fs::write(agcore.directory.path().join("suite.toml"), SUITE).unwrap();
    agcore.run(["eval", "suite.toml"]).assert_success();
    assert!(session("prompt.json").is_some_and(|id| !id.is_empty()));

    let serving = Serving::start(&agcore, &[]);
    for thread in ["thread-1", "thread-2"] {
        let answer = serving.ask("POST", "/api/v1/agent/run", "", &input(thread, "note it"));
        assert!(answer.contains("RUN_FINISHED"), "{answer}");
        assert_eq!(session("prompt.json").as_deref(), Some(thread));
        assert_eq!(session("call.json").as_deref(), Some(thread));
    }
}

#[test]
fn a_prompt_can_be_blocked_and_a_result_extended() {
    let server = notes();
    let agcore = with_hooks(
        &server,
        "[[hooks.UserPromptSubmit]]\ncommand = \"grep -q secret && echo 'no secrets' >&2 && exit 2; exit 0\"\n\
         [[hooks.PostToolUse]]\ncommand = \"echo 'run the tests' >&2; exit 2\"\n\
         [[hooks.Stop]]\ncommand = 'cat > stopped.json'\n",
    );
    agcore
        .run(["-p", "a secret", "--yes"])
        .assert_failed(1, &["no secrets"]);
    assert!(server.requests().is_empty());
    let ran = agcore.run(["-p", "note it", "--yes"]);
    let answer = ran.assert_success();
    assert!(
        answer.contains("Saved") && answer.ends_with("run the tests\n"),
        "{answer}"
    );
    let stopped = fs::read_to_string(agcore.directory.path().join("stopped.json")).unwrap();
    assert!(stopped.contains("\"hook_event_name\":\"Stop\""), "{stopped}");
}

#[test]
fn other_exit_codes_are_warnings() {
    let server = notes();
    let agcore = with_hooks(&server, "[[hooks.PreToolUse]]\ncommand = 'echo oops >&2; exit 1'\n");
    let ran = agcore.run(["-p", "note it", "--yes"]);
    assert!(ran.assert_success().contains("Saved"), "{}", ran.stdout);
    let warning = "warning: the PreToolUse hook `echo oops >&2; exit 1` ended with exit code 1: oops";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    let agcore = with_hooks(&server, "[[hooks.PreToolUse]]\nmatcher = '('\ncommand = 'true'\n");
    agcore.run(["-p", "note it"]).assert_failed(
        2,
        &["the matcher `(` in [hooks] is not a regular expression: unclosed group"],
    );
    let agcore = with_hooks(&server, "[[hooks.PreTool]]\ncommand = 'true'\n");
    agcore
        .run(["-p", "note it"])
        .assert_failed(2, &["unknown setting `PreTool` in [hooks]"]);
}

#[test]
fn hooks_of_a_folder_need_trust() {
    let server = notes();
    let hooks = "[[hooks.PreToolUse]]\nmatcher = 'save_note'\ncommand = 'touch ran; exit 2'\n";
    let agcore = Agcore::talking_to(&server).at_home().with_file("agcore.toml", hooks);
    let ran = agcore.run(["-p", "note it", "--yes"]);
    assert!(ran.assert_success().contains("Saved"), "{}", ran.stdout);
    assert!(
        ran.stderr
            .contains("agcore.toml (hooks) is ignored, because this folder is not trusted"),
        "{}",
        ran.stderr
    );
    assert!(!agcore.directory.path().join("ran").exists());
    // The question shows what would run.
    agcore
        .run(["trust"])
        .assert_failed(2, &["hooks = PreToolUse for save_note: `touch ran; exit 2`"]);
    agcore.run(["trust", "--yes"]).assert_success();
    let ran = agcore.run(["-p", "note it", "--yes"]);
    assert!(ran.assert_success().contains("save_note was not run"), "{}", ran.stdout);
    assert!(agcore.directory.path().join("ran").exists());
}

#[test]
fn a_chat_lists_its_hooks() {
    let server = notes();
    let agcore = with_hooks(
        &server,
        "[[hooks.PreToolUse]]\nmatcher = 'save_note'\ncommand = 'exit 3'\n",
    );
    let mut person = Person::chatting(agcore, &["--yes"]);
    person.types("/hooks");
    person.sees("PreToolUse for ");
    person.sees("exit 3");
    person.next();
    person.types("note it");
    person.sees("Saved");
    person.sees("the PreToolUse hook `exit 3` ended with exit code 3");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

//! `--suspend` and `agcore approvals`: answers from another process.

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};

use crate::support::{Agcore, Server};

fn approvals(agcore: &Agcore, arguments: &[&str]) -> Vec<Value> {
    let ran = agcore.run([&["approvals", "list", "--json"], arguments].concat());
    let list: Value = serde_json::from_str(ran.assert_success()).unwrap();
    list["approvals"].as_array().unwrap().clone()
}

/// Starts a run that calls `save_note`, and returns its session and the question.
fn suspended(agcore: &Agcore) -> (String, Value) {
    let ran = agcore.run(["-p", "save it", "--suspend", "--output-format", "stream-json"]);
    assert_eq!(ran.code(), Some(8), "{}\n{}", ran.stdout, ran.stderr);
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let result = lines.last().unwrap();
    assert_eq!(result["type"], "result");
    assert_eq!(
        (&result["status"], &result["exit_code"]),
        (&"suspended".into(), &8.into())
    );
    assert!(lines.iter().any(|line| line["type"] == "approval_request"));
    assert!(!lines.iter().any(|line| line["type"] == "approval_resolved"));
    let mut open = approvals(agcore, &[]);
    assert_eq!(open.len(), 1);
    assert!(agcore.files().is_empty());
    (result["session_id"].as_str().unwrap().to_owned(), open.remove(0))
}

#[test]
fn an_allowed_call_runs_after_the_answer_and_only_once() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let (session, question) = suspended(&agcore);
    assert_eq!(question["tool"], "save_note");
    assert_eq!(question["session_id"], session);
    assert!(question["arguments"]["text"].as_str().unwrap().starts_with("save it"));
    let id = question["id"].as_str().unwrap();

    // Without an answer, the turn still waits.
    let ran = agcore.run(["-p", "--resume", &session]);
    ran.assert_failed(8, &["none was given yet", id]);

    let allowed = agcore.run(["approvals", "allow", &id[..6]]);
    assert!(
        allowed.assert_success().contains("save_note {\"text\""),
        "{}",
        allowed.stdout
    );
    assert!(
        allowed.stdout.contains("To continue the session: "),
        "{}",
        allowed.stdout
    );
    agcore.run(["approvals", "allow", id]).assert_success();
    let ran = agcore.run(["approvals", "deny", id]);
    ran.assert_failed(1, &[id, "it was allowed already at ", "which cannot be changed"]);
    assert!(approvals(&agcore, &[]).is_empty());
    assert_eq!(approvals(&agcore, &["--all"])[0]["status"], "answered");

    let ran = agcore.run(["-p", "--resume", &session]);
    assert!(
        ran.assert_success().contains("Saved to agcore-notes.md."),
        "{}",
        ran.stdout
    );
    assert_eq!(agcore.files(), ["agcore-notes.md"]);
    assert_eq!(
        server.requests().len(),
        2,
        "the reply with the call was requested again"
    );
    // The turn has ended: there is nothing left to continue.
    let again = agcore.run(["approvals", "allow", id]);
    assert!(!again.assert_success().contains("To continue"), "{}", again.stdout);
    agcore
        .run(["-p", "--resume", &session])
        .assert_failed(2, &["the message is empty"]);
}

#[test]
fn a_denied_call_does_not_run_and_the_model_learns_why() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let (session, question) = suspended(&agcore);
    let id = question["id"].as_str().unwrap();
    agcore
        .run(["approvals", "deny", id, "--reason", "Use paper."])
        .assert_success();
    let ran = agcore.run(["-p", "--resume", &session]);
    assert!(ran.assert_success().contains("Use paper."), "{}", ran.stdout);
    assert!(agcore.files().is_empty());
}

#[test]
fn a_new_message_does_not_withdraw_the_questions() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let (session, question) = suspended(&agcore);
    let id = question["id"].as_str().unwrap();
    let before = server.requests().len();
    agcore.run(["-p", "hello", "--resume", &session]).assert_failed(
        8,
        &["the message was not sent", id, "agcore approvals allow ID", "--fork"],
    );
    assert_eq!(server.requests().len(), before);
    assert_eq!(approvals(&agcore, &[]).len(), 1);
    // A copy takes it.
    agcore
        .run(["-p", "hello", "--resume", &session, "--fork"])
        .assert_success();
    agcore.run(["approvals", "allow", id]).assert_success();
    agcore.run(["-p", "--resume", &session]).assert_success();
    assert!(approvals(&agcore, &[]).is_empty());
}

#[test]
fn invalid_uses_are_reported() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    assert_eq!(
        agcore.run(["approvals", "list"]).assert_success(),
        "Nothing waits for approval.\n"
    );
    agcore
        .run(["approvals", "allow", "abc"])
        .assert_failed(2, &["there is no question whose ID begins with `abc`"]);
    assert_eq!(agcore.run(["-p", "x", "--suspend", "--yes"]).code(), Some(2));
    assert_eq!(agcore.run(["-p", "x", "--suspend", "--ephemeral"]).code(), Some(2));
    // Without a database, the question could not be answered.
    Agcore::talking_to(&server)
        .run(["-p", "x", "--suspend"])
        .assert_failed(2, &["set HOME or XDG_STATE_HOME"]);
}

#[test]
fn the_list_shows_what_an_edit_would_change() {
    let server = Server::start(MockOptions::new(), |_: &RecordedRequest| {
        let arguments = json!({"path": "a.txt", "old": "two", "new": "2"});
        Reply::tool_calls([ToolCall::new("edit_file", &arguments)])
    });
    let agcore = Agcore::talking_to(&server).at_home().with_file("a.txt", "one\ntwo\n");
    assert_eq!(agcore.run(["-p", "go", "--suspend"]).code(), Some(8));
    let list = || agcore.run(["approvals", "list"]);
    let change = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    let shown: String = change.lines().map(|line| format!("  {line}\n")).collect();
    let ran = list();
    assert!(
        ran.assert_success().contains("edit_file {") && ran.stdout.ends_with(&shown),
        "{}",
        ran.stdout
    );
    assert_eq!(approvals(&agcore, &[])[0]["change"], change);
    // The file has changed, and the call would fail.
    std::fs::write(agcore.directory.path().join("a.txt"), "one\n").unwrap();
    let ran = list();
    assert!(!ran.assert_success().contains("+++"), "{}", ran.stdout);
    assert_eq!(approvals(&agcore, &[])[0]["change"], Value::Null);
}

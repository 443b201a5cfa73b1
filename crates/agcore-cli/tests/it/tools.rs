//! The tools of a chat without a person.

use crate::support::{Agcore, Server};

#[test]
fn a_tool_runs_and_is_shown() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "some arithmetic"]);
    assert!(ran.assert_done().contains("**arithmetic** says: 2"));
    assert!(
        ran.stderr.contains("● arithmetic {\"operation\":\"add\"") && ran.stderr.contains("✓ arithmetic "),
        "{}",
        ran.stderr
    );
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn nobody_can_be_asked_and_so_the_answer_is_no() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "save it"]);
    ran.assert_done();
    assert!(ran.stderr.contains("✗ save_note"), "{}", ran.stderr);
    assert!(agcore.files().is_empty(), "{:?}", agcore.files());
}

#[test]
fn yes_was_said_beforehand() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    agcore.run(["chat", "--yes", "save it"]).assert_done();
    assert_eq!(agcore.files(), ["agcore-notes.md"]);
    let notes = std::fs::read_to_string(agcore.folder.path().join("agcore-notes.md")).unwrap();
    assert_eq!(notes, "- save it\n");
}

#[test]
fn no_tools_are_offered() {
    let server = Server::playground();
    Agcore::talking_to(&server)
        .run(["chat", "--no-tools", "some arithmetic"])
        .assert_done();
    assert_eq!(server.requests()[0].json().get("tools"), None);
}

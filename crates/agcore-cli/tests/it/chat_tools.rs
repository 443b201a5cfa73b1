//! Tools in a chat without a terminal.

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
    ran.assert_success();
    assert!(ran.stderr.contains("✗ save_note"), "{}", ran.stderr);
    assert!(agcore.files().is_empty(), "{:?}", agcore.files());
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

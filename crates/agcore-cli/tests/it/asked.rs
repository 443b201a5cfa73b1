//! What a person is asked about tools, and how long the answers hold.

use std::fs;

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

const SAVED: &str = "says: Saved to agcore-notes.md.";
const GRANTS: &str = ".agcore-grants.json";

#[test]
fn always_is_remembered_across_starts() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("a");
    person.sees(SAVED);
    person.sees("save_note is allowed from now on: .agcore-grants.json.");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);
    assert_eq!(agcore.files(), [GRANTS, "agcore-notes.md"]);
    let granted: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(agcore.folder.path().join(GRANTS)).unwrap()).unwrap();
    assert_eq!(
        granted,
        serde_json::json!({"version": 1, "grants": [{"tool": "save_note"}]})
    );

    let mut person = Person::chatting(agcore, &[]);
    person.types("save it again");
    let shown = person.sees(SAVED);
    assert!(!shown.contains("wants to run"), "{shown}");
    person.next();
    person.types("/tools");
    person.sees("allowed: you said always, see .agcore-grants.json");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);

    // Without the file, or with another, it is asked again.
    let mut person = Person::chatting(agcore, &["--grants", "other.json"]);
    person.types("save it once more");
    person.sees(QUESTION);
    person.types("n");
    person.next();
    person.types("/exit");
    person.leaves_with(0);
}

#[test]
fn the_list_in_a_chat_follows_the_answers() {
    let server = Server::playground();
    let rules = "[permissions]\nask = ['read_notes']\ndeny = ['current_time']\n";
    let mut person = Person::chatting(Agcore::talking_to(&server).with_file("agcore.toml", rules), &[]);
    person.types("/tools");
    person.sees("arithmetic: Computes with two numbers.\r\n  allowed: all that it needs is allowed");
    person.sees("  denied: agcore.toml:3:9: deny current_time");
    person.sees("  asked: agcore.toml:2:8: ask read_notes");
    person.sees("  asked: default for write: ask save_note");
    person.next();
    person.types("save it");
    person.sees(QUESTION);
    person.types("s");
    person.sees(SAVED);
    person.next();
    person.types("/tools");
    person.sees("allowed: you said so for this session");
    person.next();
    person.types("/exit");
    assert_eq!(person.leaves_with(0).files(), ["agcore-notes.md", "agcore.toml"]);
}

#[test]
fn what_a_rule_denies_is_not_asked() {
    let server = Server::playground();
    let rules = "[permissions]\ndeny = ['save_*']\n";
    let mut person = Person::chatting(Agcore::talking_to(&server).with_file("agcore.toml", rules), &[]);
    person.types("save it");
    let shown = person.sees("permission denied: this call of save_note is not allowed here");
    assert!(!shown.contains("wants to run"), "{shown}");
    person.next();
    person.types("/exit");
    assert_eq!(person.leaves_with(0).files(), ["agcore.toml"]);
}

#[test]
fn always_that_cannot_be_kept_is_told() {
    let server = Server::playground();
    let mut person = Person::at(&server, &["--grants", "gone/grants.json"]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("a");
    person.sees(SAVED);
    person.sees("save_note is allowed in this session only: gone/grants.json cannot be written: ");
    person.next();
    person.types("save it again");
    let shown = person.sees(SAVED);
    assert!(!shown.contains("wants to run"), "{shown}");
    person.next();
    person.types("/exit");
    person.leaves_with(0);
}

#[test]
fn a_call_asks_at_the_terminal() {
    let call = ["tools", "call", "save_note", r#"{"text": "milk"}"#];
    let run = |agcore: Agcore, answers: &[&str]| {
        let mut person = Person::running(agcore, &call);
        person.sees("? save_note wants to run with {\"text\":\"milk\"}");
        for answer in answers {
            person.sees(QUESTION);
            person.types(answer);
        }
        person
    };
    let mut person = run(Agcore::new(), &["perhaps", "n"]);
    person.sees("error: save_note was denied: you said no");
    let agcore = person.leaves_with(1);
    assert!(agcore.files().is_empty());

    let mut person = run(agcore, &[]);
    person.sees(QUESTION);
    person.presses('c');
    person.sees("error: cancelled");
    let agcore = person.leaves_with(130);
    assert!(agcore.files().is_empty());

    let mut person = run(agcore, &[]);
    person.sees(QUESTION);
    person.presses('d');
    person.sees("error: save_note was denied: you said no");
    let agcore = person.leaves_with(1);
    assert!(agcore.files().is_empty());

    let mut person = run(agcore, &["a"]);
    person.sees("save_note is allowed from now on: .agcore-grants.json.");
    person.sees("Saved to agcore-notes.md.");
    let agcore = person.leaves_with(0);

    let mut person = Person::running(agcore, &call);
    let shown = person.sees("Saved to agcore-notes.md.");
    assert!(!shown.contains("wants to run"), "{shown}");
    assert_eq!(person.leaves_with(0).files(), [GRANTS, "agcore-notes.md"]);
}

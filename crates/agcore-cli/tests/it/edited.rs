//! Arguments that a person changes before a tool runs.

use std::fs;

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

/// Ctrl-U: nothing is left of the line.
const EMPTY: char = 'u';

fn note(agcore: &Agcore) -> String {
    fs::read_to_string(agcore.folder.path().join("agcore-notes.md")).unwrap()
}

#[test]
fn what_a_person_changes_is_what_runs() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("e");
    // The arguments stand there; the end of them is changed.
    person.sees("arguments: {\"text\":\"save it\"}");
    person.session.send("\u{7f}\u{7f} 中文\"}").unwrap();
    person.types("");
    let card = person.sees("Saved to agcore-notes.md.");
    assert!(card.contains("✓ save_note {\"text\":\"save it 中文\"}"), "{card}");
    person.next();
    assert_eq!(note(&person.agcore), "- save it 中文\n");
    let results = server.requests().pop().unwrap();
    assert!(!results.json().to_string().contains("The user said no"));
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn what_does_not_fit_is_told_and_stands_there_again() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("edit");
    person.sees("arguments: {\"text\":\"save it\"}");
    person.presses(EMPTY);
    person.types("{\"text\": ");
    person.sees("not valid JSON");
    person.sees("arguments: {\"text\": ");
    person.presses(EMPTY);
    person.types("{\"words\": \"x\"}");
    person.sees("✗ ");
    person.sees("arguments: {\"words\"");
    // Giving up leads back to the question.
    person.presses('c');
    person.sees(QUESTION);
    person.types("n");
    person.sees("The user said no.");
    person.next();
    assert!(person.agcore.files().is_empty());
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_call_by_hand_can_be_changed() {
    let call = ["tools", "call", "save_note", r#"{"text": "milk"}"#];
    let mut person = Person::running(Agcore::new(), &call);
    person.sees(QUESTION);
    person.types("e");
    person.sees("arguments: {\"text\":\"milk\"}");
    person.presses(EMPTY);
    person.types("{\"text\": \"bread\"}");
    person.sees("Saved to agcore-notes.md.");
    assert_eq!(note(&person.leaves_with(0)), "- bread\n");
}

//! Arguments that the user edits before a tool runs.

use std::fs;

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

/// Ctrl-U deletes the whole line.
const DELETE_LINE: char = 'u';

fn note(agcore: &Agcore) -> String {
    fs::read_to_string(agcore.directory.path().join("agcore-notes.md")).unwrap()
}

#[test]
fn runs_the_edited_arguments() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("e");
    // Replaces the end of the arguments in the editor.
    person.sees("arguments: {\"text\":\"save it\"}");
    person.session.send("\u{7f}\u{7f} 中文\"}").unwrap();
    person.types("");
    let card = person.sees("Saved to agcore-notes.md.");
    assert!(card.contains("✓ save_note {\"text\":\"save it 中文\"}"), "{card}");
    person.next();
    assert_eq!(note(&person.agcore), "- save it 中文\n");
    let results = server.requests().pop().unwrap();
    assert!(!results.json().to_string().contains("The user answered no"));
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn reports_invalid_arguments_and_edits_them_again() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("edit");
    person.sees("arguments: {\"text\":\"save it\"}");
    person.presses(DELETE_LINE);
    person.types("{\"text\": ");
    person.sees("not valid JSON");
    person.sees("arguments: {\"text\": ");
    person.presses(DELETE_LINE);
    person.types("{\"words\": \"x\"}");
    person.sees("✗ ");
    person.sees("arguments: {\"words\"");
    // Giving up leads back to the question.
    person.presses('c');
    person.sees(QUESTION);
    person.types("n");
    person.sees("The user answered no.");
    person.next();
    assert!(person.agcore.files().is_empty());
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn tools_call_can_edit_arguments() {
    let call = ["tools", "call", "save_note", r#"{"text": "milk"}"#];
    let mut person = Person::running(Agcore::new(), &call);
    person.sees(QUESTION);
    person.types("e");
    person.sees("arguments: {\"text\":\"milk\"}");
    person.presses(DELETE_LINE);
    person.types("{\"text\": \"bread\"}");
    person.sees("Saved to agcore-notes.md.");
    assert_eq!(note(&person.leaves_with(0)), "- bread\n");
}

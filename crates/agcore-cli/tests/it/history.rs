//! Multi-line input, and the history that is kept for the next chat.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use tempfile::TempDir;

use crate::{
    person::Person,
    support::{Agcore, Server},
};

const UP: &str = "\u{1b}[A";

/// Returns a state directory, the program that uses it, and the path of the history file.
fn with_history(server: &Server) -> (TempDir, Agcore, PathBuf) {
    let state = tempfile::tempdir().unwrap();
    let agcore = Agcore::talking_to(server).with("XDG_STATE_HOME", state.path().to_str().unwrap());
    let file = state.path().join("agcore").join("history");
    (state, agcore, file)
}

#[test]
fn the_next_chat_has_the_history() {
    let server = Server::playground();
    let (_state, agcore, file) = with_history(&server);
    let mut person = Person::chatting(agcore, &[]);
    person.types("你好 from the first");
    person.sees("messages in this request");
    person.next();
    person.presses('d');
    let agcore = person.leaves_with(0);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&file.parent().unwrap().to_owned()), 0o700);

    let mut person = Person::chatting(agcore, &[]);
    person.session.send(UP).unwrap();
    person.session.flush().unwrap();
    person.sees("你好 from the first");
    person.types(" and the second");
    person.sees("│ 你好 from the first and the second");
    person.next();
    person.presses('d');
    person.leaves_with(0);
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(kept, "#V2\n你好 from the first\n你好 from the first and the second\n");
}

#[test]
fn a_chat_that_keeps_nothing_has_no_history() {
    let server = Server::playground();
    let (state, agcore, _) = with_history(&server);
    let mut person = Person::chatting(agcore, &["--ephemeral"]);
    person.types("a secret");
    person.sees("messages in this request");
    person.next();
    person.presses('d');
    person.leaves_with(0);
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
}

#[test]
fn saves_nothing_if_disabled_and_never_saves_answers() {
    let server = Server::playground();
    let (_state, agcore, file) = with_history(&server);
    let mut person = Person::chatting(agcore.with("AGCORE_HISTORY", "off"), &[]);
    person.types("a secret");
    person.sees("messages in this request");
    person.next();
    person.presses('d');
    let agcore = person.leaves_with(0);
    assert!(!file.exists());

    let mut person = Person::chatting(agcore.with("AGCORE_HISTORY", "on"), &[]);
    person.types("save it");
    person.sees(crate::person::QUESTION);
    person.types("n");
    person.next();
    person.presses('d');
    person.leaves_with(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "#V2\nsave it\n");
}

#[test]
fn reports_an_unreadable_history_and_leaves_it_unchanged() {
    let server = Server::playground();
    let (_state, agcore, file) = with_history(&server);
    fs::create_dir_all(&file).unwrap();
    let mut person = Person::running(agcore, &["chat"]);
    person.sees("The history is not saved: ");
    person.next();
    person.types("hello");
    person.sees("messages in this request");
    person.next();
    person.presses('d');
    person.leaves_with(0);
    assert!(file.is_dir());
}

#[test]
fn a_message_can_have_several_lines() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    // A trailing backslash and Enter; Alt-Enter; Enter.
    person.session.send("one\\\r").unwrap();
    person.session.send("two\u{1b}\r").unwrap();
    person.session.send("three\r").unwrap();
    person.session.flush().unwrap();
    person.sees("messages in this request: 2");
    person.next();
    let sent = |server: &Server| server.requests().pop().unwrap().prompt().last_user().to_owned();
    assert!(sent(&server).ends_with("one\ntwo\nthree"), "{:?}", sent(&server));

    // Pasted text is one message and keeps its backslashes.
    person.session.send("\u{1b}[200~a \\\rb\u{1b}[201~\r").unwrap();
    person.session.flush().unwrap();
    person.sees("messages in this request: 4");
    person.next();
    assert!(sent(&server).ends_with("a \\\nb"), "{:?}", sent(&server));
    person.presses('d');
    person.leaves_with(0);
}

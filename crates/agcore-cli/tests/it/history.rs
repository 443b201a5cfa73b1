//! What is typed: several lines, and what is kept for the next chat.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use tempfile::TempDir;

use crate::{
    person::Person,
    support::{Agcore, Server},
};

const UP: &str = "\u{1b}[A";

/// A folder for what is kept, and the program that keeps it there.
fn keeping(server: &Server) -> (TempDir, Agcore, PathBuf) {
    let state = tempfile::tempdir().unwrap();
    let agcore = Agcore::talking_to(server).with("XDG_STATE_HOME", state.path().to_str().unwrap());
    let file = state.path().join("agcore").join("history");
    (state, agcore, file)
}

#[test]
fn the_next_chat_knows_what_was_typed() {
    let server = Server::playground();
    let (_state, agcore, file) = keeping(&server);
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
fn nothing_is_kept_where_it_is_not_wanted_and_answers_never_are() {
    let server = Server::playground();
    let (_state, agcore, file) = keeping(&server);
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
fn a_history_that_cannot_be_read_is_told_and_left_alone() {
    let server = Server::playground();
    let (_state, agcore, file) = keeping(&server);
    fs::create_dir_all(&file).unwrap();
    let mut person = Person::running(agcore, &["chat"]);
    person.sees("What is typed is not kept for the next chat: ");
    person.next();
    person.types("hello");
    person.sees("messages in this request");
    person.next();
    person.presses('d');
    person.leaves_with(0);
    assert!(file.is_dir());
}

#[test]
fn a_message_may_have_several_lines() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    // A backslash at the end, Alt-Enter, Enter.
    person.session.send("one\\\r").unwrap();
    person.session.send("two\u{1b}\r").unwrap();
    person.session.send("three\r").unwrap();
    person.session.flush().unwrap();
    person.sees("messages in this request: 2");
    person.next();
    let said = |server: &Server| server.requests().pop().unwrap().prompt().last_user().to_owned();
    assert!(said(&server).ends_with("one\ntwo\nthree"), "{:?}", said(&server));

    // What is pasted is one message, and keeps its backslashes.
    person.session.send("\u{1b}[200~a \\\rb\u{1b}[201~\r").unwrap();
    person.session.flush().unwrap();
    person.sees("messages in this request: 4");
    person.next();
    assert!(said(&server).ends_with("a \\\nb"), "{:?}", said(&server));
    person.presses('d');
    person.leaves_with(0);
}

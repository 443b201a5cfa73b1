//! `!command` in a chat.

use crate::{person::Person, support::Server};

/// The model would call the tools whose names occur in a message.
const NO_TOOLS: &[&str] = &["--no-tools"];

fn last_user(server: &Server) -> String {
    server.requests().pop().unwrap().prompt().last_user().to_owned()
}

#[test]
fn the_output_goes_with_the_next_message_only() {
    let server = Server::playground();
    let mut person = Person::at(&server, NO_TOOLS);
    person.types("!echo out; echo err >&2; exit 3");
    person.sees("out\r\nerr\r\n");
    person.sees("exit code 3; the output (2 lines, 8 B) goes with your next message.");
    person.next();
    assert!(server.requests().is_empty());
    person.types("what happened?");
    person.sees("messages in this request: 2");
    person.next();
    assert_eq!(
        last_user(&server),
        "<shell command=\"echo out; echo err >&2; exit 3\" result=\"exit code 3\">\nout\nerr\n</shell>\n\nwhat happened?"
    );
    person.types("and now?");
    person.sees("messages in this request: 4");
    person.next();
    assert_eq!(last_user(&server), "and now?");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn ctrl_c_ends_the_command_and_not_the_chat() {
    let server = Server::playground();
    let mut person = Person::at(&server, NO_TOOLS);
    person.types("!echo started; sleep 1000");
    person.sees("started\r\n");
    person.presses('c');
    let shown = person.sees("interrupted; the output (1 line, 8 B) goes with");
    assert!(!shown.contains("^C"), "{shown}");
    person.next();
    person.types("/clear");
    person.next();
    person.types("hello");
    person.sees("messages in this request: 2");
    person.next();
    assert_eq!(last_user(&server), "hello");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_long_output_is_cut_in_the_middle() {
    let server = Server::playground();
    let mut person = Person::at(&server, NO_TOOLS);
    person.types("!i=0; while [ $i -lt 9000 ]; do i=$((i+1)); echo \"number $i\"; done");
    person.sees("number 9000\r\n");
    person.sees("goes with your next message.");
    person.next();
    person.types("thanks");
    person.sees("messages in this request");
    person.next();
    let sent = last_user(&server);
    assert!(sent.contains("number 1\n") && sent.contains("number 9000\n") && sent.contains("bytes left out"));
    assert!(sent.len() < 40_000, "{}", sent.len());
    person.presses('d');
    person.leaves_with(0);
}

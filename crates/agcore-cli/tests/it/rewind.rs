//! `/rewind`, which goes back to an earlier message.

use std::fs;

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::json;

use crate::{
    person::Person,
    support::{Agcore, Server},
};

const ESCAPE: &str = "\u{1b}";

/// Writes what the message asks for: `write NAME TEXT`.
fn writer() -> Server {
    Server::start(MockOptions::new(), |request: &RecordedRequest| {
        let prompt = request.prompt();
        let json = request.json();
        let is_result = json["messages"].as_array().unwrap().last().unwrap()["role"] == "tool";
        let words: Vec<&str> = prompt.last_user().split(' ').collect();
        match words.as_slice() {
            ["write", path, content] if !is_result => {
                Reply::tool_calls([ToolCall::new("write_file", &json!({"path": path, "content": content}))])
            }
            _ => Reply::text(format!("Answer {}.", json["messages"].as_array().unwrap().len())),
        }
    })
}

fn read(person: &Person, name: &str) -> Option<String> {
    fs::read_to_string(person.agcore.directory.path().join(name)).ok()
}

/// Sends messages, and waits for the answers.
fn sends(person: &mut Person, messages: &[&str]) {
    for message in messages {
        person.types(message);
        person.sees("Answer ");
        person.next();
    }
}

#[test]
fn escape_twice_goes_back_with_the_files() {
    let server = writer();
    let agcore = Agcore::talking_to(&server).with_file("a.txt", "zero");
    let mut person = Person::chatting(agcore, &["--yes"]);
    sends(
        &mut person,
        &["hello", "write a.txt one", "write a.txt two", "write new.txt three"],
    );
    person.keys(ESCAPE);
    person.sees("press Esc again, or type /rewind.");
    person.next();
    person.keys(ESCAPE);
    person.sees(" 1  hello\r\n 2  write a.txt one\r\n 3  write a.txt two\r\n 4  write new.txt three\r\n");
    person.sees("Go back to before which message? [1-4, Enter for none]: ");
    person.types("9");
    person.sees("[1-4, Enter for none]: ");
    person.types("2");
    person.sees("Files that tools have changed since: a.txt, new.txt.");
    person.sees("Enter for nothing: ");
    person.types("b");
    person.sees("As before: a.txt, new.txt");
    person.sees("Change the message and press Enter to send it");
    person.next();
    person.sees("write a.txt one");
    assert_eq!(
        (read(&person, "a.txt").as_deref(), read(&person, "new.txt")),
        (Some("zero"), None)
    );
    person.presses('c');
    person.types("again");
    // The instructions, the first message, its answer and this one.
    person.sees("Answer 4.");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn files_that_something_else_has_changed_stay() {
    let server = writer();
    let mut person = Person::chatting(Agcore::talking_to(&server), &["--yes"]);
    sends(&mut person, &["write a.txt one", "write b.txt two"]);
    fs::write(person.agcore.directory.path().join("b.txt"), "mine").unwrap();
    person.types("/rewind");
    person.sees("Enter for none]: ");
    person.types("1");
    person.sees("Enter for nothing: ");
    person.types("f");
    person.sees("As before: a.txt");
    person.sees("b.txt stays as it is: something else has changed it since");
    person.next();
    assert_eq!(
        (read(&person, "a.txt"), read(&person, "b.txt").as_deref()),
        (None, Some("mine"))
    );
    // The conversation is unchanged.
    sends(&mut person, &["more"]);
    assert!(
        server
            .requests()
            .pop()
            .unwrap()
            .json()
            .to_string()
            .contains("write a.txt one")
    );
    person.types("/rewind");
    person.sees("Enter for none]: ");
    person.types("");
    person.sees("The conversation stays as it is.");
    person.next();
    person.types("/clear");
    person.next();
    person.types("/rewind");
    person.sees("the conversation is empty");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn undo_names_the_files_and_changes_none() {
    let server = writer();
    let mut person = Person::chatting(Agcore::talking_to(&server), &["--yes"]);
    sends(&mut person, &["write a.txt one"]);
    person.types("/undo");
    person.sees("What tools did is not reverted.");
    person.sees("Changed files stay as they are: a.txt.");
    person.next();
    assert_eq!(read(&person, "a.txt").as_deref(), Some("one"));
    person.presses('d');
    person.leaves_with(0);
}

//! The slash commands of a chat.

use std::fs;

use agcore_demo::Playground;
use agcore_testkit::mock_server::MockOptions;

use crate::{
    person::Person,
    support::{Agcore, Server},
};

#[test]
fn a_saved_conversation_continues_in_another_process() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("remember 42");
    person.sees("messages in this request: 2");
    person.next();
    person.types("/save my talk.json");
    person.sees("2 messages saved to my talk.json.");
    person.next();
    person.presses('d');
    let agcore = person.leaves_with(0);
    assert_eq!(agcore.files(), ["my talk.json"]);

    let mut person = Person::chatting(agcore, &[]);
    person.types("another conversation");
    person.sees("messages in this request: 2");
    person.next();
    person.types("/load my talk.json");
    person.sees("you: remember 42");
    person.sees("agent:\r\nYou wrote:");
    person.sees("2 messages loaded from my talk.json. The previous conversation was discarded.");
    person.sees("Model: gpt-5-mini");
    person.next();
    person.types("go on");
    person.sees("messages in this request: 4");
    person.next();
    let texts: Vec<String> = server.requests()[2]
        .prompt()
        .turns
        .iter()
        .map(|turn| turn.text.clone())
        .collect();
    assert!(texts.iter().any(|text| text.contains("remember 42")), "{texts:?}");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn saves_markdown_for_people() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("remember 42");
    person.next();
    person.types("/export talk.md");
    person.sees("2 messages saved to talk.md.");
    person.next();
    let text = fs::read_to_string(person.agcore.directory.path().join("talk.md")).unwrap();
    assert!(text.starts_with("## You\n\nremember 42\n\n## Agent\n\n"), "{text}");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn asks_before_overwriting_a_file() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with_file("talk.json", "precious");
    let mut person = Person::chatting(agcore, &[]);
    person.types("/save talk.json");
    person.sees("talk.json already exists.");
    person.sees("Overwrite it? [y]es, [n]o: ");
    person.types("what");
    person.sees("Overwrite it? [y]es, [n]o: ");
    person.types("n");
    person.sees("Nothing was saved.");
    person.next();
    let path = person.agcore.directory.path().join("talk.json");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    person.types("/save talk.json");
    person.sees("Overwrite it? [y]es, [n]o: ");
    person.types("y");
    person.sees("0 messages saved");
    person.next();
    assert!(fs::read_to_string(&path).unwrap().starts_with('{'));
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn invalid_commands_and_files_are_reported() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .with_file("a.json", "{}")
        .with_file("notes.md", "# Notes")
        .with_file("new.json", r#"{"version": 99}"#);
    let mut person = Person::chatting(agcore, &[]);
    person.types("hello");
    person.next();
    for (command, text) in [
        ("/load a.json", "a.json is not a saved conversation"),
        ("/load gone.json", "cannot read gone.json"),
        ("/load", "/load needs an argument"),
        ("/save gone/a.json", "cannot write gone/a.json: there is no folder gone"),
        ("/modle x", "unknown command /modle; did you mean `/model`?"),
        ("/save .", "cannot write .: it is a folder"),
        ("/load notes.md", "notes.md is not a saved conversation: it is not JSON"),
        ("/load new.json", "new.json was saved by a newer version of agcore"),
        ("/clear now", "/clear takes no argument"),
    ] {
        person.types(command);
        person.sees(text);
        person.next();
    }
    person.types("still here");
    person.sees("messages in this request: 4");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn switching_the_model_keeps_the_conversation() {
    let server = Server::playground();
    let mut person = Person::at(&server, &["--model", "first"]);
    person.types("/model");
    person.sees("Model: first\r\n");
    person.next();
    person.types("hello");
    person.next();
    person.types("/model second");
    person.sees("Model set to second. Conversation kept.");
    person.sees("The server does not list `second`. /model shows the list.");
    person.next();
    person.types("hello again");
    person.sees("messages in this request: 4");
    person.next();
    person.types("/model");
    person.sees("Model: second\r\n");
    person.sees("The server lists these;");
    person.sees("mock-model");
    person.next();
    let chats = server
        .requests()
        .into_iter()
        .filter(|request| request.method() == "POST");
    let models: Vec<String> = chats.map(|request| request.json()["model"].to_string()).collect();
    assert_eq!(models, ["\"first\"", "\"second\""]);
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn help_lists_the_commands() {
    let server = Server::start(MockOptions::new(), Playground::new());
    let mut person = Person::at(&server, &[]);
    person.types("/help");
    let help = person.sees("list the keys");
    for name in [
        "/model", "/cost", "/export", "/resume", "/new", "/quit", "@FILE", "//TEXT",
    ] {
        assert!(help.contains(name), "{name}");
    }
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

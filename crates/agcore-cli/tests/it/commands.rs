//! The commands of a chat.

use std::fs;

use agcore_testkit::mock_server::{MockOptions, Playground};

use crate::{
    person::Person,
    support::{Agcore, Server},
};

#[test]
fn a_conversation_goes_on_in_another_process() {
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
    person.types("/load my talk.json");
    person.sees("2 messages loaded from my talk.json.");
    person.next();
    person.types("go on");
    person.sees("messages in this request: 4");
    person.next();
    let said: Vec<String> = server.requests()[1]
        .prompt()
        .turns
        .iter()
        .map(|turn| turn.text.clone())
        .collect();
    assert!(said.iter().any(|text| text.contains("remember 42")), "{said:?}");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_file_is_not_overwritten_without_a_word() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with_file("talk.json", "precious");
    let mut person = Person::chatting(agcore, &[]);
    person.types("/save talk.json");
    person.sees("? talk.json is there already");
    person.sees("overwrite it? [y]es, [n]o: ");
    person.types("what");
    person.sees("overwrite it? [y]es, [n]o: ");
    person.types("n");
    person.sees("Nothing was saved.");
    person.next();
    let path = person.agcore.folder.path().join("talk.json");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    person.types("/save talk.json");
    person.sees("overwrite it? [y]es, [n]o: ");
    person.types("y");
    person.sees("0 messages saved");
    person.next();
    assert!(fs::read_to_string(&path).unwrap().starts_with('{'));
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn what_is_no_conversation_is_not_loaded() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with_file("a.json", "{}");
    let mut person = Person::chatting(agcore, &[]);
    person.types("hello");
    person.next();
    for (command, words) in [
        ("/load a.json", "a.json is no saved conversation"),
        ("/load gone.json", "gone.json cannot be read"),
        ("/load", "/load needs the name of a file"),
        ("/save gone/a.json", "gone/a.json cannot be written"),
        ("/modle x", "There is no command /modle; did you mean `/model`?"),
        ("/compact now", "/compact takes nothing"),
    ] {
        person.types(command);
        person.sees(words);
        person.next();
    }
    person.types("still here");
    person.sees("messages in this request: 4");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn another_model_takes_the_conversation_over() {
    let server = Server::playground();
    let mut person = Person::at(&server, &["--model", "first"]);
    person.types("/model");
    person.sees("first\r\n");
    person.next();
    person.types("hello");
    person.next();
    person.types("/model second");
    person.sees("second answers from now on; the conversation stays.");
    person.next();
    person.types("hello again");
    person.sees("messages in this request: 4");
    person.next();
    person.types("/model");
    person.sees("second\r\n");
    person.next();
    let models: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.json()["model"].to_string())
        .collect();
    assert_eq!(models, ["\"first\"", "\"second\""]);
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn help_lists_them() {
    let server = Server::start(MockOptions::new(), Playground::new());
    let mut person = Person::at(&server, &[]);
    person.types("/help");
    let help = person.sees("is one message.");
    for name in [
        "/model", "/tools", "/cost", "/save", "/load", "/compact", "/clear", "/exit",
    ] {
        assert!(help.contains(name), "{name}");
    }
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

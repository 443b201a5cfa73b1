//! Answers that are interrupted or break off, and what the next request contains.

use std::fs;

use agcore_testkit::mock_server::{Answer, MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::json;

use crate::{
    person::{Person, QUESTION},
    support::Server,
};

fn sent(server: &Server) -> String {
    server.requests().pop().unwrap().json()["messages"].to_string()
}

#[test]
fn an_interrupted_answer_is_kept_and_can_be_undone_or_retried() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("slow");
    person.sees("word3");
    person.presses('c');
    person.sees("The part that arrived is kept: ask to continue, or type /undo or /retry.");
    person.next();
    person.types("continue");
    person.sees("messages in this request: 4");
    person.next();
    let messages = sent(&server);
    assert!(
        messages.contains("word3") && messages.contains("[interrupted by the user]"),
        "{messages}"
    );

    person.types("/retry");
    person.sees("messages in this request: 4");
    person.next();
    person.types("/undo");
    person.sees("Removed 2 messages, from \"continue\" on.");
    person.next();
    person.types("/undo");
    person.sees("Removed 2 messages, from \"slow\" on.");
    person.next();
    person.types("/undo");
    person.sees("the conversation is empty");
    person.next();
    person.types("hello");
    person.sees("messages in this request: 2");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn an_answer_that_breaks_off_is_kept() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("fail");
    person.sees("The part that arrived is kept");
    person.next();
    person.types("continue");
    person.sees("messages in this request: 4");
    person.next();
    let messages = sent(&server);
    assert!(
        messages.contains("[the answer broke off because of an error]"),
        "{messages}"
    );
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn retry_sends_a_discarded_message_again() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("/retry");
    person.sees("there is no message to send again");
    person.next();
    person.types("hello");
    person.next();
    person.types("error 401");
    person.sees("Turn discarded. Type /retry");
    person.next();
    person.types("/retry");
    person.sees("Turn discarded.");
    person.next();
    let messages = server.requests().pop().unwrap().prompt().last_user().to_owned();
    assert_eq!(messages, "error 401");
    person.presses('d');
    person.leaves_with(0);
}

/// Writes a text and calls a tool that needs approval, and later answers.
fn text_and_call(request: &RecordedRequest) -> Reply {
    match request.prompt().last_user() {
        "go" if request.prompt().results().is_empty() => {
            let call = |text: &str| ToolCall::new("save_note", &json!({"text": text}));
            Reply::answer(
                Answer::new()
                    .with_text("I will save two notes.")
                    .with_call(call("x"))
                    .with_call(call("y")),
            )
        }
        _ => Reply::text("Done."),
    }
}

#[test]
fn a_call_whose_question_was_cancelled_did_not_run() {
    let server = Server::start(MockOptions::new(), text_and_call);
    let mut person = Person::at(&server, &[]);
    person.types("go");
    person.sees(QUESTION);
    person.presses('c');
    person.sees("cancelled");
    person.sees("save_note did not run.");
    person.next();
    person.types("/save talk.json");
    person.sees("saved to talk.json");
    person.next();
    let saved = fs::read_to_string(person.agcore.directory.path().join("talk.json")).unwrap();
    assert!(
        !saved.contains("may or may not") && !saved.contains("unknown"),
        "{saved}"
    );
    assert_eq!(person.agcore.files(), ["talk.json"]);

    // The calls that were left open must not make the next request invalid.
    person.types("go on");
    person.sees("Done.");
    person.next();
    let messages = server.requests().pop().unwrap().json()["messages"].clone();
    let messages = messages.as_array().unwrap();
    let calls: Vec<_> = messages
        .iter()
        .filter_map(|message| message["tool_calls"].as_array())
        .flatten()
        .collect();
    for call in calls {
        let is_answered = messages.iter().any(|message| message["tool_call_id"] == call["id"]);
        assert!(is_answered, "{messages:?}");
    }
    person.presses('d');
    person.leaves_with(0);
}

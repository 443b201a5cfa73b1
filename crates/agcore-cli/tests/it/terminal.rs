//! `agcore chat` at a terminal, as a person uses it.

use std::time::Duration;

use agcore_testkit::mock_server::{Answer, MockOptions, Playground, RecordedRequest, Reply, ToolCall};
use rexpect::{process::WaitStatus, session::spawn_with_options};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;

use crate::{
    person::{Person, QUESTION, limit},
    support::{Agcore, Server},
};

#[test]
fn a_conversation() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("hello");
    person.sees("messages in this request: 2");
    person.next();

    // A tool.
    person.types("some arithmetic");
    person.sees("✓ arithmetic {\"operation\":\"add\",");
    person.sees("arithmetic says: 2");
    person.next();

    // An approval that is denied. What is no answer is asked again.
    person.types("save it");
    person.sees("save_note wants to run with {\"text\":\"save it\"}");
    person.sees(QUESTION);
    person.types("maybe");
    person.sees(QUESTION);
    person.types("n");
    person.sees("says: save_note was denied by a person: The user said no.");
    person.next();
    assert!(person.agcore.files().is_empty());

    // Ctrl-C in the middle of an answer, then another turn.
    person.types("slow");
    person.sees("word3");
    person.presses('c');
    let shown = person.sees("cancelled");
    assert!(!shown.contains("^C") && !shown.contains("word60"), "{shown}");
    person.sees("This turn is forgotten; arrow up brings the message back.");
    person.next();
    person.types("again");
    person.sees("You said:\r\n\r\n│ again");
    person.next();
    let last = server.requests().pop().unwrap();
    let said: Vec<String> = last.prompt().turns.iter().map(|turn| turn.text.clone()).collect();
    assert!(
        !said.iter().any(|text| text == "slow") && said.iter().any(|text| text == "hello"),
        "{said:?}"
    );

    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn yes_for_the_session_is_asked_once() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("s");
    person.sees("says: Saved to agcore-notes.md.");
    person.next();
    person.types("save it as well");
    let shown = person.sees("says: Saved to agcore-notes.md.");
    assert!(!shown.contains("wants to run"), "{shown}");
    person.next();
    person.types("/exit");
    assert_eq!(person.agcore.files(), ["agcore-notes.md"]);
    person.leaves_with(0);
}

#[test]
fn ctrl_c_at_a_question_cancels_the_turn() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("save it");
    person.sees(QUESTION);
    person.presses('c');
    person.sees("cancelled");
    person.next();
    assert!(person.agcore.files().is_empty());
    person.types("hello");
    person.sees("│ hello");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn ctrl_c_at_the_prompt_throws_the_line_away_and_twice_leaves() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.session.send("half a li").unwrap();
    person.session.flush().unwrap();
    person.sees("half a li");
    person.presses('c');
    person.sees("Ctrl-C once more, Ctrl-D or /exit leaves the chat.");
    person.next();
    // Anything else in between makes it the first again.
    person.types("/cost");
    person.sees("0 model calls");
    person.next();
    person.presses('c');
    person.sees("Ctrl-C once more");
    person.next();
    person.presses('c');
    person.leaves_with(0);
    assert!(server.requests().is_empty());
}

#[test]
fn ctrl_c_ends_the_wait_for_another_attempt() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("error 503 60");
    person.sees("attempt 2 in");
    person.presses('c');
    person.sees("cancelled");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_failed_turn_is_told_and_the_chat_goes_on() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    for (message, words) in [
        ("error 401", "check OPENAI_API_KEY or AGCORE_API_KEY"),
        ("html", "--base-url"),
        ("fail", "had an error"),
    ] {
        person.types(message);
        person.sees(words);
        person.sees("This turn is forgotten");
        person.next();
    }
    person.types("hello");
    person.sees("messages in this request: 2");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn what_is_typed_during_a_turn_waits_and_is_not_shown() {
    let server = Server::start(
        MockOptions::new(),
        Playground::new().with_pace(Duration::from_millis(30)),
    );
    let mut person = Person::at(&server, &[]);
    person.types("long 30");
    person.sees("word3");
    person.types("early");
    let shown = person.sees("tokens in");
    assert!(!shown.contains("early"), "{shown}");
    person.sees("│ early");
    person.sees("messages in this request: 4");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn what_was_typed_before_a_question_is_no_answer_to_it() {
    let calls = |request: &RecordedRequest| {
        if request.prompt().results().is_empty() {
            let words: String = (1..=40).map(|number| format!("word{number} ")).collect();
            let call = ToolCall::new("save_note", &json!({"text": "x"}));
            Reply::answer(Answer::new().with_text(words).with_call(call)).with_pace(Duration::from_millis(50))
        } else {
            Reply::text("Done.")
        }
    };
    let server = Server::start(MockOptions::new(), calls);
    let mut person = Person::at(&server, &[]);
    person.types("go");
    person.sees("word3");
    person.types("y");
    person.sees(QUESTION);
    person.types("n");
    person.sees("The user said no.");
    person.next();
    assert!(person.agcore.files().is_empty());
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn cards_fit_a_narrow_window_and_questions_are_whole() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    let size = Winsize {
        ws_row: 30,
        ws_col: 40,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(person.session.process().get_file_handle().unwrap(), size).unwrap();
    person.types("save it, and make it a very long note");
    let note = "{\"text\":\"save it, and make it a very long note\"}";
    person.sees("wants to run with ");
    person.sees(note);
    person.sees(QUESTION);
    person.types("n");
    person.sees("✗ save_note {");
    let card = person.sees("\r\n");
    assert!(card.chars().count() <= 40 - "✗ save_note {".chars().count(), "{card}");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn colours_are_shown_where_they_are_wanted() {
    let server = Server::playground();
    for (variables, coloured) in [
        (vec![], true),
        (vec![("NO_COLOR", "1")], false),
        (vec![("TERM", "dumb")], false),
    ] {
        let mut agcore = Agcore::talking_to(&server).with("TERM", "xterm-256color");
        for (name, value) in &variables {
            agcore = agcore.with(name, value);
        }
        let mut command = agcore.command();
        command.arg("chat");
        let mut session = spawn_with_options(command, limit()).unwrap();
        let shown = session.exp_string("Ctrl-D leaves.").unwrap();
        assert_eq!(shown.contains("\u{1b}[2m"), coloured, "{variables:?}: {shown:?}");
    }
}

#[test]
fn a_terminal_that_is_only_half_there() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let mut command = agcore.command();
    command.args(["chat", "--json"]);
    let mut session = spawn_with_options(command, limit()).unwrap();
    session.exp_string("error: --json needs a message").unwrap();
    session.exp_eof().unwrap();
    assert!(matches!(session.process().wait().unwrap(), WaitStatus::Exited(_, 2)));
}

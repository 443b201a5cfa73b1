//! Tests of `agcore chat` at a terminal.

use rexpect::{process::WaitStatus, session::spawn_with_options};
use rustix::termios::{Winsize, tcsetwinsize};

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

    // A tool call.
    person.types("some arithmetic");
    person.sees("✓ arithmetic {\"operation\":\"add\",");
    person.sees("arithmetic returned: 2");
    person.next();

    // A denied approval. Unrecognized answers repeat the prompt.
    person.types("save it");
    person.sees("Allow save_note {\"text\":\"save it\"}?");
    person.sees(QUESTION);
    person.types("maybe");
    person.sees(QUESTION);
    person.types("n");
    person.sees("returned: save_note was denied by a person: The user answered no.");
    person.next();
    assert!(person.agcore.files().is_empty());

    // Ctrl-C in the middle of an answer, then another turn.
    person.types("slow");
    person.sees("word3");
    person.presses('c');
    let shown = person.sees("cancelled");
    assert!(!shown.contains("^C") && !shown.contains("word60"), "{shown}");
    person.sees("The part that arrived is kept");
    person.next();
    person.types("/undo");
    person.sees("Removed 2 messages, from \"slow\" on.");
    person.next();
    person.types("again");
    person.sees("You wrote:\r\n\r\n│ again");
    person.next();
    let last = server.requests().pop().unwrap();
    let sent: Vec<String> = last.prompt().turns.iter().map(|turn| turn.text.clone()).collect();
    assert!(
        !sent.iter().any(|text| text == "slow") && sent.iter().any(|text| text == "hello"),
        "{sent:?}"
    );

    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_chat_opens_without_a_command_and_with_a_message() {
    let server = Server::playground();
    // Arguments, and the message with which the chat begins.
    for (arguments, message) in [
        (&[] as &[&str], None),
        (&["--no-color"], None),
        (&["chat", "hello"], Some("hello")),
    ] {
        let mut person = Person::running(Agcore::talking_to(&server), arguments);
        person.sees("Ctrl-D exits.");
        if let Some(message) = message {
            person.sees(&format!("> {message}"));
            person.sees("messages in this request: 2");
        }
        person.next();
        person.types("more");
        person.sees("You wrote:");
        person.next();
        person.presses('d');
        person.leaves_with(0);
    }
}

#[test]
fn print_answers_once_at_a_terminal() {
    let server = Server::playground();
    let mut person = Person::running(Agcore::talking_to(&server), &["chat", "-p", "hello"]);
    let shown = person.sees("messages in this request: 2");
    assert!(!shown.contains("Ctrl-D exits."), "{shown}");
    person.leaves_with(0);
}

#[test]
fn yes_for_the_session_is_asked_once() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("s");
    person.sees("returned: Saved to agcore-notes.md.");
    person.next();
    person.types("save it as well");
    let shown = person.sees("returned: Saved to agcore-notes.md.");
    assert!(!shown.contains("Allow save_note"), "{shown}");
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
fn ctrl_c_at_the_prompt_discards_the_line_and_twice_exits() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.keys("half a li");
    person.sees("half a li");
    person.presses('c');
    person.presses('c');
    person.sees("To leave, press Ctrl-C again or Ctrl-D, or type /exit.");
    person.next();
    // It counts as the first again after the line was cleared.
    person.keys("more");
    person.sees("more");
    person.presses('c');
    person.presses('c');
    person.sees("To leave, press Ctrl-C again or Ctrl-D, or type /exit.");
    person.next();
    // After any other input, Ctrl-C counts as the first again.
    person.types("/cost");
    person.sees("this chat");
    person.next();
    person.presses('c');
    person.sees("press Ctrl-C again");
    person.next();
    person.presses('c');
    person.leaves_with(0);
    assert!(server.requests().is_empty());
}

#[test]
fn ctrl_c_cancels_the_wait_before_a_retry() {
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
fn reports_a_failed_turn_and_continues() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    for (message, text, kept) in [
        ("fail", "had an error", "The part that arrived is kept"),
        ("error 401", "check OPENAI_API_KEY or AGCORE_API_KEY", "Turn discarded."),
        ("html", "--base-url", "Turn discarded."),
    ] {
        person.types(message);
        person.sees(text);
        person.sees(kept);
        person.next();
    }
    person.types("/undo");
    person.next();
    person.types("hello");
    person.sees("messages in this request: 2");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn cards_fit_a_narrow_window_and_questions_are_complete() {
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
    person.sees("Allow save_note");
    let shown = person.sees(QUESTION);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "{\"text\":\"save it, and make it a very long note\"}?";
    assert!(words.starts_with(note), "{shown}");
    person.types("n");
    person.sees("✗ save_note {");
    let card = person.sees("\r\n");
    assert!(card.chars().count() <= 40 - "✗ save_note {".chars().count(), "{card}");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn uses_colors_unless_disabled() {
    let server = Server::playground();
    for (variables, is_colored) in [
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
        let shown = session.exp_string("Ctrl-D exits.").unwrap();
        assert_eq!(shown.contains("\u{1b}[2m"), is_colored, "{variables:?}: {shown:?}");
    }
}

#[test]
fn json_output_needs_a_message_at_a_terminal() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let mut command = agcore.command();
    command.args(["chat", "--json"]);
    let mut session = spawn_with_options(command, limit()).unwrap();
    session.exp_string("error: a message is needed").unwrap();
    session.exp_eof().unwrap();
    assert!(matches!(session.process().wait().unwrap(), WaitStatus::Exited(_, 2)));
}

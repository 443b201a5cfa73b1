//! Input that is typed or pasted while an answer arrives, and long texts that are pasted at the prompt.

use std::time::Duration;

use agcore_demo::Playground;
use agcore_testkit::mock_server::{Answer, Fault, MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::json;

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

const SHIFT_TAB: &str = "\u{1b}[Z";

/// Answers slowly enough to type meanwhile.
fn slow_server() -> Server {
    let pace = Duration::from_millis(30);
    Server::start(MockOptions::new(), Playground::new().with_pace(pace))
}

/// Writes words, and then calls `save_note`.
fn server_with_a_call() -> Server {
    let calls = |request: &RecordedRequest| match request.prompt().results() {
        results if results.is_empty() && request.prompt().last_user() != "go" => Reply::text("Nothing to do."),
        results if results.is_empty() => {
            let words: String = (1..=40).map(|number| format!("word{number} ")).collect();
            let call = ToolCall::new("save_note", &json!({"text": "x"}));
            Reply::answer(Answer::new().with_text(words).with_call(call)).with_pace(Duration::from_millis(30))
        }
        results => Reply::text(format!("Result: {}", results[0].1)),
    };
    Server::start(MockOptions::new(), calls)
}

fn last_user(server: &Server) -> String {
    server.requests().pop().unwrap().prompt().last_user().to_owned()
}

fn last_result(server: &Server) -> String {
    let request = server.requests().pop().unwrap();
    request.prompt().results().pop().unwrap().1.to_owned()
}

fn pasted(text: &str) -> String {
    format!("\u{1b}[200~{text}\u{1b}[201~")
}

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("第{number}行\n")).collect()
}

#[test]
fn a_line_is_shown_and_sent_after_the_answer() {
    let server = slow_server();
    let mut person = Person::at(&server, &[]);
    person.types("long 40");
    person.sees("word3");
    person.keys("早 ear");
    person.sees("> 早 ear");
    person.keys("ly\r");
    person.sees("queued: 早 early");
    person.sees("tokens in");
    person.next();
    person.sees("早 early");
    person.sees("│ 早 early");
    person.next();
    assert_eq!(last_user(&server), "早 early");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn ctrl_c_puts_lines_back_into_the_input() {
    let server = slow_server();
    let mut person = Person::at(&server, &[]);
    person.types("slow");
    person.sees("word3");
    person.types("next 条");
    person.keys("half");
    person.presses('c');
    person.sees("cancelled");
    person.next();
    person.sees("next 条");
    person.sees("half");
    assert_eq!(server.requests().len(), 1);
    person.types(" and more");
    person.sees("You wrote:");
    person.next();
    assert_eq!(last_user(&server), "next 条\nhalf and more");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_turn_that_fails_sends_nothing_either() {
    let words: String = (1..=40).map(|number| format!("word{number} ")).collect();
    let fails = move |_: &RecordedRequest| {
        let fault = Fault::Malformed { at: 30 };
        let reply = Reply::text(words.as_str()).with_pace(Duration::from_millis(30));
        reply.with_fault(fault)
    };
    let server = Server::start(MockOptions::new(), fails);
    let mut person = Person::at(&server, &[]);
    person.types("go");
    person.sees("word3");
    person.types("after it");
    person.sees("queued: after it");
    person.sees("The part that arrived is kept");
    person.next();
    person.sees("after it");
    assert_eq!(server.requests().len(), 1);
    person.presses('c');
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_line_that_was_typed_before_a_question_stays_queued() {
    let server = server_with_a_call();
    let mut person = Person::at(&server, &[]);
    person.types("go");
    person.sees("word3");
    person.types("y");
    person.sees("queued: y");
    person.sees(QUESTION);
    person.types("n");
    person.sees("The user answered no.");
    person.next();
    person.sees("y\r\n");
    person.sees("Nothing to do.");
    person.next();
    assert!(person.agcore.files().is_empty());
    assert_eq!(last_user(&server), "y");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_line_that_was_typed_before_a_question_does_not_answer_it_at_a_simple_terminal() {
    let server = server_with_a_call();
    let agcore = Agcore::talking_to(&server).with("TERM", "dumb");
    let mut person = Person::chatting(agcore, &[]);
    person.types("go");
    person.sees("word3");
    person.types("y");
    person.sees(QUESTION);
    person.types("n");
    person.sees("The user answered no.");
    person.next();
    person.presses('d');
    assert!(person.leaves_with(0).files().is_empty());
}

#[test]
fn shift_tab_changes_the_mode_of_the_following_calls() {
    for (presses, mode, result) in [
        (1, "acceptEdits", "Saved to agcore-notes.md."),
        (2, "plan", "save_note was not run: plan mode is on"),
        (3, "default", "save_note was denied by a person"),
    ] {
        let server = server_with_a_call();
        let mut person = Person::at(&server, &[]);
        person.types("go");
        person.sees("word3");
        person.keys(&SHIFT_TAB.repeat(presses));
        person.sees(&format!("permission mode: {mode}"));
        if mode == "default" {
            person.sees(QUESTION);
            person.types("n");
        } else {
            // The change stays in the output and at the prompt.
            let shown = person.sees(&format!("Permission mode: {mode}"));
            assert!(!shown.contains(QUESTION), "{shown}");
        }
        if mode == "plan" {
            person.sees("Carry out this plan?");
            person.sees(QUESTION);
            person.types("n");
        }
        person.sees("you\r\n");
        assert!(last_result(&server).starts_with(result), "{mode}");
        person.sees("> ");
        person.presses('d');
        let files = person.leaves_with(0).files();
        assert_eq!(files.is_empty(), mode != "acceptEdits", "{files:?}");
    }
}

#[test]
fn a_turn_leaves_plan_mode() {
    let server = server_with_a_call();
    let mut person = Person::at(&server, &["--permission-mode", "plan"]);
    person.types("go");
    person.sees("word3");
    person.keys(SHIFT_TAB);
    person.sees("permission mode: default");
    person.sees(QUESTION);
    person.types("y");
    person.next();
    assert_eq!(last_result(&server), "Saved to agcore-notes.md.");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_turn_that_cannot_ask_says_so() {
    let server = server_with_a_call();
    let mut person = Person::at(&server, &["--permission-mode", "dontAsk"]);
    person.types("go");
    person.sees("word3");
    person.keys(SHIFT_TAB);
    person.sees("permission mode: still dontAsk; change it at the prompt");
    person.sees("don't ask > ");
    let result = last_result(&server);
    assert!(result.contains("this call of save_note is not allowed"), "{result}");
    person.presses('d');
    assert!(person.leaves_with(0).files().is_empty());
}

#[test]
fn a_long_text_is_folded_and_sent_completely() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.keys("see ");
    person.keys(&pasted(&lines(120).replace('\n', "\r")));
    let shown = person.sees("see [pasted 120 lines]");
    assert!(!shown.contains("行"), "{shown}");
    person.types(" 谢谢");
    person.sees("Your message has");
    person.next();
    assert_eq!(last_user(&server), format!("see {} 谢谢", lines(120)));

    // Backspace removes all of it, and a placeholder that was changed is only text.
    person.keys(&pasted(&lines(11)));
    person.sees("[pasted 11 lines]");
    person.keys("\u{7f}");
    person.types("nothing");
    person.sees("│ nothing");
    person.next();
    assert_eq!(last_user(&server), "nothing");
    person.keys(&pasted(&lines(11)));
    person.sees("[pasted 11 lines]");
    person.keys("\u{1b}[D\u{7f}\u{5}");
    person.types("!");
    person.sees("│ [pasted 11 line]!");
    person.next();

    // A short text stays as it is.
    person.keys(&pasted("a\tb\r\nc\u{7}"));
    person.types("");
    person.next();
    assert_eq!(last_user(&server), "a\tb\nc");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_text_that_is_pasted_during_a_turn_is_one_message() {
    let server = slow_server();
    let mut person = Person::at(&server, &[]);
    person.types("long 40");
    person.sees("word3");
    person.keys(&format!("{}\r", pasted(&lines(30))));
    person.sees("queued: [pasted 30 lines]");
    person.sees("tokens in");
    person.next();
    person.sees("[pasted 30 lines]");
    person.sees("Your message has");
    person.next();
    assert_eq!(last_user(&server).trim_end(), lines(30).trim_end());
    assert_eq!(server.requests().len(), 2);
    person.presses('d');
    person.leaves_with(0);
}

//! Approval questions about the calls of a single message.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

const ASKED: &str = "Allow save_note {\"text\":";
const NOT_RUN: &str = "This call was not run: the turn ended before it started.";
const UNKNOWN: &str = "may or may not have";

fn file(agcore: &Agcore, name: &str) -> String {
    fs::read_to_string(agcore.directory.path().join(name)).unwrap()
}

/// Runs a script that answers a message which calls `save_note`, up to the question.
fn asked(agcore: Agcore, script: &str) -> Person {
    let mut person = Person::scripting(agcore, script);
    person.sees(ASKED);
    person.sees(QUESTION);
    person
}

#[test]
fn asks_at_the_terminal_whatever_is_redirected() {
    let server = Server::playground();
    for script in [
        "\"$0\" -p 'save it'",
        "\"$0\" -p 'save it' > out.txt",
        "echo context | \"$0\" -p 'save it'",
        "echo context | \"$0\" 'save it' > out.txt 2> err.txt",
        "\"$0\" chat 'save it' --json < /dev/null > out.txt 2> err.txt",
    ] {
        let mut person = asked(Agcore::talking_to(&server), script);
        person.types("maybe");
        person.sees(QUESTION);
        person.types("y");
        let agcore = person.leaves_with(0);
        assert!(file(&agcore, "agcore-notes.md").starts_with("- save it"), "{script}");
        if script.contains("out.txt") {
            let answer = file(&agcore, "out.txt");
            assert!(answer.contains("Saved to agcore-notes.md."), "{script}: {answer}");
            assert!(
                !answer.contains("Allow save_note") && !answer.contains("[n]o"),
                "{script}: {answer}"
            );
        }
    }
}

#[test]
fn the_call_is_shown_before_the_question_and_its_result_after_it() {
    let server = Server::playground();
    let mut person = Person::running(Agcore::talking_to(&server), &["-p", "save it"]);
    let before = person.sees(ASKED);
    assert!(!before.contains("Saved"), "{before}");
    person.sees(QUESTION);
    person.types("n");
    person.sees("✗ save_note");
    person.sees("returned: save_note was denied by a person: The user answered no.");
    assert!(person.leaves_with(0).files().is_empty());
}

#[test]
fn edits_arguments_while_the_output_is_redirected() {
    let server = Server::playground();
    let mut person = asked(Agcore::talking_to(&server), "\"$0\" -p 'save it' > out.txt");
    person.types("e");
    person.sees("arguments: {\"text\":\"save it\"}");
    person.presses('u');
    person.types("{\"text\": ");
    person.sees("not valid JSON");
    person.sees("arguments: {\"text\": ");
    person.presses('u');
    person.types("{\"text\": \"edited\"}");
    person.sees("✓ save_note {\"text\":\"edited\"}");
    let agcore = person.leaves_with(0);
    assert_eq!(file(&agcore, "agcore-notes.md"), "- edited\n");
    assert!(!file(&agcore, "out.txt").contains("not valid JSON"));
}

#[test]
fn always_is_stored() {
    let server = Server::playground();
    let mut person = asked(Agcore::talking_to(&server).at_home(), "\"$0\" -p 'save it' > out.txt");
    person.types("a");
    person.sees("save_note with any arguments is always allowed from now on (");
    let agcore = person.leaves_with(0);
    agcore.run(["-p", "save it"]).assert_success();
}

#[test]
fn ctrl_c_at_a_question_cancels_before_the_tool_runs() {
    let server = Server::playground();
    for _ in 0..5 {
        let mut person = asked(Agcore::talking_to(&server), "\"$0\" -p 'save it' --json > out.txt");
        person.presses('c');
        person.sees("error: cancelled");
        let agcore = person.leaves_with(130);
        assert_eq!(agcore.files(), ["out.txt"]);
        let events = file(&agcore, "out.txt");
        assert!(events.contains(NOT_RUN) && !events.contains(UNKNOWN), "{events}");
    }
}

#[test]
fn ctrl_c_at_a_question_of_a_chat_cancels_before_the_tool_runs() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    for _ in 0..5 {
        person.types("save it");
        person.sees(QUESTION);
        person.presses('c');
        let shown = person.sees("cancelled");
        assert!(shown.contains("This call was not run"), "{shown}");
        person.next();
    }
    person.types("/save saved.json");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);
    assert_eq!(agcore.files(), ["saved.json"]);
    let saved = file(&agcore, "saved.json");
    assert_eq!(saved.matches(NOT_RUN).count(), 5, "{saved}");
    assert!(!saved.contains(UNKNOWN) && !saved.contains("denied"), "{saved}");
}

#[test]
fn a_signal_at_a_question_leaves_a_usable_terminal() {
    let server = Server::playground();
    let script = "sh -c 'echo $$ > pid; exec \"$0\" -p \"save it\" > out.txt' \"$0\"; stty -a";
    let mut person = asked(Agcore::talking_to(&server), script);
    let pid = file(&person.agcore, "pid").trim().parse().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    person.sees("error: cancelled");
    let modes = person.sees(" echoe");
    assert!(!modes.contains("-icanon") && !modes.contains("-echo "), "{modes}");
    person.leaves_with(0);
}

#[test]
fn a_background_job_does_not_ask() {
    let server = Server::playground();
    let script = "set -m; \"$0\" -p 'save it' < /dev/null > out.txt & wait $!; echo left with $?";
    let mut person = Person::scripting(Agcore::talking_to(&server), script);
    let shown = person.sees("error: save_note was denied: it needs approval");
    assert!(!shown.contains(ASKED), "{shown}");
    person.sees("left with 6");
    assert_eq!(person.leaves_with(0).files(), ["out.txt"]);
}

#[test]
fn tools_call_asks_while_the_output_is_redirected() {
    let script = "echo '{\"text\": \"milk\"}' | \"$0\" tools call save_note > out.txt 2> err.txt";
    let mut person = asked(Agcore::new(), script);
    person.types("y");
    let agcore = person.leaves_with(0);
    assert_eq!(file(&agcore, "out.txt"), "Saved to agcore-notes.md.\n");
}

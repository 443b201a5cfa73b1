//! What goes to standard output: JSON Lines, no colours, readers that go away.

use std::process::Stdio;

use agcore::{
    StreamEvent,
    chat::{EventKind, TextEvent},
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time::timeout,
};

use crate::support::{Agcore, LIMIT, Ran, Server, runtime};

/// The events of a run with `--json`.
fn events(ran: &Ran) -> Vec<StreamEvent> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    ran.stdout.lines().map(parse).collect()
}

fn text(event: &StreamEvent) -> Option<&str> {
    match &event.kind {
        EventKind::Text(TextEvent::Text(text)) => Some(text),
        _ => None,
    }
}

fn kinds(ran: &Ran) -> Vec<String> {
    let value = |line| serde_json::from_str::<serde_json::Value>(line).unwrap();
    ran.stdout.lines().map(|line| value(line)["kind"].to_string()).collect()
}

#[test]
fn every_event_is_a_line_of_json() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "--json", "some arithmetic, 请"]);
    ran.assert_done();
    assert_eq!(ran.stderr, "");
    let found = events(&ran);
    assert!(found.windows(2).all(|pair| pair[0].seq < pair[1].seq), "{found:?}");
    let text: String = found.iter().filter_map(text).collect();
    assert!(text.contains("**arithmetic** says: 2"), "{text}");
    assert!(kinds(&ran).last().unwrap().contains("complete"), "{:?}", kinds(&ran));
}

#[test]
fn a_failed_turn_is_json_to_its_end() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "--json", "error 400"]);
    ran.assert_failed(1, &["(HTTP 400)"]);
    let kinds = kinds(&ran);
    assert!(kinds.iter().any(|kind| kind.contains("error")), "{kinds:?}");
    assert!(kinds.last().unwrap().contains("complete"), "{kinds:?}");
}

#[test]
fn colours_are_for_terminals() {
    let server = Server::playground();
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color"), ("CLICOLOR", "1")] {
        let agcore = Agcore::talking_to(&server).with(name, value);
        // Checks for escape sequences.
        agcore.run(["chat", "some arithmetic"]).assert_done();
    }
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "\u{1b}[2J\u{7}sneaky"]);
    assert!(
        ran.assert_done().contains("\u{fffd}[2J\u{fffd}sneaky"),
        "{}",
        ran.stdout
    );
}

/// What `head -1` does. The rest of the answer does not fit into the pipe.
#[test]
fn a_reader_that_goes_away_ends_the_program_in_silence() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran: Ran = runtime().block_on(async {
        let mut child = agcore.spawn(["chat", "--json", "long 10000"]);
        let mut line = String::new();
        let mut output = BufReader::with_capacity(16, child.stdout.take().unwrap());
        let read = timeout(LIMIT, output.read_line(&mut line)).await;
        read.expect("a line comes").unwrap();
        drop(output);
        let ended = timeout(LIMIT, child.wait_with_output()).await;
        ended.expect("the program ends").unwrap().into()
    });
    assert_silent(&ran);
}

#[test]
fn a_reader_that_was_never_there() {
    let server = Server::playground();
    let case = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/wire/openai-chat/choice-members-null-or-absent.json"
    );
    for arguments in [
        &["chat", "hi"][..],
        &["chat", "--json", "hi"],
        &["demo"],
        &["inspect", "case", case],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let agcore = Agcore::talking_to(&server);
        let mut command = agcore.command();
        command.args(arguments).stdin(Stdio::null()).stdout(writer);
        let ran = Ran::from(command.output().unwrap());
        assert_silent(&ran);
    }
}

#[track_caller]
fn assert_silent(ran: &Ran) {
    ran.assert_clean();
    assert_eq!(ran.code(), Some(141), "{}", ran.stderr);
    assert!(!ran.stderr.contains("error"), "{}", ran.stderr);
}

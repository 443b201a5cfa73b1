//! Standard output: JSON Lines, no colors without a terminal, closed pipes.

use std::process::Stdio;

use agcore::{
    StreamEvent,
    chat::{EventKind, TextEvent},
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time::timeout,
};

use crate::support::{Agcore, LIMIT, RunOutput, Server, runtime};

/// Returns the events that `--json` printed.
fn events(ran: &RunOutput) -> Vec<StreamEvent> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    ran.stdout.lines().map(parse).collect()
}

fn text(event: &StreamEvent) -> Option<&str> {
    match &event.kind {
        EventKind::Text(TextEvent::Text(text)) => Some(text),
        _ => None,
    }
}

fn kinds(ran: &RunOutput) -> Vec<String> {
    let value = |line| serde_json::from_str::<serde_json::Value>(line).unwrap();
    ran.stdout.lines().map(|line| value(line)["kind"].to_string()).collect()
}

#[test]
fn prints_every_event_as_a_line_of_json() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "--json", "some arithmetic, 请"]);
    ran.assert_success();
    assert_eq!(ran.stderr, "");
    let found = events(&ran);
    assert!(found.windows(2).all(|pair| pair[0].seq < pair[1].seq), "{found:?}");
    let text: String = found.iter().filter_map(text).collect();
    assert!(text.contains("**arithmetic** returned: 2"), "{text}");
    assert!(kinds(&ran).last().unwrap().contains("complete"), "{:?}", kinds(&ran));
}

#[test]
fn prints_all_events_of_a_failed_turn() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "--json", "error 400"]);
    ran.assert_failed(1, &["(HTTP 400)"]);
    let kinds = kinds(&ran);
    assert!(kinds.iter().any(|kind| kind.contains("error")), "{kinds:?}");
    assert!(kinds.last().unwrap().contains("complete"), "{kinds:?}");
}

#[test]
fn uses_no_colors_without_a_terminal() {
    let server = Server::playground();
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color"), ("CLICOLOR", "1")] {
        let agcore = Agcore::talking_to(&server).with(name, value);
        // Fails if the output contains escape codes.
        agcore.run(["chat", "some arithmetic"]).assert_success();
    }
}

#[test]
fn replaces_control_characters() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "\u{1b}[2J\u{7}sneaky"]);
    assert!(
        ran.assert_success().contains("\u{fffd}[2J\u{fffd}sneaky"),
        "{}",
        ran.stdout
    );
}

/// Like `head -1`. The rest of the answer does not fit into the pipe.
#[test]
fn exits_silently_when_the_reader_goes_away() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let ran: RunOutput = runtime().block_on(async {
        let mut child = agcore.spawn(["chat", "--json", "long 10000"]);
        let mut line = String::new();
        let mut output = BufReader::with_capacity(16, child.stdout.take().unwrap());
        let read = timeout(LIMIT, output.read_line(&mut line)).await;
        read.expect("no line arrived in time").unwrap();
        drop(output);
        let ended = timeout(LIMIT, child.wait_with_output()).await;
        ended.expect("the program did not exit in time").unwrap().into()
    });
    assert_silent(&ran);
}

#[test]
fn exits_silently_without_a_reader() {
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
        let ran = RunOutput::from(command.output().unwrap());
        assert_silent(&ran);
    }
}

#[track_caller]
fn assert_silent(ran: &RunOutput) {
    ran.assert_clean();
    assert_eq!(ran.code(), Some(141), "{}", ran.stderr);
    assert!(!ran.stderr.contains("error"), "{}", ran.stderr);
}

//! Ctrl-C without a terminal, and SIGTERM: the program exits, whatever it is waiting for.

use std::{io::PipeWriter, os::unix::process::ExitStatusExt, process::Stdio, time::Duration};

use agcore_testkit::mock_server::{DeafServer, Fault, Hold, MockOptions, Point, RecordedRequest, Reply, ToolCall};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process},
};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
    time::{interval, timeout},
};

use crate::{
    machine::stream,
    person::{Person, QUESTION, limit},
    support::{Agcore, KEY, LIMIT, RunOutput, Server, runtime},
};

/// The interval between two presses of Ctrl-C.
const INTERVAL: Duration = Duration::from_millis(300);

fn interrupt(child: &Child) {
    send(child, Signal::INT);
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
    kill_process(pid, signal).unwrap();
}

async fn output(child: Child) -> RunOutput {
    timeout(LIMIT, child.wait_with_output())
        .await
        .expect("the program did not exit in time")
        .unwrap()
        .into()
}

/// Starts a server whose answers stall at this point for ever.
fn stalling(at: Point) -> Server {
    let stall = move |_: &RecordedRequest| {
        Reply::text("one two three four five six").with_fault(Fault::stall(at, Hold::Forever))
    };
    Server::start(MockOptions::new(), stall)
}

#[test]
fn while_waiting_for_the_first_byte() {
    let server = stalling(Point::BeforeHeaders);
    let agcore = Agcore::talking_to(&server);
    let within = runtime();
    let child = within.block_on(async { agcore.spawn(["chat", "hi"]) });
    server.wait_for_requests(1);
    interrupt(&child);
    let ran = within.block_on(output(child));
    ran.assert_failed(130, &["error: cancelled"]);
    assert_eq!(ran.stdout, "");
}

/// Stops the program with a signal in the middle of an answer, and checks the rest of its output.
fn stopped(signal: Signal, code: i32, message: &str) {
    let server = stalling(Point::AfterEvents(5));
    let agcore = Agcore::talking_to(&server);
    let mut stdout = String::new();
    let ran: RunOutput = runtime().block_on(async {
        let mut child = agcore.spawn(["chat", "--json", "--include-partial-messages", "hi"]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = async || {
            timeout(LIMIT, lines.next_line())
                .await
                .expect("no line arrived in time")
                .unwrap()
                .inspect(|line| {
                    stdout.push_str(line);
                    stdout.push('\n');
                })
        };
        while !next().await.expect("the output ended early").contains("one") {}
        send(&child, signal);
        // The remaining lines are still written.
        while next().await.is_some() {}
        output(child).await
    });
    ran.assert_failed(code, &[message]);
    let lines = stream(&RunOutput { stdout, ..ran });
    let (end, result) = (&lines[lines.len() - 2], &lines[lines.len() - 1]);
    assert_eq!(
        (end["type"].as_str(), result["status"].as_str()),
        (Some("turn_end"), Some("interrupted"))
    );
    assert!(result["text"].as_str().unwrap().starts_with("one"), "{result}");
}

#[test]
fn in_the_middle_of_an_answer() {
    stopped(Signal::INT, 130, "error: cancelled");
}

#[test]
fn sigterm_cancels_the_turn() {
    stopped(Signal::TERM, 143, "error: terminated");
}

#[test]
fn a_closed_terminal_cancels_the_turn() {
    stopped(Signal::HUP, 143, "error: terminated");
}

/// The command never ends by itself.
#[test]
fn while_a_tool_runs() {
    let arguments = json!({"command": "sleep 100000"});
    let call = move |_: &RecordedRequest| Reply::tool_calls(vec![ToolCall::new("shell", &arguments)]);
    let server = Server::start(MockOptions::new(), call);
    let agcore = Agcore::talking_to(&server);
    let mut stdout = String::new();
    let ran: RunOutput = runtime().block_on(async {
        let mut child = agcore.spawn(["chat", "--json", "--yes", "hi"]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        loop {
            let line = timeout(LIMIT, lines.next_line())
                .await
                .expect("no line arrived in time");
            let Some(line) = line.unwrap() else { break };
            if line.contains("tool_use") {
                interrupt(&child);
            }
            stdout += &(line + "\n");
        }
        output(child).await
    });
    ran.assert_failed(130, &["error: cancelled"]);
    let lines = stream(&RunOutput { stdout, ..ran });
    let end = lines.iter().find(|line| line["type"] == "tool_result").unwrap();
    assert_eq!(end["status"], "interrupted", "{end}");
    assert_eq!(lines.last().unwrap()["status"], "interrupted");
}

#[test]
fn sigterm_at_a_question() {
    let call = |_: &RecordedRequest| Reply::tool_calls(vec![ToolCall::new("save_note", &json!({"text": "x"}))]);
    let server = Server::start(MockOptions::new(), call);
    let mut person = Person::chatting(Agcore::talking_to(&server), &[]);
    person.types("go");
    person.sees(QUESTION);
    let process = person.session.process_mut();
    process.signal(rexpect::process::Signal::SIGTERM).unwrap();
    person.sees("error: terminated");
    person.leaves_with(143);
}

#[test]
fn sigterm_restores_the_terminal() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with("TERM", "xterm-256color");
    let program = agcore.command();
    // The outer shell outlives the program and shows the mode of the terminal. The inner one prints the program's id.
    let script = "stty echo; sh -c 'echo pid=$$.; exec \"$0\" chat' \"$0\"; echo \"code=$?.\"; stty -a";
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", script]).arg(program.get_program());
    command.env_clear().current_dir(agcore.directory.path());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", "/usr/bin:/bin");
    let mut session = rexpect::session::spawn_with_options(command, limit()).unwrap();
    session.exp_string("pid=").unwrap();
    let pid = session.exp_string(".").unwrap().parse().unwrap();
    session.exp_string("> ").unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    session.exp_string("code=143.").unwrap();
    let mode = session.exp_eof().unwrap();
    assert!(mode.contains(" echo ") && mode.contains(" icanon "), "{mode}");
}

#[test]
fn while_connecting() {
    let within = runtime();
    let ran = within.block_on(async {
        let deaf = DeafServer::start().await.unwrap();
        let agcore = Agcore::new()
            .with("OPENAI_API_KEY", KEY)
            .with("OPENAI_BASE_URL", &deaf.base_url());
        let mut child = agcore.spawn(["chat", "--json", "hi"]);
        // The line shows that the turn has started.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        loop {
            let line = timeout(LIMIT, lines.next_line())
                .await
                .expect("no line arrived in time");
            if line.unwrap().expect("the output ended early").contains("turn_start") {
                break;
            }
        }
        interrupt(&child);
        while timeout(LIMIT, lines.next_line())
            .await
            .expect("the events did not end in time")
            .unwrap()
            .is_some()
        {}
        output(child).await
    });
    ran.assert_failed(130, &["error: cancelled"]);
}

#[test]
fn while_reading_standard_input() {
    let ran = runtime().block_on(async {
        let mut child = Agcore::new().with("OPENAI_API_KEY", KEY).spawn(["chat"]);
        let _open = child.stdin.take().unwrap();
        interrupt(&child);
        output(child).await
    });
    // Before the program handles signals, the signal itself kills it, which shells report as 130 as well.
    assert!(
        ran.code() == Some(130) || ran.status.signal() == Some(Signal::INT.as_raw()),
        "{:?}",
        ran.status
    );
    ran.assert_clean();
}

#[test]
fn while_the_output_is_not_read() {
    let json = ["chat", "--output-format", "stream-json", "hi"];
    // Standard error may be the same pipe, as in `agcore … 2>&1 | less`.
    for with_errors in [false, true] {
        exits_while_the_output_is_not_read(&["chat", "hi"], with_errors, Signal::INT, 130);
        exits_while_the_output_is_not_read(&json, with_errors, Signal::INT, 130);
        exits_while_the_output_is_not_read(&["chat", "hi"], with_errors, Signal::TERM, 143);
    }
}

/// Runs a command whose output does not fit into the pipe, and sends it a signal until it exits.
fn exits_while_the_output_is_not_read(command: &[&str], with_errors: bool, signal: Signal, code: i32) {
    let long = |_: &RecordedRequest| Reply::text("many words ".repeat(20_000));
    let server = Server::start(MockOptions::new(), long);
    // The only thread of the command is blocked, so that none of its threads can receive the signal.
    let agcore = Agcore::talking_to(&server).with("TOKIO_WORKER_THREADS", "1");
    let (_reader, writer) = std::io::pipe().unwrap();
    runtime().block_on(async {
        let errors = with_errors.then(|| writer.try_clone().unwrap());
        let errors = errors.map_or_else(Stdio::piped, Stdio::from);
        let mut child = agcore.spawn_writing_to(writer.try_clone().unwrap(), errors, command);
        drop(child.stdin.take());
        timeout(LIMIT, fills(&writer))
            .await
            .expect("the answer did not fill the pipe in time");
        // The first Ctrl-C cancels the turn, which is blocked; another one exits. Two in quick succession may count as
        // one.
        let pressing = async {
            loop {
                send(&child, signal);
                if let Ok(status) = timeout(INTERVAL, child.wait()).await {
                    break status.unwrap();
                }
            }
        };
        let status = timeout(LIMIT, pressing)
            .await
            .expect("the program did not exit in time");
        assert_eq!(status.code(), Some(code), "{command:?} {with_errors}");
    });
}

/// Waits until nothing more fits into the pipe.
async fn fills(pipe: &PipeWriter) {
    let mut ticks = interval(Duration::from_millis(10));
    while poll(&mut [PollFd::new(pipe, PollFlags::OUT)], Some(&Timespec::default())).unwrap() > 0 {
        ticks.tick().await;
    }
}

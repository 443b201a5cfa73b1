//! Commands in the background.

use std::fs;

use rexpect::process::Signal;
use rustix::process::{Pid, test_kill_process};
use serde_json::json;

use super::{Step, create, in_background, last_messages, scripted, wait_for};
use crate::{
    person::{Person, QUESTION},
    support::{Agcore, LIMIT, Server},
};

/// Writes the ids of two processes to files, and runs until the file `go` exists.
const SERVER: &str = "echo ready; (echo $$ > inner; exec sleep 100000) & \
                      sh -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 100000' & \
                      while [ ! -e go ]; do sleep 0.05; done; echo bye";

fn read(id: u64, wait: u64) -> Step {
    Step::Call("shell_output", json!({"id": id, "wait": wait}))
}

fn stop(id: u64) -> Step {
    Step::Call("shell_stop", json!({"id": id}))
}

/// Waits until the process whose id is in the file `pid` has ended.
fn wait_for_end(agcore: &Agcore) {
    let path = agcore.directory.path().join("pid");
    wait_for(&path);
    let pid = fs::read_to_string(path).unwrap().trim().parse().unwrap();
    let pid = Pid::from_raw(pid).unwrap();
    let start = std::time::Instant::now();
    while runs(pid) {
        assert!(start.elapsed() < LIMIT, "the process {pid:?} still runs");
        std::thread::yield_now();
    }
}

/// Returns whether a process runs. One that has ended may be left as a zombie if no process waits for it.
fn runs(pid: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    match status {
        Ok(status) => !status.contains(") Z "),
        Err(_) => test_kill_process(pid).is_ok() && !cfg!(target_os = "linux"),
    }
}

#[test]
fn a_command_runs_in_the_background_and_is_read_and_stopped() {
    let server = scripted(&[
        in_background(SERVER),
        Step::Text("It is started."),
        read(1, 1),
        stop(1),
        stop(1),
        read(2, 0),
        Step::Text("It is stopped."),
    ]);
    let mut person = Person::at(&server, &[]);
    person.types("/jobs");
    person.sees("There are no background commands.");
    person.next();
    person.types("start the server");
    person.sees("Allow shell to run this command {\"background\":true}?");
    person.sees("echo ready; (echo $$");
    person.sees(QUESTION);
    person.types("y");
    person.sees("Command 1 runs in the background.");
    person.sees("It is started.");
    person.next();
    person.types("/status");
    person.sees("background commands");
    person.sees("1 running");
    person.next();
    // Reading and stopping need no answer.
    person.types("read and stop it");
    person.sees("It is stopped.");
    person.next();
    let sent = last_messages(&server);
    for text in [
        "running for ",
        "\\nready\\n",
        "stopped after ",
        "There is no new output.",
        "there is no background command 2 (none run)",
    ] {
        assert!(sent.contains(text), "{text}: {sent}");
    }
    wait_for_end(&person.agcore);
    person.types("/jobs");
    person.sees("1  stopped, ");
    person.sees("   ready");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn the_user_lists_and_stops_commands_and_the_model_learns_of_their_end() {
    let server = scripted(&[in_background(SERVER), Step::Text("It is started.")]);
    let mut person = Person::at(&server, &["--yes"]);
    person.types("start the server");
    person.sees("It is started.");
    person.next();
    wait_for(&person.agcore.directory.path().join("pid"));
    person.types("/jobs");
    person.sees("1  running, ");
    person.next();
    person.types("/jobs stop 7");
    person.sees("there is no background command 7");
    person.next();
    person.types("/jobs stop 1");
    person.sees("Command 1: stopped.");
    person.next();
    wait_for_end(&person.agcore);
    person.types("what now?");
    person.sees("Nothing is left to do.");
    person.next();
    let sent = last_messages(&server);
    assert!(
        sent.contains("<background-commands>\\nCommand 1 (`echo ready; (echo"),
        "{sent}"
    );
    assert!(sent.contains(") has ended: stopped after "), "{sent}");
    person.types("and now?");
    person.sees("Nothing is left to do.");
    person.next();
    assert_eq!(last_messages(&server).matches("has ended:").count(), 1);
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn the_end_of_a_command_comes_with_the_next_result() {
    let server = scripted(&[
        in_background("echo result; exit 3"),
        // The second call begins after the first command has ended.
        Step::Call("shell", json!({"command": "true"})),
        read(1, 600),
        in_background("true"),
        read(2, 600),
        Step::Text("Both have ended."),
    ]);
    let agcore = Agcore::talking_to(&server);
    agcore.run(["-p", "--yes", "go on"]).assert_success();
    let sent = last_messages(&server);
    assert!(
        sent.contains("exit code 3 after ") || sent.contains("has ended: exit code 3"),
        "{sent}"
    );
    assert!(sent.contains("exit code 0 after "), "{sent}");
}

#[test]
fn the_rules_for_the_shell_hold_in_the_background() {
    let server = scripted(&[in_background("rm -rf x"), in_background("touch made")]);
    let agcore = Agcore::talking_to(&server)
        .trusting()
        .with_file("agcore.toml", "[permissions]\ndeny = ['shell(rm *)']\n");
    agcore.run(["-p", "--yes", "go on"]);
    let sent = last_messages(&server);
    assert_eq!(sent.matches("permission denied: ").count(), 1, "{sent}");
    assert_eq!(sent.matches("runs in the background.").count(), 1, "{sent}");
    // Without an answer, nothing runs.
    let server = scripted(&[in_background("touch made")]);
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["-p", "go on"]);
    ran.assert_failed(6, &["shell was denied: it needs approval"]);
    assert!(agcore.files().is_empty(), "{:?}", agcore.files());
}

/// Starts a chat whose command runs in the background.
fn running(server: &Server) -> Person {
    let mut person = Person::chatting(Agcore::talking_to(server).at_home(), &["--yes"]);
    person.types("start the server");
    person.sees("It is started.");
    person.next();
    wait_for(&person.agcore.directory.path().join("pid"));
    person
}

fn started() -> Server {
    scripted(&[in_background(SERVER), Step::Text("It is started.")])
}

#[test]
fn commands_end_with_the_chat() {
    let server = started();
    let mut person = running(&server);
    person.presses('d');
    person.sees("1 background command was ended.");
    let agcore = person.leaves_with(0);
    wait_for_end(&agcore);
}

#[test]
fn commands_end_with_the_program_however_it_ends() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGKILL] {
        let server = started();
        let mut person = running(&server);
        person.session.process_mut().signal(signal).unwrap();
        person.session.exp_eof().unwrap();
        wait_for_end(&person.agcore);
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn a_resumed_session_learns_that_its_commands_are_gone() {
    let server = scripted(&[
        in_background(SERVER),
        Step::Text("It is started."),
        Step::Text("I see."),
        in_background("true"),
        Step::Text("Again."),
    ]);
    let mut person = running(&server);
    person.presses('d');
    let agcore = person.leaves_with(0);
    let ran = agcore.run(["-p", "--continue", "--yes", "go on"]);
    assert_eq!(ran.assert_success(), "I see.\n");
    let sent = last_messages(&server);
    let lost = "no longer runs: it has ended with the process that had started it";
    assert_eq!(sent.matches(lost).count(), 1, "{sent}");
    // Its number is not given to another command, and it is not reported again.
    agcore.run(["-p", "--continue", "--yes", "go on"]).assert_success();
    let sent = last_messages(&server);
    assert!(sent.contains("Command 2 runs in the background."), "{sent}");
    assert_eq!(sent.matches(lost).count(), 1, "{sent}");
    create(&agcore, "go");
}

//! Questions about changes of files, and calls that were running when the program was killed.

use std::fs;

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

/// Calls a tool, and quotes its result.
fn calling(tool: &'static str, arguments: Value) -> Server {
    Server::start(MockOptions::new(), move |request: &RecordedRequest| {
        match request.prompt().results().first() {
            None => Reply::tool_calls([ToolCall::new(tool, &arguments)]),
            Some((_, result)) => Reply::text(format!("Result: {result}")),
        }
    })
}

fn edit() -> Server {
    calling(
        "edit_file",
        json!({"path": "a.txt", "old": "two", "new": "2\nand more"}),
    )
}

fn file(agcore: &Agcore) -> String {
    fs::read_to_string(agcore.directory.path().join("a.txt")).unwrap()
}

#[test]
fn the_question_shows_the_difference_that_the_answer_allows() {
    let server = edit();
    let agcore = Agcore::talking_to(&server).with_file("a.txt", "one\ntwo\nthree\n");
    let mut person = Person::chatting(agcore, &[]);
    person.types("go");
    person.sees("Allow edit_file to make this change?");
    let shown = person.sees(QUESTION);
    let lines = [
        "--- a/a.txt",
        "+++ b/a.txt",
        "   one",
        "  -two",
        "  +2",
        "  +and more",
        "   three",
    ];
    for line in lines {
        assert!(shown.contains(line), "{line:?} is missing in {shown}");
    }
    person.types("y");
    let shown = person.sees("Result: a.txt was changed: 2 lines added, 1 removed.");
    assert!(!shown.contains("+and more"), "it was shown before: {shown}");
    person.next();
    assert_eq!(file(&person.agcore), "one\n2\nand more\nthree\n");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_change_that_was_not_asked_about_is_shown_afterwards() {
    let server = edit();
    let agcore = Agcore::talking_to(&server).with_file("a.txt", "one\ntwo\nthree\n");
    let mut person = Person::chatting(agcore, &["--permission-mode", "acceptEdits"]);
    person.types("go");
    check_shown(&mut person);
    person.next();
    person.presses('d');
    let agcore = person.leaves_with(0).with_file("a.txt", "one\ntwo\nthree\n");

    let arguments = ["-p", "go", "--permission-mode", "acceptEdits"];
    let mut person = Person::running(agcore, &arguments);
    check_shown(&mut person);
    person.leaves_with(0);
}

/// Sees the card of the call, and the change below it.
fn check_shown(person: &mut Person) {
    person.sees("✓ edit_file");
    let shown = person.sees("Result: a.txt was changed");
    for line in ["--- a/a.txt", "   one", "  -two", "  +2", "  +and more", "   three"] {
        assert!(shown.contains(line), "{line:?} is missing in {shown}");
    }
}

#[test]
fn a_file_that_changes_behind_the_question_is_not_written() {
    let server = edit();
    let agcore = Agcore::talking_to(&server).with_file("a.txt", "one\ntwo\n");
    let mut person = Person::chatting(agcore, &[]);
    person.types("go");
    person.sees(QUESTION);
    fs::write(person.agcore.directory.path().join("a.txt"), "zero\ntwo\n").unwrap();
    person.types("y");
    person.sees("Result: ");
    person.sees("has changed since the call was approved");
    person.next();
    assert_eq!(file(&person.agcore), "zero\ntwo\n");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_change_that_would_fail_is_not_asked_about() {
    for (content, reason) in [
        (None, "Result: cannot find a.txt: it does not exist"),
        (Some("one\n"), "Result: a.txt does not contain old"),
        (Some("two two\n"), "Result: a.txt contains old 2 times"),
    ] {
        let server = edit();
        let agcore = Agcore::talking_to(&server);
        let agcore = match content {
            Some(content) => agcore.with_file("a.txt", content),
            None => agcore,
        };
        let mut person = Person::chatting(agcore, &[]);
        person.types("go");
        let shown = person.sees(reason);
        assert!(!shown.contains("Allow"), "{shown}");
        person.next();
        person.presses('d');
        person.leaves_with(0);
    }
}

#[test]
fn a_page_or_a_command_that_is_refused_is_not_asked_about() {
    for (tool, arguments, reason) in [
        (
            "fetch_url",
            json!({"url": "http://169.254.169.254/"}),
            "is on a private or local address",
        ),
        (
            "fetch_url",
            json!({"url": "ftp://example.org/"}),
            "does not begin with http:// or https://",
        ),
        (
            "shell",
            json!({"command": "cat ~/state/agcore/secrets.json"}),
            "belongs to agcore",
        ),
    ] {
        let server = calling(tool, arguments);
        let mut person = Person::chatting(Agcore::talking_to(&server).at_home(), &[]);
        person.types("go");
        let shown = person.sees("Result: ") + &person.sees(reason);
        assert!(!shown.contains("Allow"), "{shown}");
        person.next();
        person.presses('d');
        person.leaves_with(0);
    }
}

#[test]
fn a_command_that_fails_is_not_marked_as_a_success() {
    let server = calling("shell", json!({"command": "no-such-command-here"}));
    let mut person = Person::chatting(Agcore::talking_to(&server), &["--yes"]);
    person.types("go");
    person.sees("✗ shell {\"command\"");
    person.sees("exit code 127");
    person.next();
    // Ctrl-O shows the whole call.
    person.presses('o');
    person.sees("✗ shell, ");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn an_answer_for_the_shell_covers_the_same_command_only() {
    let server = calling("shell", json!({"command": "echo hi"}));
    let mut person = Person::chatting(Agcore::talking_to(&server), &[]);
    person.types("go");
    person.sees("Allow shell to run this command?");
    person.sees("    echo hi\r\n");
    let choices = person.sees(QUESTION);
    assert!(choices.contains("run shell with the same arguments until"), "{choices}");
    person.types("s");
    person.sees("Result: exit code 0");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[cfg(feature = "sqlite")]
fn log(agcore: &Agcore) -> String {
    fs::read_to_string(agcore.directory.path().join("log")).unwrap()
}

/// Lets the model run a command that ends when there is a file.
#[cfg(feature = "sqlite")]
fn running() -> Server {
    let command = "echo started >> log; while [ ! -e stop ]; do sleep 0.05; done";
    calling("shell", json!({ "command": command }))
}

/// Kills the program while the command runs.
#[cfg(feature = "sqlite")]
fn killed(server: &Server) -> Agcore {
    let agcore = Agcore::talking_to(server).at_home();
    let mut person = Person::chatting(agcore, &["--yes"]);
    person.types("go");
    // The file shows that the command runs.
    let log = person.agcore.directory.path().join("log");
    while !log.exists() {
        std::thread::yield_now();
    }
    person
        .session
        .process_mut()
        .kill(rexpect::process::Signal::SIGKILL)
        .unwrap();
    fs::write(person.agcore.directory.path().join("stop"), "").unwrap();
    person.agcore
}

/// Continues the chat, up to the question about the call that was running.
#[cfg(feature = "sqlite")]
fn asked_again(agcore: Agcore) -> Person {
    let mut person = Person::running(agcore, &["chat", "--continue"]);
    person.sees("The last turn was interrupted before it ended.");
    person.sees("It is not known whether shell {\"command\":");
    person.sees("Continue the turn? [y]es, [n]o: ");
    person.types("y");
    // The question names the call, and is wrapped.
    person.sees("shell {\"command\":");
    person.sees("was running when the program ended,");
    person.sees("Run it again?");
    person.sees("[y]es [n]o: ");
    person
}

#[cfg(feature = "sqlite")]
#[test]
fn a_call_that_was_running_at_a_kill_is_reported_and_not_repeated() {
    let server = running();
    let mut person = asked_again(killed(&server));
    person.types("n");
    person.sees("Result: ");
    person.next();
    assert_eq!(log(&person.agcore), "started\n");
    person.presses('d');
    person.leaves_with(0);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_call_that_was_running_at_a_kill_runs_again_after_one_question() {
    let server = running();
    let mut person = asked_again(killed(&server));
    person.types("y");
    let shown = person.sees("Result: exit code 0");
    assert!(!shown.contains("Allow"), "{shown}");
    person.next();
    assert_eq!(log(&person.agcore), "started\nstarted\n");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn shift_tab_changes_the_permission_mode() {
    let server = edit();
    let agcore = Agcore::talking_to(&server).with_file("a.txt", "two\n");
    let mut person = Person::chatting(agcore, &[]);
    person.keys("half");
    person.sees("half");
    person.keys("\u{1b}[Z");
    person.sees("Permission mode: acceptEdits");
    // The heading is not repeated.
    assert!(!person.sees("> half").contains("you"));
    person.types(" done");
    // The change is made without a question.
    person.sees("Result: a.txt was changed");
    person.next();
    fs::write(person.agcore.directory.path().join("a.txt"), "two\n").unwrap();
    person.keys("\u{1b}[Z");
    person.sees("Permission mode: plan");
    person.sees("> ");
    person.keys("\u{1b}[Z");
    person.sees("Permission mode: default");
    person.sees("> ");
    for mode in ["plan", "default"] {
        person.types("/plan");
        person.sees(&format!("Permission mode: {mode}"));
        person.next();
    }
    // The conversation is still there.
    person.types("/undo");
    person.sees("from \"half done\" on.");
    person.next();
    person.types("again");
    person.sees("Allow edit_file to make this change?");
    person.sees(QUESTION);
    person.types("n");
    person.sees("Result: ");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

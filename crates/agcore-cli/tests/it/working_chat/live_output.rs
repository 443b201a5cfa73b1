//! The output of a command while it runs.

use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time::timeout,
};

use super::{Step, create, scripted, shell};
use crate::{
    machine::stream,
    person::Person,
    support::{Agcore, LIMIT, RunOutput, runtime},
};

/// Writes nine lines, and waits for the file `go`.
const NINE_LINES: &str = "for i in 1 2 3 4 5 6 7 8 9; do printf 'line %s 早\\033[31m\\n' $i; done; \
                          while [ ! -e go ]; do sleep 0.05; done; echo end";

#[test]
fn the_last_lines_are_shown_while_a_command_runs() {
    let server = scripted(&[shell(NINE_LINES), Step::Text("All fine.")]);
    let mut person = Person::at(&server, &["--yes"]);
    person.types("go on");
    person.sees("│ … 4 lines above");
    // Escape codes of the command have no effect.
    person.sees("│ line 5 早\u{fffd}[31m");
    person.sees("│ line 9 早\u{fffd}[31m");
    create(&person.agcore, "go");
    let shown = person.sees("✓ shell {\"command\":");
    assert!(!shown.contains("line 1 "), "{shown}");
    person.sees("exit code 0");
    person.sees("All fine.");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn the_last_lines_fit_a_narrow_window() {
    let command = format!("echo {}; {NINE_LINES}", "长".repeat(60));
    let command = command
        .replace("echo end", "true")
        .replace("line %s", "line %s is so wide that it does not fit");
    let server = scripted(&[shell(&command)]);
    let mut person = Person::at(&server, &["--yes"]);
    let size = Winsize {
        ws_row: 30,
        ws_col: 40,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(person.session.process().get_file_handle().unwrap(), size).unwrap();
    person.types("go on");
    person.sees("│ … 5 lines above");
    person.sees("│ line 9 is");
    let rest = person.sees("…");
    assert!(rest.chars().count() < 40, "{rest}");
    create(&person.agcore, "go");
    person.sees("✓ shell");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn programs_get_the_last_lines_only_on_request() {
    for is_partial in [true, false] {
        let server = scripted(&[shell(NINE_LINES)]);
        let agcore = Agcore::talking_to(&server);
        if !is_partial {
            create(&agcore, "go");
        }
        let mut arguments = vec!["chat", "--json", "--yes", "go on"];
        arguments.extend(is_partial.then_some("--include-partial-messages"));
        let mut stdout = String::new();
        let ran: RunOutput = runtime().block_on(async {
            let mut child = agcore.spawn(arguments);
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            while let Some(line) = timeout(LIMIT, lines.next_line())
                .await
                .expect("no line arrived in time")
                .unwrap()
            {
                if line.contains("tool_output_delta") {
                    create(&agcore, "go");
                }
                stdout += &(line + "\n");
            }
            timeout(LIMIT, child.wait_with_output()).await.unwrap().unwrap().into()
        });
        let ran = RunOutput { stdout, ..ran };
        ran.assert_success();
        let lines = stream(&ran);
        let mut deltas = lines.iter().filter(|line| line["type"] == "tool_output_delta");
        match (deltas.next(), is_partial) {
            (Some(first), true) => {
                let text = first["text"].as_str().unwrap();
                assert!(text.starts_with("line 5") && text.lines().count() == 5, "{first}");
            }
            (first, is_partial) => assert!(first.is_none() && !is_partial, "{first:?}"),
        }
        // Nothing is drawn on standard error.
        assert!(
            !ran.stderr.contains('│') && !ran.stderr.contains("…  line"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_file_gets_the_result_only() {
    let server = scripted(&[
        shell("echo one; sleep 0.5; echo two"),
        Step::Call("update_todos", json!({"todos": []})),
    ]);
    let ran = Agcore::talking_to(&server).run(["-p", "--yes", "go on"]);
    ran.assert_success();
    assert_eq!(ran.stderr.matches("one").count(), 3, "{}", ran.stderr);
    assert!(!ran.stderr.contains("  … one"), "{}", ran.stderr);
}

//! Output on a terminal: Markdown, tool cards, and progress.

use std::time::Duration;

use agcore_testkit::mock_server::{
    Answer, Chunking, Fault, Gate, MockOptions, Point, RecordedRequest, Reply, ToolCall,
};
use rexpect::session::{PtySession, spawn_with_options};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;

use crate::{
    person::{Person, bytes_as_chars, limit},
    support::{Agcore, Server},
};

/// Starts a command in a window of this width, with unfiltered output.
fn raw(agcore: &Agcore, arguments: &[&str], columns: u16) -> PtySession {
    let script = format!("stty rows 30 cols {columns} && exec \"$0\" \"$@\"");
    let program = agcore.command();
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &script]).arg(program.get_program()).args(arguments);
    command.env_clear().current_dir(agcore.directory.path());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("TERM", "xterm-256color");
    spawn_with_options(command, limit()).unwrap()
}

fn read_to_end(mut session: PtySession) -> String {
    let read = session.exp_eof().unwrap();
    let bytes: Vec<u8> = read.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn formats_answers_as_markdown() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("markdown");
    let shown = person.sees("The end.");
    for line in [
        "A heading\r\n\r\nText with strong, emphasized and code words, and a link",
        "1. one\r\n2. two\r\n   • nested, with 中文 and 日本語\r\n   • and an emoji: 🦀\r\n",
        "│ A quotation\r\n│ over two lines.\r\n\r\n─── rust\r\nfn main() {\r\n",
        "city    weather\r\n──────  ───────\r\nLisbon  sunny\r\n東京    rain\r\n",
    ] {
        assert!(shown.contains(line), "{line:?} is missing in {shown}");
    }
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn never_redraws_a_line() {
    let text = format!("# Head\n\n{}\n\n- **bold** item\n", "many words in a line ".repeat(8));
    let answer = move |_: &RecordedRequest| Reply::text(text.clone()).with_chunking(Chunking::Chars(3));
    let server = Server::start(MockOptions::new(), answer);
    let shown = read_to_end(raw(&Agcore::talking_to(&server), &["-p", "hi"], 40));
    let answer = shown.split("tokens in").next().unwrap();
    // The cursor never moves up. At most the empty line that showed the wait is erased.
    assert!(
        !answer.contains("\u{1b}[1A") && !answer.contains("\u{1b}[2J"),
        "{answer:?}"
    );
    assert_eq!(answer.matches("Head").count(), 1);
    assert_eq!(answer.matches("many").count(), 8, "{answer:?}");
    assert!(answer.contains("\u{1b}[1mbold\u{1b}[0m"), "{answer:?}");
}

#[test]
fn writes_no_escape_codes_without_colors() {
    let server = Server::playground();
    for (variables, arguments) in [
        (vec![("NO_COLOR", "1")], vec!["-p", "markdown"]),
        (vec![], vec!["-p", "markdown", "--no-colour"]),
        (vec![], vec!["--no-color", "-p", "some arithmetic"]),
    ] {
        let mut agcore = Agcore::talking_to(&server);
        for (name, value) in variables {
            agcore = agcore.with(name, value);
        }
        let shown = read_to_end(raw(&agcore, &arguments, 80));
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        assert!(shown.contains("**"), "the marks are missing: {shown:?}");
    }
}

#[test]
fn pipes_receive_unformatted_markdown() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "markdown"]);
    assert!(
        ran.assert_success()
            .contains("Text with **strong**, *emphasized* and `code` words")
    );
}

#[test]
fn wraps_wide_characters_and_follows_the_window_width() {
    let chinese = |_: &RecordedRequest| Reply::text("一二三四五六七八九十".repeat(4));
    let server = Server::start(MockOptions::new(), chinese);
    let mut person = Person::at(&server, &[]);
    let resize = |person: &mut Person, columns| {
        let size = Winsize {
            ws_row: 30,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(person.session.process().get_file_handle().unwrap(), size).unwrap();
    };
    resize(&mut person, 20);
    person.types("go");
    person.sees("一二三四五六七八九十\r\n一二三四五六七八九十\r\n");
    person.next();
    resize(&mut person, 40);
    person.types("go");
    person.sees("一二三四五六七八九十一二三四五六七八九十\r\n");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn concurrent_tools_have_a_card_each() {
    let reply = |request: &RecordedRequest| {
        if request.prompt().results().is_empty() {
            let add = |a: u8| ToolCall::new("arithmetic", &json!({"operation": "add", "a": a, "b": 1}));
            Reply::answer(
                Answer::new()
                    .with_call(add(1))
                    .with_call(add(2))
                    .with_call(ToolCall::new("gone", &json!({}))),
            )
        } else {
            Reply::text("Done.")
        }
    };
    let server = Server::start(MockOptions::new(), reply);
    let mut person = Person::at(&server, &[]);
    person.types("go");
    let shown = person.sees("Done.");
    for start in [
        "✓ arithmetic {\"operation\":\"add\",\"a\":1,\"b\":1} ",
        "✓ arithmetic {\"operation\":\"add\",\"a\":2,\"b\":1} ",
        "✗ gone ",
    ] {
        let card = shown.lines().find(|line| line.contains(start));
        let card = card.unwrap_or_else(|| panic!("{start:?} is missing in {shown}"));
        assert!(!card.contains(" 0 ms "), "{card}");
    }
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn shows_progress_and_erases_it() {
    let slow = |_: &RecordedRequest| Reply::text("late").with_pace(Duration::from_millis(1500));
    let server = Server::start(MockOptions::new(), slow);
    let agcore = Agcore::talking_to(&server);
    let mut session = raw(&agcore, &["-p", "hi"], 80);
    session.exp_string(&bytes_as_chars("waiting for the model")).unwrap();
    let rest = read_to_end(session);
    let (before, _) = rest.split_once("late").unwrap();
    assert!(
        // The rest of a word is waited for behind the cursor.
        before.ends_with("\r\u{1b}[J") || before.ends_with("\u{1b}[K"),
        "the progress was not erased: {before:?}"
    );
}

#[test]
fn a_stall_within_an_answer_is_shown_and_erased() {
    let gate = Gate::new();
    let opened = gate.clone();
    let text = format!("{}the end", "word ".repeat(30));
    let stalling =
        move |_: &RecordedRequest| Reply::text(text.clone()).with_fault(Fault::stall(Point::AfterEvents(6), &gate));
    let server = Server::start(MockOptions::new(), stalling);
    let agcore = Agcore::talking_to(&server);
    let mut session = raw(&agcore, &["-p", "hi"], 80);
    // The wait for the first part is shown as well, on a line of its own.
    session.exp_string("word").unwrap();
    session.exp_string("\u{1b}7").unwrap();
    session.exp_string(" 2 s").unwrap();
    opened.release();
    let rest = read_to_end(session);
    let (before, _) = rest.split_once("word").unwrap();
    assert!(
        before.contains("\u{1b}8\u{1b}[K"),
        "the stall was not erased: {before:?}"
    );

    // What a program reads has only the answer.
    let text = |_: &RecordedRequest| Reply::text("early late").with_pace(Duration::from_millis(2_100));
    let server = Server::start(MockOptions::new(), text);
    let script = "\"$0\" -p hi > answer.txt; cat answer.txt";
    let mut person = Person::scripting(Agcore::talking_to(&server), script);
    person.sees("tokens in");
    person.sees("early late");
    person.leaves_with(0);
}

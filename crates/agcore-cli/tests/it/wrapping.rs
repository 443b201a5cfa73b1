//! Text for people fits the window: lines are broken between words.

use agcore_testkit::mock_server::{Answer, MockOptions, RecordedRequest, Reply, ToolCall};
use rexpect::session::{PtySession, spawn_with_options};
use serde_json::json;

use crate::{
    person::{QUESTION, bytes_as_chars, limit},
    support::{Agcore, Server},
};

const WIDTHS: [u16; 3] = [40, 80, 100];

/// Starts the program in a window of this width, without colors.
fn at_width(agcore: &Agcore, arguments: &[&str], columns: u16) -> PtySession {
    let script = format!("stty rows 30 cols {columns} && exec \"$0\" \"$@\"");
    let program = agcore.command();
    let mut command = std::process::Command::new("/bin/sh");
    command
        .args(["-c", &script])
        .arg(program.get_program())
        .args(agcore.arguments(arguments));
    command.env_clear().current_dir(agcore.directory.path());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("TERM", "xterm-256color").env("NO_COLOR", "1");
    command.env("AGCORE_STATUS", "off");
    spawn_with_options(command, limit().strip_ansi_escape_codes(true)).unwrap()
}

fn decoded(read: &str) -> String {
    let bytes: Vec<u8> = read.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
    String::from_utf8(bytes).unwrap()
}

fn shown(agcore: &Agcore, arguments: &[&str], columns: u16) -> String {
    decoded(&at_width(agcore, arguments, columns).exp_eof().unwrap())
}

/// The columns of a text: Chinese characters take two.
fn columns(text: &str) -> usize {
    text.chars()
        .map(|c| if ('\u{3000}'..='\u{ffef}').contains(&c) { 2 } else { 1 })
        .sum()
}

/// Asserts that no line is longer than the window, except for a single word that does not fit, and that these words are
/// not broken.
#[track_caller]
fn assert_fits(text: &str, width: u16, words: &[&str]) {
    for line in text.lines() {
        let line = line.trim_end();
        let is_single_word = line.split_whitespace().count() <= 1;
        assert!(
            columns(line) <= usize::from(width) || is_single_word,
            "{width}: {line:?} in\n{text}"
        );
    }
    for word in words {
        assert!(text.contains(word), "{width}: {word:?} is broken in\n{text}");
    }
}

#[test]
fn errors() {
    for width in WIDTHS {
        let text = shown(&Agcore::new(), &["-p", "hi"], width);
        let words = [
            "openai:",
            "missing",
            "OPENAI_API_KEY",
            "AGCORE_API_KEY",
            "environment",
            "trusted",
        ];
        assert_fits(&text, width, &words);
        assert_eq!(text.matches("api_key").count(), 0, "{text}");
        let agcore = Agcore::new()
            .trusting()
            .with_file("agcore.toml", "provider = 'openai'\nmodle = 'gpt-5-mini'\n");
        let text = shown(&agcore, &["-p", "hi"], width);
        assert_fits(&text, width, &["agcore.toml:2:1:", "unknown", "setting", "`model`"]);
    }
}

#[test]
fn help_pages() {
    for width in [80, 100] {
        for page in [
            &["--help"] as &[&str],
            &["chat", "--help"],
            &["demo", "--help"],
            &["doctor", "--help"],
            &["tools", "call", "--help"],
            &["inspect", "case", "--help"],
            &["schema", "--help"],
        ] {
            let text = shown(&Agcore::new(), page, width);
            assert_fits(&text, width, &[]);
            assert_no_stumps(&text, width);
        }
    }
}

/// Asserts that no line of a paragraph ends early although the first word of the next line would fit.
#[track_caller]
fn assert_no_stumps(text: &str, width: u16) {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    for pair in lines.windows(2) {
        // Only paragraphs: lists, examples and tables are indented, and titles end in a colon.
        let is_paragraph = |line: &str| line.starts_with(|c: char| c.is_alphanumeric()) && !line.ends_with(':');
        if !is_paragraph(pair[0]) || !is_paragraph(pair[1]) {
            continue;
        }
        let next = pair[1].split(' ').next().unwrap_or_default();
        let joined = columns(pair[0]) + 1 + columns(next);
        assert!(
            joined > usize::from(width),
            "{width}: {:?} ends early in\n{text}",
            pair[0]
        );
    }
}

#[test]
fn lists_and_the_demo() {
    let server = Server::playground();
    for width in WIDTHS {
        let text = shown(&Agcore::new(), &["tools", "list"], width);
        assert_fits(&text, width, &["save_note:", "approval:", "permissions"]);
        let text = shown(&Agcore::new(), &["demo"], width);
        assert_fits(
            &text,
            width,
            &["script,", "computes", "requests", "receives.", "network."],
        );
        // In a narrower window, the server's address fits on no line.
        if width >= 80 {
            let text = shown(&Agcore::talking_to(&server), &["doctor"], width);
            assert_fits(&text, width, &[]);
        }
    }
}

/// Types a line at the prompt, where Enter is a carriage return.
fn enter(session: &mut PtySession, line: &str) {
    session.send(&format!("{line}\r")).unwrap();
    session.flush().unwrap();
}

#[test]
fn in_a_chat() {
    let call = |request: &RecordedRequest| match request.prompt().results().is_empty() {
        true => {
            let text = "remember to buy some milk and a loaf of bread, 以及两个苹果, on the way home tomorrow evening";
            Reply::answer(Answer::new().with_call(ToolCall::new("save_note", &json!({"text": text}))))
        }
        false => Reply::text("Done."),
    };
    let server = Server::start(MockOptions::new(), call);
    for width in WIDTHS {
        let agcore = Agcore::talking_to(&server);
        let mut session = at_width(&agcore, &["chat"], width);
        let see = |session: &mut PtySession, text: &str| decoded(&session.exp_string(&bytes_as_chars(text)).unwrap());
        see(&mut session, "> ");
        // While a command is typed, the line and the menu below it are drawn again and again.
        let output = |session: &mut PtySession, line: &str| {
            enter(session, line);
            let text = see(session, "you\r\n");
            let (_, last) = text.rsplit_once("> /").unwrap();
            let (_, output) = last.split_once('\n').unwrap();
            output.to_owned()
        };
        let words = ["another", "answers", "whether", "window", "turn"];
        assert_fits(&output(&mut session, "/help"), width, &words);
        assert_fits(&output(&mut session, "/tools"), width, &["arithmetic:", "permissions"]);
        let words = ["approval:", "permissions"];
        assert_fits(&output(&mut session, "/permissions"), width, &words);
        let words = ["unknown", "command", "`/model`?", "commands"];
        assert_fits(&output(&mut session, "/modle x"), width, &words);
        enter(&mut session, "go");
        let text = see(&mut session, QUESTION);
        assert_fits(
            &text,
            width,
            &[
                "remember",
                "tomorrow",
                "evening\"}?",
                "arguments",
                "[s]ession",
                "arguments",
            ],
        );
        enter(&mut session, "n");
        see(&mut session, "> ");
        session.send_control('d').unwrap();
        session.exp_eof().unwrap();
    }
}

#[test]
fn the_question_about_trust() {
    let server = Server::playground();
    for width in WIDTHS {
        let agcore = Agcore::talking_to(&server)
            .at_home()
            .with_file("AGENTS.md", "Use tabs.")
            .with_file("agcore.toml", "model = 'm'\nbase_url = 'http://localhost:1/v1'\n");
        let mut session = at_width(&agcore, &["trust"], width);
        let question = decoded(&session.exp_string("[n]o: ").unwrap());
        assert_fits(&question, width, &["instructions", "http://localhost:1/v1", "ignored."]);
        enter(&mut session, "y");
        let result = decoded(&session.exp_eof().unwrap());
        assert_fits(&result, width, &["trusted.", "change,", "again."]);
    }
}

#[test]
fn checks_and_answers_with_long_paths() {
    let server = Server::start(MockOptions::new(), |_: &RecordedRequest| {
        Reply::tool_calls([ToolCall::new("save_note", &json!({"text": "milk"}))])
    });
    let agcore = Agcore::talking_to(&server).at_home();
    let state = agcore.directory.path().join("a-long-folder-name/for-the-state");
    let agcore = agcore.with("XDG_STATE_HOME", state.to_str().unwrap());
    for width in [40, 60] {
        let text = shown(&agcore, &["doctor"], width);
        // A URL is kept in one piece, so that it can be copied.
        let text: String = text
            .split_inclusive('\n')
            .filter(|line| !line.contains("http://"))
            .collect();
        let parts = ["a-long-folder-name/", "  for-the-state/", "agcore.db"];
        assert_fits(&text, width, &parts);
        let mut session = at_width(&agcore, &["chat", "go"], width);
        let question = decoded(&session.exp_string("[n]o: ").unwrap());
        assert_fits(
            &question,
            width,
            &["a-long-folder-name/", "for-the-state/", "grants.json)"],
        );
        enter(&mut session, "n");
        session.send_control('c').unwrap();
    }
}

#[test]
fn the_settings_with_long_paths() {
    let agcore = Agcore::new().at_home();
    let own = agcore
        .settings_directory()
        .join("a-directory-with-a-long-name/for-settings");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("agcore.toml"), "model = 'm'\n").unwrap();
    let agcore = agcore.with("AGCORE_CONFIG_DIR", own.to_str().unwrap());
    for width in WIDTHS {
        let text = shown(&agcore, &["config"], width);
        let parts = [
            "a-directory-with-a-long-name/",
            "for-settings/",
            "agcore.toml",
            "timeouts.first_byte",
        ];
        assert_fits(&text, width, &parts);
    }
}

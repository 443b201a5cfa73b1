//! Names and commands by others reach the terminal without control characters, and whole.

use std::{fs, io::Read as _};

use rexpect::process::PtyProcess;

use crate::support::{Agcore, Server};

/// Sets the title of the terminal, its clipboard and colors, in seven and eight bits, and reverses the writing.
const HOSTILE: &str = "e\u{1b}]0;TITLE\u{7}\u{1b}]52;c;YQ==\u{7}\u{9b}2J\u{1b}[2J\u{8}\u{202e}";

/// Runs a command at a pseudoterminal and returns the bytes that it writes.
fn bytes(agcore: &Agcore, arguments: &[&str]) -> Vec<u8> {
    let mut command = agcore.command();
    command
        .args(arguments)
        .env("TERM", "xterm-256color")
        .env("NO_COLOR", "1");
    let process = PtyProcess::new(command).unwrap();
    let mut terminal = process.get_file_handle().unwrap();
    let (mut written, mut buffer) = (Vec::new(), [0; 4096]);
    // The end of a terminal whose program has ended is an error on Linux.
    while let Ok(count) = terminal.read(&mut buffer) {
        if count == 0 {
            break;
        }
        written.extend_from_slice(&buffer[..count]);
    }
    written
}

fn hostile(server: &Server) -> Agcore {
    let agcore = Agcore::talking_to(server).at_home().trusting();
    let name = serde_json::to_string(HOSTILE).unwrap();
    let servers =
        format!(r#"{{"mcpServers": {{{name}: {{"command": "false", "args": [{name}], "disabled": true}}}}}}"#);
    let folder = agcore.directory.path();
    for directory in [".agcore/agents", ".agcore/commands", ".agcore/skills/a"] {
        fs::create_dir_all(folder.join(directory)).unwrap();
    }
    let front = format!("---\nname: a\ndescription: {name}\n---\nText {HOSTILE}\n");
    agcore
        .with_file(".mcp.json", &servers)
        .with_file(".agcore/agents/a.md", &front)
        .with_file(".agcore/skills/a/SKILL.md", &front)
        .with_file(&format!(".agcore/commands/{}.md", HOSTILE.replace('/', "")), &front)
        .with_file(&format!("{}.txt", HOSTILE.replace('/', "")), "x")
        .with_file(
            &format!("{HOSTILE}.flow.yaml").replace('/', ""),
            &format!("{name}: 1\n"),
        )
        .with_file("AGENTS.md", HOSTILE)
        .with_file("agcore.toml", &format!("[[hooks.Stop]]\ncommand = {name}\n"))
}

#[test]
fn no_command_writes_control_characters_of_others() {
    let server = Server::playground();
    let agcore = hostile(&server);
    agcore.run(["-p", HOSTILE, "-n", HOSTILE]);
    let flow = format!("{HOSTILE}.flow.yaml").replace('/', "");
    let option = format!("--{HOSTILE}");
    let commands: [&[&str]; 18] = [
        &["flow", "check", &flow],
        &["flow", "run", &flow, "x"],
        &["knowledge", "add", &option],
        &[&option],
        &["mcp", "list", "--trust-folder"],
        &["mcp", "doctor", "--trust-folder"],
        &["agents", "list", "--trust-folder"],
        &["skills", "list", "--trust-folder"],
        &["tools", "list"],
        &["tools", "call", "list_files", "{}"],
        &["sessions", "list"],
        &["approvals", "list"],
        &["config", "--trust-folder"],
        &["doctor", "--trust-folder"],
        &["models"],
        &["trust", "--yes"],
        &["trust", "--list"],
        &["-p", "hi", "--model", HOSTILE],
    ];
    for command in commands {
        let written = String::from_utf8_lossy(&bytes(&agcore, command)).into_owned();
        for forbidden in ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\u{9b}", "\u{8}", "\u{202e}"] {
            assert!(
                !written.contains(forbidden),
                "{command:?} wrote {forbidden:?}: {written:?}"
            );
        }
    }
}

#[test]
fn the_question_about_trust_shows_every_line_that_will_run() {
    let agcore = Agcore::new().at_home();
    let hidden = "harmless ".repeat(40);
    let settings = format!(
        "[[hooks.UserPromptSubmit]]\ncommand = \"true # format the code; see\\ntouch PWN\"\n\
         [[hooks.Stop]]\ncommand = \"\"\": {hidden}\ntouch PWN2\n: {hidden}\"\"\"\n"
    );
    let agcore = agcore.with_file("agcore.toml", &settings);
    let ran = agcore.run(["trust"]);
    assert!(
        ran.stderr
            .contains("UserPromptSubmit `true # format the code; see\n        │ touch PWN`\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains(&format!("{hidden}\n        │ touch PWN2\n        │ : {hidden}`")),
        "{}",
        ran.stderr
    );
}

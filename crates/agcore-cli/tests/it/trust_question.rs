//! The question whether to trust a folder.

use std::fs;

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, KEY, Server},
};

fn project(server: &Server) -> Agcore {
    Agcore::new()
        .at_home()
        .with("OPENAI_API_KEY", KEY)
        .with_file(
            "agcore.toml",
            &format!(
                "base_url = '{}'\napi_key = 'sk-of-file'\n[permissions]\nallow = ['save_note']\n",
                server.base_url()
            ),
        )
        .with_file(".env", "OPENAI_MODEL=of-dotenv\nOTHER=1\n")
        .with_file("AGENTS.md", "Use tabs.")
        .with_file(
            ".mcp.json",
            r#"{"mcpServers": {"x": {"command": "no-such-command", "args": ["-y"]}}}"#,
        )
}

#[test]
fn a_chat_asks_once_and_shows_what_the_files_do() {
    let server = Server::playground();
    let mut person = Person::running(project(&server), &["chat"]);
    person.sees("The files of this folder change what the program does:");
    for text in [
        "  .env: not used: OTHER\r\n",
        "  AGENTS.md: 9 bytes, added to the instructions\r\n",
        "  agcore.toml\r\n    api_key = (hidden)\r\n",
        "    permissions = allow \"save_note\"\r\n",
        "  .mcp.json\r\n    x = `no-such-command -y`\r\n",
        "    base_url = http://127.0.0.1:",
        "  .env\r\n    OPENAI_MODEL = of-dotenv\r\n",
    ] {
        person.sees(text);
    }
    person.sees(QUESTION);
    person.types("perhaps");
    person.sees(QUESTION);
    person.types("y");
    person.sees("Model: of-dotenv (openai at http://127.0.0.1:");
    person.sees("Instructions: AGENTS.md");
    person.next();
    person.types("save it");
    person.sees("returned: Saved to agcore-notes.md.");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);
    assert!(server.requests()[0].json().to_string().contains("Use tabs."));

    let mut person = Person::running(agcore, &["chat"]);
    let shown = person.sees("Ctrl-D exits.");
    assert!(!shown.contains("Trust this folder?"), "{shown}");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0).with_file("AGENTS.md", "Use spaces.");

    let mut person = Person::running(agcore, &["chat"]);
    person.sees("The files of this folder have changed since you trusted it (AGENTS.md was changed):");
    person.sees(QUESTION);
    person.presses('c');
    person.sees("error: cancelled");
    person.leaves_with(130);
}

#[test]
fn the_chat_goes_on_without_the_files() {
    let (server, other) = (Server::playground(), Server::playground());
    let agcore = project(&other).with("OPENAI_BASE_URL", &server.base_url());
    let mut person = Person::running(agcore, &["chat"]);
    person.sees(QUESTION);
    person.types("n");
    let shown = person.sees("Not used: AGENTS.md (this folder is not trusted)");
    assert!(
        shown.contains("Model: gpt-5-mini") && !shown.contains("warning"),
        "{shown}"
    );
    person.next();
    person.types("hi");
    person.sees("messages in this request");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);
    assert!(other.requests().is_empty() && server.requests().len() == 1);
    assert!(!agcore.state("trust.json").exists());
}

#[test]
fn settings_that_need_no_trust_are_listed_apart() {
    let server = Server::playground();
    let files = || {
        Agcore::talking_to(&server)
            .at_home()
            .with_file(
                "agcore.toml",
                "model = 'm'\nhistory = false\n[permissions]\nallow = ['save_note']\n",
            )
            .with_file(".env", "OPENAI_PROJECT=x\nAGCORE_SYSTEM=s\n")
    };
    let description = "  .env: not used: OPENAI_PROJECT\nUsed even without trust:\n  agcore.toml\n    history = false\n\
                       Used only with trust:\n  .env\n    AGCORE_SYSTEM = s\n  agcore.toml\n    permissions = allow \"save_note\"\n    model = m\n";
    for (command, scope) in [("chat", " in this run"), ("trust", "")] {
        let mut person = Person::running(files(), &[command]);
        let shown = person.sees(QUESTION).replace('\r', "");
        let end = format!("{description}Without trust, the settings of the last list are ignored{scope}.\n");
        assert!(shown.contains(&end), "{shown}");
        person.presses('c');
        person.leaves_with(130);
    }
    let agcore = files();
    let ran = agcore.run(["trust", "--yes"]);
    let shown = ran.assert_success();
    assert!(shown.starts_with(description), "{shown}");
}

#[test]
fn a_single_message_at_a_terminal_asks_too() {
    let server = Server::playground();
    let mut person = Person::running(project(&server), &["-p", "hi"]);
    person.sees(QUESTION);
    person.types("yes");
    person.sees("messages in this request");
    let agcore = person.leaves_with(0);
    assert!(agcore.state("trust.json").exists());
}

#[test]
fn files_that_change_behind_the_question_are_not_used() {
    let server = Server::playground();
    let mut person = Person::running(project(&server), &["chat"]);
    person.sees(QUESTION);
    let directory = person.agcore.directory.path().to_owned();
    fs::write(directory.join("AGENTS.md"), "Changed behind the question.").unwrap();
    fs::write(directory.join(".env"), "OPENAI_BASE_URL=http://127.0.0.1:1/v1").unwrap();
    person.types("y");
    person.sees("Model: of-dotenv (openai at http://127.0.0.1:");
    person.next();
    person.types("hi");
    person.sees("messages in this request");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);
    assert!(server.requests()[0].json().to_string().contains("Use tabs."));

    let mut person = Person::running(agcore, &["chat"]);
    person.sees("since you trusted it (.env was changed, AGENTS.md was changed):");
    person.sees("OPENAI_BASE_URL");
    person.sees(QUESTION);
    person.presses('d');
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn trust_asks_at_a_terminal() {
    let server = Server::playground();
    let mut person = Person::running(project(&server), &["trust"]);
    person.sees(QUESTION);
    person.types("n");
    person.sees("error: the folder is not trusted: you answered no");
    let agcore = person.leaves_with(1);
    let mut person = Person::running(agcore, &["trust"]);
    person.sees(QUESTION);
    person.types("y");
    person.sees("is trusted. If its files change, you are asked again.");
    person.leaves_with(0);
}

#[test]
fn the_question_shows_files_that_the_options_leave_out() {
    let server = Server::playground();
    for (options, text) in [
        (&["chat", "--no-env-file"][..], "OPENAI_MODEL = of-dotenv"),
        (&["chat", "--config", "other.toml"], "base_url = http://127.0.0.1:"),
        (&["chat", "--no-context-files"], "AGENTS.md: 9 bytes"),
    ] {
        let agcore = project(&server).with_file("other.toml", "history = false");
        let mut person = Person::running(agcore, options);
        let shown = person.sees(QUESTION);
        assert!(shown.contains(text), "{options:?}: {shown}");
        person.presses('c');
        person.leaves_with(130);
    }
}

#[test]
fn a_broken_settings_file_that_is_left_out_is_named() {
    let server = Server::playground();
    let agcore = project(&server)
        .with_file("agcore.toml", "base_url = [")
        .with_file("other.toml", "history = false");
    let mut person = Person::running(agcore, &["chat", "--config", "other.toml"]);
    person.sees("agcore.toml: cannot be read; runs that use it fail");
    person.sees(QUESTION);
    person.presses('c');
    person.leaves_with(130);
}

#[test]
fn many_files_and_values_do_not_hide_where_the_key_goes() {
    let server = Server::playground();
    let names: String = (0..100).map(|number| format!("x{number} = 1\n")).collect();
    let tools: String = (0..100).map(|number| format!("'tool{number}',")).collect();
    let variables: String = (0..200)
        .map(|number| format!("AGCORE_{number}=1\nOTHER{number}=1\n"))
        .collect();
    let mut agcore = project(&server)
        .with_file(
            "agcore.toml",
            &format!("{names}base_url = 'http://h\u{200b}/v1'\n[permissions]\nallow = [{tools}'*']"),
        )
        .with_file(".env", &variables);
    fs::create_dir(agcore.directory.path().join(".agcore")).unwrap();
    for number in 0..250 {
        agcore = agcore.with_file(&format!(".agcore/{number}"), "");
    }
    let mut person = Person::running(agcore, &["chat"]);
    let shown = person.sees(QUESTION);
    assert!(shown.lines().count() < 60, "{shown}");
    for text in [
        ".agcore: no skills and no agents (250 files)",
        "280 more settings and variables; see the files",
        "permissions = allow \"*\"",
        "permissions = 81 more; see agcore.toml",
        "180 more",
    ] {
        assert!(shown.contains(text), "{text:?} is missing in {shown}");
    }
    let last: Vec<&str> = shown.lines().rev().take(4).collect();
    assert!(last.iter().any(|line| line.contains("base_url = http://")), "{shown}");
    assert!(!shown.contains('\u{200b}'));
    person.presses('c');
    person.leaves_with(130);
}

#[test]
fn a_chat_names_what_is_disabled() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home().with_file(
        ".mcp.json",
        r#"{"mcpServers": {"wiki": {"command": "no-such-command"}}}"#,
    );
    let mut person = Person::running(agcore, &["chat"]);
    person.sees(QUESTION);
    person.types("n");
    person.sees("Ctrl-D exits.");
    person.next();
    person.types("/mcp");
    person.sees("No MCP servers.");
    person.sees("wiki (.mcp.json): disabled, because this folder is not trusted;");
    person.next();
    person.types("/hooks");
    let shown = person.sees("you\r\n");
    assert!(!shown.contains("disabled"), "{shown}");
    person.sees("> ");
    person.presses('d');
    person.leaves_with(0);
}

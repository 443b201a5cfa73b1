//! Files that can start programs or change the permission settings: a model does not change them unasked, and what has changed
//! does not run.

use std::{fs, os::unix::fs::symlink};

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

/// Makes these calls, one after the other, and answers.
fn calling(calls: Vec<(&'static str, Value)>) -> Server {
    Server::start(MockOptions::new(), move |request: &RecordedRequest| {
        let json = request.json();
        let messages = json["messages"].as_array().unwrap();
        let done = messages.iter().filter(|message| message["role"] == "tool").count();
        match calls.get(done) {
            Some((name, arguments)) => Reply::tool_calls([ToolCall::new(*name, arguments)]),
            None => Reply::text("Done."),
        }
    })
}

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": "#!/bin/sh\ntouch PWN\n"}))
}

/// A trusted folder with a hook whose script is a file of it.
fn with_hook(server: &Server, script: &str) -> Agcore {
    let settings = format!("[[hooks.PreToolUse]]\nmatcher = 'edit_file|shell'\ncommand = 'sh {script}'\n");
    let agcore = Agcore::talking_to(server).at_home();
    let folder = agcore.directory.path();
    fs::create_dir_all(folder.join(script).parent().unwrap()).unwrap();
    fs::write(folder.join(script), "exit 0\n").unwrap();
    let agcore = agcore
        .with_file("agcore.toml", &settings)
        .with_file("README.md", "A small x\n");
    agcore.run(["trust", "--yes"]).assert_success();
    agcore
}

/// Returns what the model received from its tools.
fn results(server: &Server) -> Vec<String> {
    let requests = server.requests();
    let json = requests.last().unwrap().json();
    let messages = json["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_model_cannot_rewrite_the_script_of_a_hook_in_any_mode() {
    let edit = || {
        (
            "edit_file",
            json!({"path": "README.md", "old": "A small", "new": "A tiny"}),
        )
    };
    for script in [".agcore/hooks/check.sh", "scripts/check.sh"] {
        for mode in ["acceptEdits", "default", "plan", "dontAsk", "bypassPermissions"] {
            let server = calling(vec![write(script), edit()]);
            let agcore = with_hook(&server, script);
            agcore.run([
                "-p",
                "go",
                "--permission-mode",
                mode,
                "--allow",
                "write_file",
                "--allow",
                "edit_file",
            ]);
            assert!(!agcore.directory.path().join("PWN").exists(), "{script} {mode}");
            let text = fs::read_to_string(agcore.directory.path().join(script)).unwrap();
            if mode != "bypassPermissions" {
                assert_eq!(text, "exit 0\n", "{script} {mode}");
                continue;
            }
            // There, nothing is asked, but the hook does not run.
            let results = results(&server);
            assert!(
                results[1].contains("changed since this folder was trusted") && results[1].contains("agcore trust")
            );
        }
    }
}

#[test]
fn names_links_and_commands_hide_nothing() {
    let line = |line: &str| ("shell", json!({"command": line}));
    let calls = [
        write("./.agcore/../.agcore/x"),
        write(".AGCORE/x"),
        write("link/x"),
        write("AGENTS.md"),
        write("agcore.toml"),
        write(".mcp.json"),
        write(".github/workflows/ci.yml"),
        write(".vscode/tasks.json"),
        line("tee .agcore/x"),
        line("cp README.md agcore.toml"),
        line("git log --output=.agcore/x"),
    ];
    for call in calls {
        let described = format!("{call:?}");
        let server = calling(vec![call]);
        let agcore = Agcore::talking_to(&server).at_home().with_file("README.md", "x");
        fs::create_dir(agcore.directory.path().join(".agcore")).unwrap();
        symlink(".agcore", agcore.directory.path().join("link")).unwrap();
        let allowed = [
            "--allow",
            "write_file",
            "--allow",
            "shell(tee *)",
            "--allow",
            "shell(cp *)",
            "--allow",
            "shell(git log *)",
        ];
        let ran = agcore.run([&["-p", "go", "--permission-mode", "acceptEdits"][..], &allowed].concat());
        assert_eq!(ran.code(), Some(6), "{described}: {}", ran.stderr);
        assert!(
            agcore
                .files()
                .iter()
                .all(|name| [".agcore", "README.md", "link"].contains(&name.as_str()))
        );
        assert_eq!(
            fs::read_dir(agcore.directory.path().join(".agcore")).unwrap().count(),
            0,
            "{described}"
        );
    }
}

#[test]
fn a_question_about_such_a_file_offers_no_answer_for_later() {
    let server = calling(vec![write(".agcore/x"), write(".agcore/x"), write("notes.txt")]);
    let agcore = Agcore::talking_to(&server).at_home();
    let mut person = Person::chatting(agcore, &["--permission-mode", "acceptEdits"]);
    person.types("go");
    let asked = person.sees(QUESTION);
    assert!(
        asked.contains("1 y") && !asked.contains("2 s") && asked.contains("so every change of it is asked about"),
        "{asked}"
    );
    person.types("a");
    person.sees("Type y");
    person.sees(QUESTION);
    person.types("y");
    // It is asked again, and the other file is not asked about.
    person.sees(QUESTION);
    person.types("y");
    person.sees("Done.");
    person.next();
    person.presses('d');
    let agcore = person.leaves_with(0);
    assert!(agcore.directory.path().join("notes.txt").exists());
}

#[test]
fn a_server_whose_program_has_changed_is_not_started() {
    let server = calling(vec![]);
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_file("tool.sh", "exit 0\n")
        .with_file(
            ".mcp.json",
            r#"{"mcpServers": {"a": {"command": "sh", "args": ["tool.sh"]}}}"#,
        );
    agcore.run(["trust", "--yes"]).assert_success();
    let agcore = agcore.with_file("tool.sh", "touch PWN\n");
    let ran = agcore.run(["-p", "go"]);
    assert!(ran.stderr.contains("tool.sh was changed"), "{}", ran.stderr);
    assert!(!agcore.directory.path().join("PWN").exists());
}

#[test]
fn a_folder_without_trust_sets_neither_instructions_nor_a_model() {
    let server = calling(vec![]);
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_file("agcore.toml", "system = \"EVILSYSTEM\"\nmodel = \"o1-pro\"\n");
    let ran = agcore.run(["-p", "hi", "--model", "m"]);
    ran.assert_success();
    assert!(
        ran.stderr.contains("agcore.toml (model, system) is ignored"),
        "{}",
        ran.stderr
    );
    let body = server.requests().last().unwrap().json().to_string();
    assert!(!body.contains("EVILSYSTEM") && !body.contains("o1-pro"), "{body}");
}

#[test]
fn keys_of_the_program_and_credentials_of_others_are_not_read() {
    let agcore = Agcore::new().at_home();
    let home = agcore.home.path().to_owned();
    for file in [
        "state/agcore/secrets.json",
        "state/agcore/agcore.db",
        "config/agcore/agcore.toml",
        ".config/gh/hosts.yml",
    ] {
        fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
        fs::write(home.join(file), "KEY-12345\n").unwrap();
    }
    fs::write(home.join("config/agcore/agcore.toml"), "# KEY-12345\n").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = agcore.command();
        let output = command.args(arguments).current_dir(&home).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    for file in [
        "state/agcore/secrets.json",
        "state/agcore/agcore.db",
        "config/agcore/agcore.toml",
    ] {
        let arguments = json!({"path": file}).to_string();
        let shown = run(&["tools", "call", "read_file", &arguments]);
        assert!(
            shown.contains("belongs to agcore") && !shown.contains("KEY-12345"),
            "{shown}"
        );
        let line = json!({"command": format!("cat {file}")}).to_string();
        let shown = run(&["tools", "call", "shell", &line, "--yes"]);
        assert!(
            shown.contains("belongs to agcore") && !shown.contains("KEY-12345"),
            "{shown}"
        );
    }
    let shown = run(&["tools", "call", "read_file", r#"{"path": ".config/gh/hosts.yml"}"#]);
    assert!(shown.contains("may contain secrets"), "{shown}");
    let shown = run(&["tools", "call", "search", r#"{"pattern": "KEY-"}"#]);
    assert!(shown.contains("No matches"), "{shown}");
}

#[test]
fn commands_get_no_secrets_except_those_that_are_kept() {
    let agcore = Agcore::new()
        .at_home()
        .with_user_settings("keep_env = ['GITHUB_TOKEN']\n")
        .with("AWS_ACCESS_KEY_ID", "AKIA1")
        .with("GITHUB_PAT", "pat1")
        .with("GITHUB_TOKEN", "token1")
        .with("DATABASE_URL", "postgres://u:pw1@h/db")
        .with("PATH", "/usr/bin:/bin");
    let ran = agcore.run(["tools", "call", "shell", r#"{"command": "env"}"#, "--yes"]);
    let shown = ran.assert_success();
    assert!(
        shown.contains("GITHUB_TOKEN=token1") && shown.contains("PATH="),
        "{shown}"
    );
    for secret in ["AKIA1", "pat1", "pw1"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn a_start_in_the_home_directory_warns() {
    let server = calling(vec![]);
    let agcore = Agcore::talking_to(&server).at_home();
    let folder = agcore.directory.path().to_str().unwrap().to_owned();
    let ran = agcore.with("HOME", &folder).run(["-p", "go"]);
    ran.assert_success();
    assert!(ran.stderr.contains("this is your home directory"), "{}", ran.stderr);
}

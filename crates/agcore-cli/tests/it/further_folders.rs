//! Folders that the tools may use besides the current directory.

use std::{fs, path::PathBuf};

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};
use tempfile::TempDir;

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

/// A folder with a file, a secret and a file that starts programs.
fn library() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    fs::create_dir(path.join(".agcore")).unwrap();
    for name in ["a.rs", ".env", ".agcore/x.sh"] {
        fs::write(path.join(name), "one\n").unwrap();
    }
    (folder, path)
}

/// Returns the system prompt of the last request, and what the model received from its tools.
fn seen(server: &Server) -> (String, Vec<String>) {
    let requests = server.requests();
    let json = requests.last().unwrap().json();
    let messages = json["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"].as_str().unwrap().to_owned();
    let results = messages.iter().filter(|message| message["role"] == "tool").map(text);
    (text(&messages[0]), results.collect())
}

fn calls(path: &std::path::Path) -> Vec<(&'static str, Value)> {
    let name = |name: &str| path.join(name).to_str().unwrap().to_owned();
    vec![
        ("read_file", json!({"path": name("a.rs")})),
        ("read_file", json!({"path": name(".env")})),
        ("list_files", json!({"path": name("")})),
        ("search", json!({"pattern": "on.", "path": name("")})),
        ("edit_file", json!({"path": name("a.rs"), "old": "one", "new": "two"})),
        (
            "write_file",
            json!({"path": name(".agcore/x.sh"), "content": "touch PWN"}),
        ),
        ("read_file", json!({"path": name("../outside")})),
    ]
}

#[test]
fn tools_use_a_further_folder_with_the_same_guards() {
    let (_folder, path) = library();
    let shown = path.to_str().unwrap();
    let server = calling(calls(&path));
    let agcore = Agcore::talking_to(&server);
    let run = agcore.run(["-p", "go", "--add-dir", shown, "--permission-mode", "acceptEdits"]);
    assert_eq!(run.code(), Some(6), "{}", run.stderr);
    let (system, results) = seen(&server);
    assert!(
        system.contains("# Further folders") && system.contains(&format!("\n- {shown}")),
        "{system}"
    );
    assert_eq!(results[0], "one\n");
    assert!(results[1].contains("may contain secrets"), "{results:?}");
    assert_eq!(
        results[2].lines().filter(|line| line.ends_with("a.rs")).count(),
        1,
        "{results:?}"
    );
    assert!(
        results[3].starts_with(&format!("{shown}/")) && !results[3].contains(".env:"),
        "{results:?}"
    );
    assert!(
        results[4].contains("was changed: 1 line added, 1 removed"),
        "{results:?}"
    );
    assert!(results[5].contains("permission denied"), "{results:?}");
    assert!(results[6].contains("outside of the current directory"), "{results:?}");
    assert_eq!(fs::read_to_string(path.join("a.rs")).unwrap(), "two\n");
    assert_eq!(fs::read_to_string(path.join(".agcore/x.sh")).unwrap(), "one\n");
    // Without the option, nothing of it can be used.
    let server = calling(calls(&path));
    Agcore::talking_to(&server).run(["-p", "go", "--permission-mode", "acceptEdits"]);
    let (system, results) = seen(&server);
    assert!(!system.contains("# Further folders"));
    assert!(
        results
            .iter()
            .all(|result| result.contains("outside of the current directory")),
        "{results:?}"
    );
}

#[test]
fn a_rule_with_a_path_applies_to_a_further_folder() {
    let (_folder, path) = library();
    let server = calling(vec![("read_file", json!({"path": path.join(".env")}))]);
    let shown = path.to_str().unwrap();
    let rule = format!("read_file({shown}/.env)");
    let agcore = Agcore::talking_to(&server);
    agcore
        .run(["-p", "go", "--add-dir", shown, "--allow", &rule])
        .assert_success();
    assert_eq!(seen(&server).1, ["one\n"]);
}

#[test]
fn folders_that_cannot_be_used_are_refused_with_advice() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home().with_file("file", "");
    let home = agcore.home.path().to_str().unwrap().to_owned();
    for (folder, reason) in [
        (
            "none",
            "--add-dir none: it does not exist; create it first, or check the name",
        ),
        ("file", "it is not a folder"),
        (
            "/",
            "it contains all files of this machine; name the folder of a project instead",
        ),
        (
            home.as_str(),
            "it is your home directory; name the folder of a project instead",
        ),
    ] {
        agcore
            .run(["-p", "hi", "--add-dir", folder])
            .assert_failed(2, &[reason]);
    }
    // In settings, one that is gone is a warning.
    let agcore = agcore.with_user_settings("add_dirs = ['none']\n");
    let run = agcore.run(["-p", "hi"]);
    run.assert_success();
    assert!(
        run.stderr
            .contains("the folder none of `add_dirs` is not used: it does not exist"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_folder_of_the_settings_needs_trust_and_one_of_the_user_does_not() {
    let (_folder, path) = library();
    let read = || calling(vec![("read_file", json!({"path": path.join("a.rs")}))]);
    let table = format!("add_dirs = ['{}']\n", path.display());
    let server = read();
    Agcore::talking_to(&server)
        .with_file("agcore.toml", &table)
        .run(["-p", "go"])
        .assert_success();
    assert!(seen(&server).1[0].contains("outside of the current directory"));
    for agcore in [
        |server: &Server, table: &str| Agcore::talking_to(server).trusting().with_file("agcore.toml", table),
        |server: &Server, table: &str| Agcore::talking_to(server).at_home().with_user_settings(table),
    ] {
        let server = read();
        agcore(&server, &table).run(["-p", "go"]).assert_success();
        assert_eq!(seen(&server).1, ["one\n"]);
    }
}

#[test]
fn a_chat_adds_a_folder_until_it_ends() {
    let (_folder, path) = library();
    let shown = path.to_str().unwrap().to_owned();
    let server = calling(vec![(
        "edit_file",
        json!({"path": path.join("a.rs"), "old": "one", "new": "two"}),
    )]);
    let mut person = Person::chatting(Agcore::talking_to(&server).at_home(), &[]);
    person.types("/add-dir /");
    person.sees("/ is not added: it contains all files of this machine");
    person.next();
    person.types(&format!("/add-dir {shown}"));
    person.sees("until this chat ends");
    person.next();
    person.types("/add-dir");
    person.sees("further folder");
    person.next();
    person.types("/status");
    person.sees("further folder");
    person.next();
    person.types("go");
    person.sees("+two");
    person.sees(QUESTION);
    person.types("y");
    person.next();
    assert!(seen(&server).0.contains(&shown));
    assert_eq!(fs::read_to_string(path.join("a.rs")).unwrap(), "two\n");
    person.presses('d');
    let agcore = person.leaves_with(0);
    let mut person = Person::running(agcore, &["chat", "--continue"]);
    person.sees("Ctrl-D exits.");
    person.next();
    person.types("/add-dir");
    let listed = person.sees("you\r\n");
    assert!(!listed.contains("further folder"), "{listed}");
    person.presses('d');
    person.leaves_with(0);
}

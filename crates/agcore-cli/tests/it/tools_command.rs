//! Tests of `agcore tools`.

use serde_json::Value;

use crate::support::{Agcore, RunOutput};

fn call(arguments: &[&str]) -> RunOutput {
    Agcore::new().run([&["tools", "call"], arguments].concat())
}

#[test]
fn lists_tools_as_json() {
    let ran = Agcore::new().run(["tools", "list", "--json"]);
    let list: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let list = list["tools"].as_array().unwrap();
    let names: Vec<&str> = list.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "arithmetic",
            "current_time",
            "edit_file",
            "fetch_url",
            "list_files",
            "read_file",
            "read_notes",
            "save_note",
            "search",
            "shell",
            "write_file"
        ]
    );
    // Each entry is what `tools show` prints.
    for (tool, name) in list.iter().zip(names) {
        let ran = Agcore::new().run(["tools", "show", name]);
        let shown: Value = serde_json::from_str(ran.assert_success()).unwrap();
        assert_eq!(*tool, shown);
    }
}

#[test]
fn lists_tools_with_permissions_and_access() {
    let ran = Agcore::new().run(["tools", "list"]);
    let list = ran.assert_success();
    let heads: Vec<&str> = list.lines().filter(|line| !line.starts_with(' ')).collect();
    for head in [
        "arithmetic: Performs an arithmetic operation on two numbers.",
        "current_time: Returns the current date and time in UTC.",
        "read_notes: Reads the user's notes.",
        "save_note: Adds a note to the user's notes.",
    ] {
        assert!(heads.contains(&head), "{head:?} is missing in {list}");
    }
    for (tool, access) in [
        ("read_file", "allowed"),
        ("list_files", "allowed"),
        ("search", "allowed"),
        ("edit_file", "needs approval"),
        ("write_file", "needs approval"),
        ("shell", "needs approval"),
        ("fetch_url", "needs approval"),
    ] {
        let (_, entry) = list.split_once(&format!("\n{tool}: ")).unwrap();
        let line = entry.lines().find(|line| line.starts_with("  ")).unwrap();
        assert!(line.starts_with(&format!("  {access}: ")), "{tool}: {line}");
    }
    let save = "  needs approval: it needs write, which is not among the allowed permissions\n  needs write; not read-only, not destructive, one at a time \
                (notes)\n";
    assert!(list.contains(save), "{list}");
    assert!(
        list.contains("  allowed: all permissions it needs are allowed\n  needs read; read-only, idempotent\n"),
        "{list}"
    );
}

#[test]
fn shows_a_tool_as_json() {
    let ran = Agcore::new().run(["tools", "show", "arithmetic"]);
    let shown = ran.assert_success();
    assert!(shown.starts_with("{\n  \"name\": \"arithmetic\",\n"), "{shown}");
    let shown: Value = serde_json::from_str(shown).unwrap();
    assert_eq!(shown["permissions"], serde_json::json!(["read"]));
    assert_eq!(shown["standing"], "allowed");
    assert_eq!(shown["annotations"]["idempotent"], true);
    assert_eq!(
        shown["parameters"]["properties"]["a"]["description"],
        "The first number."
    );
    assert_eq!(
        shown["parameters"]["required"],
        serde_json::json!(["operation", "a", "b"])
    );
}

#[test]
fn prints_the_result_of_a_call() {
    let sum = r#"{"operation": "add", "a": 1, "b": 2.5}"#;
    assert_eq!(call(&["arithmetic", sum]).assert_success(), "3.5\n");
    let ran = Agcore::new().run_with(["tools", "call", "arithmetic"], format!("{sum}\n").as_bytes());
    assert_eq!(ran.assert_success(), "3.5\n");
    let ran = call(&["current_time"]);
    let time = ran.assert_success();
    assert!(time.len() == 21 && time.ends_with("Z\n"), "{time}");
    assert!(call(&["current_time", "{}"]).stderr.is_empty());
}

#[test]
fn denies_a_call_that_needs_approval() {
    let note = r#"{"text": "milk"}"#;
    let agcore = Agcore::new();
    agcore.run(["tools", "call", "save_note", note]).assert_failed(
        6,
        &[
            "it needs approval, and there is no terminal at which to ask (it needs write",
            "--yes",
            "[permissions] allow = [\"save_note\"]",
        ],
    );
    assert!(agcore.files().is_empty());
    let ran = agcore.run(["tools", "call", "save_note", note, "--yes"]);
    assert_eq!(ran.assert_success(), "Saved to agcore-notes.md.\n");
    assert_eq!(agcore.run(["tools", "call", "read_notes"]).assert_success(), "- milk\n");
}

#[test]
fn reports_the_error_of_a_tool() {
    call(&["arithmetic", r#"{"operation": "divide", "a": 1, "b": 0}"#])
        .assert_failed(1, &["error: the result is not a finite number"]);
    let agcore = Agcore::new();
    std::fs::create_dir(agcore.directory.path().join("agcore-notes.md")).unwrap();
    agcore
        .run(["tools", "call", "read_notes"])
        .assert_failed(1, &["error: cannot read agcore-notes.md"]);
}

#[test]
#[cfg(unix)]
fn the_notes_are_neither_a_link_nor_a_pipe() {
    use std::os::unix::fs::symlink;

    let agcore = Agcore::new().with_file("secret", "KEY");
    let notes = agcore.directory.path().join("agcore-notes.md");
    symlink("secret", &notes).unwrap();
    let ran = agcore.run(["tools", "call", "read_notes"]);
    ran.assert_failed(1, &["cannot read agcore-notes.md: it is a link, which is not followed"]);
    let ran = agcore.run(["tools", "call", "save_note", r#"{"text": "x"}"#, "--yes"]);
    ran.assert_failed(1, &["cannot write agcore-notes.md: it is a link"]);
    assert_eq!(
        std::fs::read_to_string(agcore.directory.path().join("secret")).unwrap(),
        "KEY"
    );
    std::fs::remove_file(&notes).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&notes)
            .status()
            .unwrap()
            .success()
    );
    let ran = agcore.run(["tools", "call", "read_notes"]);
    ran.assert_failed(1, &["cannot read agcore-notes.md: it is not a regular file"]);
    std::fs::remove_file(&notes).unwrap();
    std::fs::write(&notes, vec![b'x'; 1024 * 1024 + 1]).unwrap();
    let ran = agcore.run(["tools", "call", "read_notes"]);
    ran.assert_failed(1, &["it is larger than 1 MiB"]);
}

#[test]
fn reports_unknown_tools_and_invalid_arguments() {
    let check = |arguments: &[&str], texts: &[&str]| call(arguments).assert_failed(2, texts);
    check(
        &["arithmetik"],
        &[
            "error: unknown tool `arithmetik`; did you mean `arithmetic`?",
            "tools list",
        ],
    );
    check(
        &["arithmetic"],
        &[
            "$: \"operation\" is a required property; $: \"a\" is",
            "Run `agcore tools show arithmetic`",
        ],
    );
    check(
        &["arithmetic", r#"{"operation": "sum", "a": 1, "b": 2}"#],
        &["$.operation: \"sum\" is not one of \"add\""],
    );
    check(
        &["arithmetic", r#"{"operation": "add", "a": "1", "b": 2}"#],
        &["$.a: \"1\" is not of type \"number\""],
    );
    check(&["save_note", r#"{"text": "x", "tag": "y"}"#, "--yes"], &["tag"]);
    for json in ["[1, 2]", "{", "hello", "3", "{} {}"] {
        check(
            &["current_time", json],
            &["invalid arguments for current_time: $: ", "one JSON object"],
        );
    }
    let ran = Agcore::new().run_with(["tools", "call", "current_time"], b"{\"a\": \"caf\xe9\"}");
    ran.assert_failed(2, &["standard input is not valid UTF-8"]);
    Agcore::new()
        .run(["tools", "show", "save_notes"])
        .assert_failed(2, &["did you mean `save_note`?"]);
}

#[test]
fn needs_neither_a_key_nor_a_model() {
    // Invalid settings of the provider do not matter either.
    let agcore = Agcore::new()
        .with_file("agcore.toml", "provider = 'opnai'")
        .with_file(".env", "not a variable");
    agcore.run(["tools", "list"]).assert_success();
    agcore.run(["tools", "call", "current_time"]).assert_success();
}

//! The tools for files and the shell, called without a model.

use std::fs;

use crate::support::{Agcore, RunOutput};

fn call(agcore: &Agcore, tool: &str, arguments: &str, options: &[&str]) -> RunOutput {
    agcore.run([&["tools", "call", tool, arguments], options].concat())
}

fn file(agcore: &Agcore, name: &str) -> String {
    fs::read_to_string(agcore.directory.path().join(name)).unwrap()
}

#[test]
fn files_are_read_listed_and_searched_without_asking() {
    let agcore = Agcore::new()
        .with_file(".gitignore", "*.log\n")
        .with_file("a.txt", "one\ntwo\n")
        .with_file("b.log", "two\n");
    fs::create_dir(agcore.directory.path().join("src")).unwrap();
    let agcore = agcore
        .with_file("src/c.rs", "fn two() {}\n")
        .with_file(".env", "TWO=two\n");
    let read = call(&agcore, "read_file", r#"{"path": "src/../a.txt", "offset": 2}"#, &[]);
    assert_eq!(read.assert_success(), "two\n");
    let listed = call(&agcore, "list_files", "{}", &[]);
    assert_eq!(listed.assert_success(), ".env\n.gitignore\na.txt\nsrc/\nsrc/c.rs\n");
    let found = call(&agcore, "search", r#"{"pattern": "TWO", "ignore_case": true}"#, &[]);
    assert_eq!(found.assert_success(), "a.txt:2: two\nsrc/c.rs:1: fn two() {}\n");
    let found = call(&agcore, "search", r#"{"pattern": "two", "files": "*.rs"}"#, &[]);
    assert_eq!(found.assert_success(), "src/c.rs:1: fn two() {}\n");
    call(&agcore, "search", r#"{"pattern": "("}"#, &[]).assert_failed(1, &["invalid regular expression"]);
    for path in ["../x", "/etc/passwd", "src/../../x"] {
        let ran = call(&agcore, "read_file", &format!("{{\"path\": {path:?}}}"), &[]);
        ran.assert_failed(1, &["is outside of the current directory"]);
    }
    call(&agcore, "read_file", r#"{"path": "src"}"#, &[]).assert_failed(1, &["it is not a regular file"]);
}

#[cfg(unix)]
#[test]
fn names_with_line_breaks_are_quoted_and_can_be_passed_back() {
    let strange = "a\nb.txt";
    let agcore = Agcore::new()
        .with_file(strange, "one\ntwo\n")
        .with_file("a\\nb.txt", "other\n")
        .with_file("\"q\"", "quoted\n");
    fs::create_dir(agcore.directory.path().join("d\t")).unwrap();
    let agcore = agcore.with_file("d\t/c.txt", "below\n");
    let listed = call(&agcore, "list_files", "{}", &[]);
    let listed = listed.assert_success();
    let expected = r#""\"q\""
"a\nb.txt"
"a\\nb.txt"
"d\t/"
"d\t/c.txt"
"#;
    assert_eq!(listed, expected);
    let mut contents = Vec::new();
    for name in listed.lines().filter(|name| !name.ends_with("/\"")) {
        let arguments = serde_json::json!({ "path": name }).to_string();
        contents.push(call(&agcore, "read_file", &arguments, &[]).assert_success().to_owned());
    }
    assert_eq!(contents, ["quoted\n", "one\ntwo\n", "other\n", "below\n"]);
    let found = call(&agcore, "search", r#"{"pattern": "two"}"#, &[]);
    assert_eq!(found.assert_success(), "\"a\\nb.txt\":2: two\n");
    // The name itself is accepted as well.
    for name in [strange, "\"q\""] {
        let arguments = serde_json::json!({ "path": name }).to_string();
        call(&agcore, "read_file", &arguments, &[]).assert_success();
    }
    let arguments = serde_json::json!({"path": r#""a\nb.txt""#, "old": "two", "new": "2"}).to_string();
    let ran = call(&agcore, "edit_file", &arguments, &["--yes"]);
    assert_eq!(
        ran.assert_success(),
        "\"a\\nb.txt\" was changed: 1 line added, 1 removed.\n"
    );
    assert_eq!(file(&agcore, strange), "one\n2\n");
}

#[test]
fn secrets_are_read_only_if_the_settings_name_them() {
    let agcore = Agcore::new()
        .with_file(".env", "A=1\n")
        .with_file("allow.toml", "[permissions]\nallow = ['read_file(.env)']\n")
        .with_file("wrong.toml", "[permissions]\ndeny = ['read_file(.env)']\n")
        .with_file("unknown.toml", "[permissions]\nallow = ['write_file(x)']\n");
    let arguments = r#"{"path": "./.env"}"#;
    call(&agcore, "read_file", arguments, &[])
        .assert_failed(1, &["may contain secrets", "allow = [\"read_file(.env)\"]"]);
    let ran = call(&agcore, "read_file", arguments, &["--config", "allow.toml"]);
    assert_eq!(ran.assert_success(), "A=1\n");
    let found = call(&agcore, "search", r#"{"pattern": "A="}"#, &["--config", "allow.toml"]);
    assert_eq!(found.assert_success(), ".env:1: A=1\n");
    call(&agcore, "read_file", arguments, &["--config", "wrong.toml"]).assert_failed(2, &["can only be allowed"]);
    call(&agcore, "read_file", arguments, &["--config", "unknown.toml"])
        .assert_failed(2, &["`write_file` takes no pattern"]);
}

#[test]
fn changes_need_approval_and_replace_exactly_what_they_name() {
    let agcore = Agcore::new().with_file("a.txt", "one\ntwo\none\n");
    let edit = |old: &str, options: &[&str]| {
        let arguments = format!("{{\"path\": \"a.txt\", \"old\": {old:?}, \"new\": \"2\"}}");
        call(&agcore, "edit_file", &arguments, options)
    };
    edit("two", &[]).assert_failed(6, &["edit_file was denied", "there is no terminal at which to ask"]);
    edit("one", &["--yes"]).assert_failed(1, &["contains `old` 2 times"]);
    edit("gone", &["--yes"]).assert_failed(1, &["does not contain `old`"]);
    edit("", &["--yes"]).assert_failed(1, &["`old` is empty"]);
    assert_eq!(file(&agcore, "a.txt"), "one\ntwo\none\n");
    let ran = edit("two", &["--yes"]);
    assert_eq!(ran.assert_success(), "a.txt was changed: 1 line added, 1 removed.\n");
    assert_eq!(file(&agcore, "a.txt"), "one\n2\none\n");

    let write = |path: &str| {
        let arguments = format!("{{\"path\": {path:?}, \"content\": \"x\\n\"}}");
        call(&agcore, "write_file", &arguments, &["--yes"])
    };
    write("new/deep/b.txt").assert_success();
    assert_eq!(file(&agcore, "new/deep/b.txt"), "x\n");
    write("../b.txt").assert_failed(1, &["is outside of the current directory"]);
    write(".git/hooks/pre-commit").assert_failed(1, &["belongs to git"]);
    write(".env").assert_failed(1, &["may contain secrets"]);
    write("new").assert_failed(1, &["it is not a regular file"]);
    assert_eq!(agcore.files(), ["a.txt", "new"], "incomplete files were left behind");
}

#[cfg(unix)]
#[test]
fn every_command_of_a_line_must_be_allowed() {
    let agcore = Agcore::new().with("OPENAI_API_KEY", "sk-secret").with_file(
        "rules.toml",
        "[permissions]\nallow = ['shell(echo *)', 'shell(printenv *)', 'shell(sort)']\n",
    );
    let agcore = agcore.with_file(
        "strict.toml",
        "[permissions]\nallow = ['shell(echo *)']\ndeny = ['shell(rm *)']\n",
    );
    let shell = |command: &str, options: &[&str]| {
        let arguments = format!("{{\"command\": {command:?}}}");
        call(
            &agcore,
            "shell",
            &arguments,
            &[&["--config", "rules.toml"], options].concat(),
        )
    };
    let ran = shell("echo b && echo a | sort", &[]);
    assert_eq!(ran.assert_success(), "exit code 0\nb\na\n");
    for command in [
        "echo a && touch x",
        "touch x",
        "echo $(touch x)",
        "echo a > x",
        "X=1 echo a",
    ] {
        shell(command, &[]).assert_failed(6, &["shell was denied", "there is no terminal"]);
    }
    // With a pattern that denies, so does what cannot be understood.
    for command in ["rm x", "echo a; rm x", "'rm' x", "echo $(rm x)"] {
        let arguments = format!("{{\"command\": {command:?}}}");
        let ran = call(&agcore, "shell", &arguments, &["--config", "strict.toml", "--yes"]);
        ran.assert_failed(1, &["shell was denied: rule 1 ([permissions]: deny shell"]);
    }
    assert_eq!(agcore.files(), ["rules.toml", "strict.toml"]);
    // Keys of the program are not in the environment of commands.
    assert_eq!(shell("printenv OPENAI_API_KEY", &[]).assert_success(), "exit code 1\n");
    let ran = agcore.run(["tools", "call", "shell", r#"{"command": "exit 3"}"#, "--yes"]);
    assert_eq!(ran.assert_success(), "exit code 3\n");
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_folder() {
    use std::os::unix::fs::symlink;

    let agcore = Agcore::new().with_file(".env", "A=1\n");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.txt"), "outside\n").unwrap();
    let root = agcore.directory.path();
    symlink(outside.path().join("x.txt"), root.join("file")).unwrap();
    symlink(outside.path(), root.join("directory")).unwrap();
    symlink(".env", root.join("notes.txt")).unwrap();
    for path in ["file", "directory/x.txt"] {
        let ran = call(&agcore, "read_file", &format!("{{\"path\": {path:?}}}"), &[]);
        ran.assert_failed(1, &["is outside of the current directory"]);
    }
    call(
        &agcore,
        "write_file",
        r#"{"path": "directory/new.txt", "content": ""}"#,
        &["--yes"],
    )
    .assert_failed(1, &["is outside"]);
    call(&agcore, "read_file", r#"{"path": "notes.txt"}"#, &[]).assert_failed(1, &["may contain secrets"]);
    let found = call(&agcore, "search", r#"{"pattern": "outside|A="}"#, &[]);
    assert_eq!(found.assert_success(), "No matches.\n");
    assert!(!outside.path().join("new.txt").exists());
}

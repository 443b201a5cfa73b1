//! `store`: maintenance of a database.

use std::fs;

use serde_json::Value;

use crate::support::Agcore;

#[test]
fn a_database_is_created_checked_copied_and_compacted() {
    let agcore = Agcore::new().at_home();
    agcore.run(["store", "check"]).assert_failed(
        2,
        &["there is no such file", "`agcore store migrate` creates a database."],
    );
    let ran = agcore.run(["store", "migrate"]);
    let path = agcore.state("agcore.db");
    assert_eq!(
        ran.assert_success(),
        format!("{} was created with version 4.\n", path.display())
    );
    let ran = agcore.run(["store", "migrate"]);
    assert_eq!(
        ran.assert_success(),
        format!("{} has the newest version, 4.\n", path.display())
    );
    let ran = agcore.run(["store", "check"]);
    assert_eq!(
        ran.assert_success(),
        format!("{} is intact (version 4).\n", path.display())
    );

    let ran = agcore.run(["store", "backup", "copy.db", "--json"]);
    let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(
        result["bytes"],
        fs::metadata(agcore.directory.path().join("copy.db")).unwrap().len()
    );
    assert_eq!(result["file"], path.to_str().unwrap());
    agcore
        .run(["store", "backup", "copy.db"])
        .assert_failed(2, &["copy.db: the file already exists", "Pass --force to replace it."]);
    agcore.run(["store", "backup", "copy.db", "--force"]).assert_success();

    for (command, text) in [
        ("vacuum", "bytes and has"),
        ("rebuild", "indexes of copy.db were rebuilt."),
    ] {
        let ran = agcore.run(["store", command, "--file", "copy.db"]);
        assert!(ran.assert_success().contains(text), "{}", ran.stdout);
    }
    let ran = agcore.run(["store", "check", "--file", "copy.db", "--json"]);
    let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(
        (&result["damage"], &result["version"]),
        (&Value::Array(Vec::new()), &4.into())
    );
}

#[test]
fn damage_is_listed() {
    let agcore = Agcore::new().at_home();
    agcore.run(["store", "migrate", "--file", "a.db"]).assert_success();
    let path = agcore.directory.path().join("a.db");
    let mut bytes = fs::read(&path).unwrap();
    // The second page is the root of the first table.
    bytes[4096..4196].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let ran = agcore.run(["store", "check", "--file", "a.db"]);
    ran.assert_failed(1, &["a.db is damaged", "Restore a backup."]);
    assert!(!ran.stdout.is_empty());
    let ran = agcore.run(["store", "check", "--file", "a.db", "--json"]);
    assert_eq!(ran.code(), Some(1));
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result["damage"][0]["kind"], "page", "{result}");
}

#[test]
fn other_files_are_refused() {
    let text = "this is text, not a database. ".repeat(100);
    let agcore = Agcore::new().with_file("notes.txt", &text);
    for command in ["migrate", "check", "vacuum", "rebuild"] {
        let ran = agcore.run(["store", command, "--file", "notes.txt"]);
        ran.assert_failed(2, &["cannot open notes.txt: the file is not a SQLite database"]);
    }
    assert_eq!(
        fs::read_to_string(agcore.directory.path().join("notes.txt")).unwrap(),
        text
    );
    agcore
        .run(["store", "check"])
        .assert_failed(2, &["HOME is not set", "--file"]);
    agcore
        .run(["store", "migrate", "--file", "no/a.db"])
        .assert_failed(1, &["check that its directory exists"]);
    assert_eq!(agcore.files(), ["notes.txt"]);
}

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
        format!("{} was created with version 1.\n", path.display())
    );
    let ran = agcore.run(["store", "migrate"]);
    assert_eq!(
        ran.assert_success(),
        format!("{} has the newest version, 1.\n", path.display())
    );
    let ran = agcore.run(["store", "check"]);
    assert_eq!(
        ran.assert_success(),
        format!("{} is intact (version 1).\n", path.display())
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
        (&Value::Array(Vec::new()), &1.into())
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

/// Returns a program with a database that has a token.
fn filled() -> Agcore {
    let agcore = Agcore::new().at_home();
    agcore.run(["store", "migrate"]).assert_success();
    agcore
        .run(["serve", "tokens", "create", "--label", "laptop"])
        .assert_success();
    agcore
}

#[test]
fn a_user_is_exported_and_erased() {
    let agcore = filled();
    let ran = agcore.run(["store", "export-user"]);
    let rows: Vec<Value> = ran
        .assert_success()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((rows.len(), &rows[0]["row"]), (1, &"token".into()));
    assert_eq!(rows[0]["token"]["label"], "laptop");
    let ran = agcore.run(["store", "export-user", "--user", "nobody"]);
    assert_eq!(ran.assert_success(), "");

    let ran = agcore.run(["store", "erase-user"]);
    ran.assert_failed(
        2,
        &[
            "nothing was erased",
            "these rows (token 1) of local/local",
            "Pass --yes",
        ],
    );
    assert_eq!(agcore.run(["store", "export-user"]).assert_success().lines().count(), 1);
    let ran = agcore.run(["store", "erase-user", "--yes", "--json"]);
    let erased: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!((&erased["tokens"], &erased["sessions"]), (&1.into(), &0.into()));
    assert_eq!(agcore.run(["store", "export-user"]).assert_success(), "");
    assert_eq!(agcore.run(["serve", "tokens", "list"]).assert_success(), "");
    let ran = agcore.run(["store", "erase-user", "--yes"]);
    assert!(ran.assert_success().contains("0 sessions"), "{}", ran.stdout);
}

#[test]
fn old_rows_are_counted_and_removed() {
    let agcore = filled();
    agcore
        .run(["store", "prune"])
        .assert_failed(2, &["no rule states what is old", "--runs-days"]);
    agcore
        .run(["store", "prune", "--runs-days", "0"])
        .assert_failed(2, &["--runs-days"]);
    let ran = agcore.run([
        "store",
        "prune",
        "--runs-days",
        "30",
        "--sessions-per-user",
        "5",
        "--dry-run",
    ]);
    assert!(
        ran.assert_success()
            .starts_with("Would remove 0 sessions, 0 runs, 0 events"),
        "{}",
        ran.stdout
    );
    let ran = agcore.run(["store", "prune", "--events-days", "1", "--json"]);
    let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!((&result["events"], &result["dry_run"]), (&0.into(), &false.into()));
    agcore
        .run(["store", "prune", "--runs-days", "1", "--file", "missing.db"])
        .assert_failed(2, &["there is no database missing.db"]);
}

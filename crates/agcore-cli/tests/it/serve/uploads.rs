//! Uploaded files and stored answers in the export and the erasure of a user, and files that are too old.

use std::{fs, path::Path};

use serde_json::Value;

use super::Serving;
use crate::support::{Agcore, Server};

const GRANTS: &str = r#"{"version": 1, "folders": {"/garden": {"version": 1, "grants": [
    {"tool": "water"}, {"tool": "dig", "owner": {"tenant": "local", "user": "ben"}}]}}}"#;

/// Returns the number of files in a folder.
fn count(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
}

fn upload(serving: &Serving, name: &str) {
    let path = format!("/api/v1/agent/files?name={name}");
    let answer = serving.ask("POST", &path, "", "a secret text");
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
}

#[test]
fn files_and_answers_are_exported_erased_and_pruned() {
    let model = Server::playground();
    let agcore = Agcore::talking_to(&model)
        .at_home()
        .with_user_settings("[serve]\nfiles = 'uploads'\n");
    let uploads = agcore.settings_directory().join("uploads");
    fs::create_dir(&uploads).unwrap();
    let folder = uploads.to_str().unwrap();
    let serving = Serving::start(&agcore, &[]);
    upload(&serving, "beans.txt");
    upload(&serving, "peas.txt");
    fs::write(agcore.state("grants.json"), GRANTS).unwrap();

    let exported = agcore.run(["store", "export-user"]);
    let rows: Vec<Value> = exported
        .assert_success()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of_kind = |kind: &str| rows.iter().filter(|row| row["row"] == kind).collect::<Vec<_>>();
    assert_eq!((of_kind("file").len(), of_kind("grant").len()), (2, 1), "{rows:?}");
    assert_eq!(of_kind("grant")[0]["grant"]["tool"], "water");
    let path = of_kind("file")[0]["file"]["path"].as_str().unwrap();
    assert_eq!(fs::read_to_string(uploads.join(path)).unwrap(), "a secret text");

    // The newest is kept.
    let counted = agcore.run([
        "store",
        "prune",
        "--files-per-user",
        "1",
        "--files",
        folder,
        "--dry-run",
    ]);
    assert!(
        counted.assert_success().contains(" 1 uploaded files"),
        "{}",
        counted.stdout
    );
    assert_eq!(count(&uploads), 2);
    agcore
        .run(["store", "prune", "--files-per-user", "1"])
        .assert_failed(2, &["--files"]);
    let pruned = agcore.run(["store", "prune", "--files-per-user", "1", "--files", folder]);
    assert!(
        pruned.assert_success().contains(" 1 uploaded files"),
        "{}",
        pruned.stdout
    );
    let listed = serving.ask("GET", "/api/v1/agent/files", "", "");
    assert!(listed.contains("peas.txt") && !listed.contains("beans.txt"), "{listed}");

    agcore
        .run(["store", "erase-user", "--yes"])
        .assert_failed(2, &["nothing was erased", "has uploaded 1 files", "Pass --files DIR"]);
    assert_eq!(count(&uploads), 1);
    let erased = agcore.run(["store", "erase-user", "--yes", "--json", "--files", folder]);
    let erased: Value = serde_json::from_str(erased.assert_success()).unwrap();
    assert_eq!(
        (&erased["files"], &erased["grants"]),
        (&1.into(), &1.into()),
        "{erased}"
    );
    assert_eq!(count(&uploads), 0);
    let grants = fs::read_to_string(agcore.state("grants.json")).unwrap();
    assert!(!grants.contains("water") && grants.contains("dig"), "{grants}");
    assert_eq!(agcore.run(["store", "export-user"]).assert_success(), "");
    // No name of a file is left in the database.
    serving.kill();
    for name in ["agcore.db", "agcore.db-wal"] {
        let bytes = fs::read(agcore.state(name)).unwrap_or_default();
        let found = bytes
            .windows(9)
            .any(|part| part == b"beans.txt" || &part[..8] == b"peas.txt");
        assert!(!found, "{name} has the name of a file");
    }
}

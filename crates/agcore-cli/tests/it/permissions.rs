//! `[permissions]` of the settings file and the grants file, without a person.

use std::fs;

use crate::support::{Agcore, Server};

const GRANTED: &str = r#"{"version": 1, "grants": [{"tool": "save_note"}]}"#;
const GRANTS: &str = ".agcore-grants.json";
const SAVE: [&str; 4] = ["tools", "call", "save_note", r#"{"text": "x"}"#];

fn with_permissions(table: &str) -> Agcore {
    Agcore::new().with_file("agcore.toml", &format!("[permissions]\n{table}\n"))
}

#[test]
fn a_rule_allows_what_would_be_asked() {
    let server = Server::playground();
    for table in ["allow = ['save_note']", "allow = ['save_*']", "allow = ['write']"] {
        let agcore = Agcore::talking_to(&server).with_file("agcore.toml", &format!("[permissions]\n{table}"));
        let ran = agcore.run(["chat", "save it"]);
        assert!(ran.assert_done().contains("says: Saved to agcore-notes.md."), "{table}");
    }
}

#[test]
fn a_rule_denies_even_what_yes_was_said_to() {
    let server = Server::playground();
    for table in [
        "deny = ['save_note']",
        "deny = ['write']\nallow = ['save_note']",
        "deny = ['*']",
    ] {
        let agcore = Agcore::talking_to(&server)
            .with_file("agcore.toml", &format!("[permissions]\n{table}"))
            .with_file(GRANTS, GRANTED);
        let ran = agcore.run(["chat", "--yes", "save it"]);
        let answer = ran.assert_done();
        assert!(
            answer.contains("permission denied: this call of save_note"),
            "{table}: {answer}"
        );
        assert_eq!(agcore.files(), [GRANTS, "agcore.toml"]);
        let ran = agcore.run([&SAVE[..], &["--yes"]].concat());
        ran.assert_failed(1, &["error: save_note was denied: rule ", "(agcore.toml:2:9: deny "]);
    }
}

#[test]
fn a_rule_asks_about_what_would_be_allowed() {
    let agcore = with_permissions("ask = ['current_*']");
    agcore
        .run(["tools", "call", "current_time"])
        .assert_failed(1, &["it needs a yes", "agcore.toml:2:8: ask current_*"]);
    agcore.run(["tools", "call", "current_time", "--yes"]).assert_done();
}

#[test]
fn entries_that_name_nothing() {
    let check = |table: &str, words: &[&str]| {
        for command in [&["chat", "hi"][..], &["tools", "list"], &SAVE] {
            with_permissions(table).run(command).assert_failed(2, words);
        }
    };
    check(
        "allow = ['wirte']",
        &[
            "error: agcore.toml:2:10: there is neither a tool nor a permission `wirte`",
            "arithmetic, current_time, read_notes, save_note",
            "read, write, delete, network, shell, file_system",
        ],
    );
    check(
        "deny = [\n  'read',\n  'acme:re fund'\n]",
        &["error: agcore.toml:4:3: ", "is no permission"],
    );
    check("ask = [' ']", &["error: agcore.toml:2:8: the entry is empty"]);
    check(
        "ask = 'write'",
        &["error: agcore.toml:2:7: invalid type: string \"write\""],
    );
    check("deny = [1]", &["error: agcore.toml:2:9: invalid type: integer `1`"]);
    check(
        "forbid = []",
        &[
            "error: agcore.toml:2:1: unknown field `forbid`",
            "`allow`, `ask`, `deny`",
        ],
    );
}

#[test]
fn what_was_always_allowed_needs_nobody() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with_file(GRANTS, GRANTED);
    agcore.run(["chat", "save it"]).assert_done();
    agcore.run(SAVE).assert_done();
    let notes = fs::read_to_string(agcore.folder.path().join("agcore-notes.md")).unwrap();
    assert_eq!(notes, "- save it\n- x\n");
    let ran = agcore.run(["tools", "list"]);
    assert!(
        ran.assert_done()
            .contains("allowed: you said always, see .agcore-grants.json")
    );
}

#[test]
fn grants_that_cannot_be_read() {
    let check = |text: &str, words: &[&str]| {
        let agcore = Agcore::new().with_file(GRANTS, text);
        for command in [&["chat", "hi"][..], &["tools", "list"], &SAVE] {
            let ran = agcore.run(command);
            ran.assert_failed(
                2,
                &[&["error: .agcore-grants.json: the grants cannot be read: "], words].concat(),
            );
            assert!(
                ran.stderr.contains("or name another file with --grants"),
                "{}",
                ran.stderr
            );
        }
        assert_eq!(
            fs::read_to_string(agcore.folder.path().join(GRANTS)).unwrap(),
            text,
            "it is left as it was"
        );
        assert_eq!(agcore.files(), [GRANTS]);
        // The way out that was named.
        agcore.run(["tools", "list", "--grants", "other.json"]).assert_done();
    };
    check("", &["EOF while parsing", "restore or remove them"]);
    check(&GRANTED[..30], &["EOF while parsing", "restore or remove them"]);
    check("[]", &["they have no version", "restore or remove them"]);
    check(
        r#"{"version": 1, "grants": [{"tol": "x"}]}"#,
        &["unknown field `tol`", "restore or remove them"],
    );
    check(
        r#"{"version": 2, "grants": []}"#,
        &["version 2, this program knows 1; update it"],
    );
}

#[test]
fn grants_beside_the_settings_or_where_they_are_said_to_be() {
    let agcore = Agcore::new().with_file("granted.json", GRANTED);
    agcore
        .run([&SAVE[..], &["--grants", "granted.json"]].concat())
        .assert_done();
    agcore.run(SAVE).assert_failed(1, &["it needs a yes"]);

    let elsewhere = Agcore::new().with_file("mine.toml", "").with_file(GRANTS, GRANTED);
    let config = elsewhere.folder.path().join("mine.toml");
    let config = config.to_str().unwrap();
    agcore.run([&SAVE[..], &["--config", config]].concat()).assert_done();

    let folder = agcore.folder.path().to_str().unwrap();
    agcore
        .run(["tools", "list", "--grants", folder])
        .assert_failed(2, &["the grants cannot be read"]);
}

//! `[permissions]` in the settings file and the grants file, without a terminal.

use std::fs;

use crate::support::{Agcore, Server};

const GRANTED: &str = r#"{"version": 1, "grants": [{"tool": "save_note"}]}"#;
const GRANTS: &str = "granted.json";
const SAVE: [&str; 4] = ["tools", "call", "save_note", r#"{"text": "x"}"#];

fn with_permissions(table: &str) -> Agcore {
    Agcore::new()
        .trusting()
        .with_file("agcore.toml", &format!("[permissions]\n{table}\n"))
}

#[test]
fn a_rule_allows_what_needs_approval_by_default() {
    let server = Server::playground();
    for table in ["allow = ['save_note']", "allow = ['save_*']", "allow = ['write']"] {
        let agcore = Agcore::talking_to(&server)
            .trusting()
            .with_file("agcore.toml", &format!("[permissions]\n{table}"));
        let ran = agcore.run(["chat", "save it"]);
        assert!(
            ran.assert_success().contains("returned: Saved to agcore-notes.md."),
            "{table}"
        );
    }
}

#[test]
fn a_rule_denies_what_was_granted() {
    let server = Server::playground();
    for table in [
        "deny = ['save_note']",
        "deny = ['write']\nallow = ['save_note']",
        "deny = ['*']",
    ] {
        let agcore = Agcore::talking_to(&server)
            .trusting()
            .with_file("agcore.toml", &format!("[permissions]\n{table}"))
            .with_file(GRANTS, GRANTED);
        let ran = agcore.run(["chat", "--yes", "save it", "--grants", GRANTS]);
        let answer = ran.assert_success();
        assert!(
            answer.contains("permission denied: this call of save_note"),
            "{table}: {answer}"
        );
        assert_eq!(agcore.files(), ["agcore.toml", GRANTS]);
        let ran = agcore.run([&SAVE[..], &["--yes"]].concat());
        ran.assert_failed(1, &["error: save_note was denied: rule ", "(agcore.toml:2:9: deny "]);
    }
}

#[test]
fn a_rule_asks_about_what_is_allowed_by_default() {
    let agcore = with_permissions("ask = ['current_*']");
    agcore
        .run(["tools", "call", "current_time"])
        .assert_failed(6, &["it needs approval", "agcore.toml:2:8: ask current_*"]);
    agcore.run(["tools", "call", "current_time", "--yes"]).assert_success();
}

#[test]
fn reports_invalid_entries() {
    let check = |table: &str, texts: &[&str]| {
        for command in [&["chat", "hi"][..], &["tools", "list"], &SAVE] {
            with_permissions(table).run(command).assert_failed(2, texts);
        }
    };
    check(
        "allow = ['wirte']",
        &[
            "error: agcore.toml:2:10: unknown tool or permission `wirte`",
            "arithmetic, current_time, edit_file, fetch_url, list_files, read_file, read_notes, save_note",
            "read, write, delete, network, shell, file_system",
        ],
    );
    check(
        "deny = [\n  'read',\n  'acme:re fund'\n]",
        &["error: agcore.toml:4:3: ", "is not a permission"],
    );
    check("ask = [' ']", &["error: agcore.toml:2:8: the entry is empty"]);
    check(
        "ask = 'write'",
        &["error: agcore.toml:2:7: `permissions.ask`: expected a list, found the text \"write\"; write [\"write\"]"],
    );
    check(
        "deny = [1]",
        &["error: agcore.toml:2:9: `permissions.deny`: expected text in quotation marks, found the number 1"],
    );
    check(
        "forbid = []",
        &[
            "error: agcore.toml:2:1: unknown setting `forbid` in [permissions]",
            "; its settings are allow, ask, deny",
        ],
    );
}

#[test]
fn permissions_of_the_folder_and_the_user_add_up() {
    let agcore = with_permissions("allow = ['save_note', 'read_notes']")
        .at_home()
        .with_user_settings("[permissions]\ndeny = ['read_notes']\nask = ['arithmetic']");
    let listed = agcore.run(["tools", "list"]);
    let listed = listed.assert_success();
    let users = agcore.home.path().join("config/agcore/agcore.toml");
    for (tool, access) in [
        (
            "arithmetic",
            format!("needs approval: {}:3:8: ask arithmetic", users.display()),
        ),
        (
            "read_notes",
            format!("denied: {}:2:9: deny read_notes", users.display()),
        ),
        ("save_note", "allowed: agcore.toml:2:10: allow save_note".to_owned()),
    ] {
        let of_tool = listed.split(&format!("{tool}: ")).nth(1).unwrap();
        assert!(of_tool.lines().nth(1).unwrap().contains(&access), "{tool}: {listed}");
    }
    let shown = agcore.run(["config"]);
    let row = format!("4 entries agcore.toml and {}", users.display());
    let found = shown.assert_success().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(found.contains(&row), "{}", shown.stdout);
}

/// Stores an answer for the directory, as "always" does.
fn with_grants(agcore: &Agcore, grants: &str) {
    let folder = agcore.directory.path().canonicalize().unwrap();
    let text = format!(r#"{{"version": 1, "folders": {{"{}": {grants}}}}}"#, folder.display());
    fs::create_dir_all(agcore.state("")).unwrap();
    fs::write(agcore.state("grants.json"), text).unwrap();
}

#[cfg(unix)]
#[test]
fn a_grant_needs_no_approval_in_its_folder() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    with_grants(&agcore, GRANTED);
    agcore.run(["chat", "save it"]).assert_success();
    agcore.run(SAVE).assert_success();
    let notes = fs::read_to_string(agcore.directory.path().join("agcore-notes.md")).unwrap();
    assert_eq!(notes, "- save it\n- x\n");
    let ran = agcore.run(["tools", "list"]);
    let reason = "allowed: you answered \"always\" (~/state/agcore/grants.json)";
    assert!(ran.assert_success().contains(reason), "{}", ran.stdout);

    let elsewhere = Agcore::new().with("XDG_STATE_HOME", agcore.home.path().join("state").to_str().unwrap());
    elsewhere.run(SAVE).assert_failed(6, &["it needs approval"]);
}

#[test]
fn a_grants_file_in_the_folder_is_ignored_and_reported() {
    let agcore = Agcore::new().at_home().with_file(".agcore-grants.json", GRANTED);
    let ran = agcore.run(SAVE);
    ran.assert_failed(6, &["it needs approval"]);
    let lines: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("warning: "))
        .collect();
    assert!(
        matches!(&lines[..], [line] if line.starts_with("warning: .agcore-grants.json is ignored: ")),
        "{}",
        ran.stderr
    );
    let ran = agcore.run([&SAVE[..], &["--grants", ".agcore-grants.json"]].concat());
    ran.assert_success();
    assert_eq!(ran.stderr, "", "the user named the file");
}

#[test]
fn reports_unreadable_grants() {
    let check = |text: &str, texts: &[&str]| {
        let agcore = Agcore::new().with_file(GRANTS, text);
        for command in [&["chat", "hi"][..], &["tools", "list"], &SAVE] {
            let ran = agcore.run([command, &["--grants", GRANTS]].concat());
            ran.assert_failed(2, &[&["error: granted.json: cannot read the grants: "], texts].concat());
            assert!(
                ran.stderr.contains("To use another file, pass --grants FILE."),
                "{}",
                ran.stderr
            );
        }
        assert_eq!(
            fs::read_to_string(agcore.directory.path().join(GRANTS)).unwrap(),
            text,
            "the file was changed"
        );
        assert_eq!(agcore.files(), [GRANTS]);
        // The message suggests this option.
        agcore.run(["tools", "list", "--grants", "other.json"]).assert_success();
    };
    check("", &["EOF while parsing", "restore or remove them"]);
    check(&GRANTED[..30], &["EOF while parsing", "restore or remove them"]);
    check("[]", &["they have no version", "restore or remove them"]);
    check(
        r#"{"version": 1, "grants": [{"tol": "x"}]}"#,
        &["unknown field `tol`", "restore or remove them"],
    );
    check(
        r#"{"version": 3, "grants": []}"#,
        &["version 3, but this program reads version 2; update the program"],
    );
    let agcore = Agcore::new().at_home();
    fs::create_dir_all(agcore.state("")).unwrap();
    fs::write(agcore.state("grants.json"), "{").unwrap();
    agcore
        .run(SAVE)
        .assert_failed(2, &["grants.json: cannot read the grants: "]);
}

#[test]
fn the_grants_option_names_a_file() {
    let agcore = Agcore::new().with_file(GRANTS, GRANTED);
    agcore.run([&SAVE[..], &["--grants", GRANTS]].concat()).assert_success();
    agcore.run(SAVE).assert_failed(6, &["it needs approval"]);
    let directory = agcore.directory.path().to_str().unwrap();
    agcore
        .run(["tools", "list", "--grants", directory])
        .assert_failed(2, &["cannot read the grants"]);
}

//! Commands about the database while `AGCORE_STORE` names one on a server.

use serde_json::Value;

use crate::{
    postgres::Database,
    support::{Agcore, Server},
};

/// Every command of `store` works on the configured database, or refuses; none creates or reads the file of the program.
#[test]
fn no_command_works_on_another_database() {
    let Some(database) = Database::create() else { return };
    let agcore = Agcore::new().at_home().with("AGCORE_STORE", &database.url());
    let agcore = agcore
        .with_file("ann.toml", "version = \"1\"\n")
        .with_file("catalog.toml", CATALOG);
    let help = agcore.run(["store", "--help"]);
    let mut names: Vec<&str> = help.assert_success().lines().filter_map(command).collect();
    for (arguments, code, text) in [
        (
            &["migrate"][..],
            0,
            "The tables of the database of AGCORE_STORE have the newest version.",
        ),
        (&["check"], 2, "pg_amcheck --install-missing --dbname=\"$AGCORE_STORE\""),
        (
            &["backup", "it's.dump"],
            2,
            "pg_dump --format=custom --schema=agcore --file='it'\\''s.dump' --dbname=\"$AGCORE_STORE\"",
        ),
        (
            &["vacuum"],
            0,
            "The tables of the database of AGCORE_STORE were rewritten",
        ),
        (&["rebuild"], 2, "REINDEX SCHEMA agcore"),
        (&["prune", "--events-days", "1"], 0, "in the database of AGCORE_STORE"),
        (&["profiles", "list"], 0, ""),
        (
            &["catalog", "put", "catalog.toml"],
            0,
            "in the database of AGCORE_STORE",
        ),
        (&["catalog", "show"], 0, "vendors"),
        (&["export-user"], 0, ""),
        (&["erase-user", "--yes"], 0, ""),
    ] {
        let ran = agcore.run([&["store"], arguments].concat());
        match code {
            0 => assert!(ran.assert_success().contains(text), "{arguments:?}: {}", ran.stdout),
            code => ran.assert_failed(code, &[text]),
        }
        assert!(!agcore.state("agcore.db").exists(), "{arguments:?}");
        names.retain(|name| *name != arguments[0]);
    }
    assert!(names.is_empty(), "commands that were not tried: {names:?}");
    for arguments in [
        &["cost"][..],
        &["sessions", "list"],
        &["approvals", "list"],
        &["-p", "hello", "--no-tools"],
    ] {
        // Without a model the last one fails after it has opened its session.
        let ran = agcore.run(arguments);
        assert!(
            ran.code() == Some(0) || arguments[0] == "-p",
            "{arguments:?}: {}",
            ran.stderr
        );
        assert!(!agcore.state("agcore.db").exists(), "{arguments:?}");
    }
    for arguments in [["knowledge", "list"], ["memory", "list"]] {
        agcore
            .run(arguments)
            .assert_failed(2, &["AGCORE_STORE names a database server", "--file"]);
        assert!(!agcore.state("agcore.db").exists(), "{arguments:?}");
    }
    // A server that cannot be reached is an error, and no reason to use a file.
    let away = Agcore::new()
        .at_home()
        .with("AGCORE_STORE", "postgres://a@127.0.0.1:1/a");
    for arguments in [["sessions", "list"], ["approvals", "list"]] {
        away.run(arguments).assert_failed(4, &["127.0.0.1:1"]);
    }
    // A file that is named is used in spite of the variable.
    agcore.run(["store", "migrate", "--file", "a.db"]).assert_success();
    agcore
        .run(["store", "backup", "b.db", "--file", "a.db"])
        .assert_success();
    agcore.run(["store", "check", "--file", "b.db"]).assert_success();
}

/// Returns the command in a line of a help page.
fn command(line: &str) -> Option<&str> {
    let name = line.strip_prefix("  ")?.split_whitespace().next()?;
    let is_command = !line.starts_with("   ") && name.chars().all(|char| matches!(char, 'a'..='z' | '-'));
    (is_command && !name.starts_with('-') && !matches!(name, "help" | "agcore")).then_some(name)
}

#[test]
fn costs_are_those_of_the_server() {
    let Some(database) = Database::create() else { return };
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    agcore.run(["-p", "hello"]).assert_success();
    let calls = |agcore: &Agcore| {
        let ran = agcore.run(["cost", "--json"]);
        let report: Value = serde_json::from_str(ran.assert_success()).unwrap();
        report["total"]["calls"].as_u64().unwrap()
    };
    assert_eq!(calls(&agcore), 1);
    let agcore = agcore.with("AGCORE_STORE", &database.url());
    assert_eq!(calls(&agcore), 0);
    let file = agcore.state("agcore.db");
    let ran = agcore.run(["cost", "--json", "--file", file.to_str().unwrap()]);
    assert!(ran.assert_success().contains("\"calls\": 1"), "{}", ran.stdout);
}

const CATALOG: &str = r#"
version = "1"

[[vendors]]
name = "openai"

[[vendors.endpoints]]
name = "chat"
api = "openai"
kinds = ["text"]

[[vendors.keys]]
name = "mine"
secret = "${OPENAI_API_KEY}"
users = ["*"]

[[vendors.models]]
name = "m"
kind = "text"
default = true
"#;

/// Chats, lists and approvals use the sessions of the configured database.
#[test]
fn sessions_are_those_of_the_server() {
    let Some(database) = Database::create() else { return };
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with("AGCORE_STORE", &database.url());
    agcore.run(["-p", "hello", "-n", "in the server"]).assert_success();
    let list = agcore.run(["sessions", "list"]);
    assert!(list.assert_success().contains("in the server"), "{}", list.stdout);
    agcore.run(["-p", "and?", "--resume", "in the server"]).assert_success();
    let shown = agcore.run(["sessions", "show", "in the server", "--json"]);
    assert!(shown.assert_success().contains("and?"), "{}", shown.stdout);
    assert!(!agcore.state("agcore.db").exists());
}

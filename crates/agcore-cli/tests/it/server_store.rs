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
    agcore.run(["cost"]).assert_success();
    assert!(!agcore.state("agcore.db").exists());
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

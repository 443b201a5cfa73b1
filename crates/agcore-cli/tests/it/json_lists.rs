//! `--json` of all commands that print a list: one object, with the list in a member that is named after its items.

use serde_json::Value;

use crate::support::{Agcore, Server};

#[track_caller]
fn check(agcore: &Agcore, command: &str, member: &str) {
    let arguments: Vec<&str> = command.split(' ').chain(["--json"]).collect();
    let ran = agcore.run(arguments);
    let printed: Value =
        serde_json::from_str(ran.assert_success()).unwrap_or_else(|error| panic!("{command}: {error}"));
    assert!(
        printed.is_object() && printed[member].is_array(),
        "{command}: {printed}"
    );
}

#[test]
fn lists_are_members_of_an_object() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    for (command, member) in [
        ("tools list", "tools"),
        ("skills list", "skills"),
        ("agents list", "agents"),
        ("mcp list", "servers"),
        ("models", "models"),
        ("keys list", "keys"),
        ("config", "settings"),
        ("doctor", "checks"),
        ("trust --list", "folders"),
    ] {
        check(&agcore, command, member);
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn lists_of_a_database_are_members_of_an_object() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_file("tea.md", "# Tea\n\nBoil the water.\n");
    agcore.run(["-p", "hello"]).assert_success();
    agcore.run(["knowledge", "add", "tea.md"]).assert_success();
    for (command, member) in [
        ("sessions list", "sessions"),
        ("sessions search hello", "sessions"),
        ("approvals list", "approvals"),
        ("knowledge list", "pages"),
        ("knowledge search water", "hits"),
        ("memory list", "items"),
        ("schedules list", "schedules"),
        ("webhooks list", "webhooks"),
        ("quotas list", "quotas"),
        ("quotas usage", "usage"),
        ("admin tenants list", "tenants"),
        ("admin workers list", "workers"),
        ("admin dead-letters list", "dead_letters"),
        ("cost", "rows"),
    ] {
        check(&agcore, command, member);
    }
}

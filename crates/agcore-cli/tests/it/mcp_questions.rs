//! MCP servers that ask the user, the model or for folders, and that add tools during a chat.

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    person::Person,
    support::{Agcore, Server},
};

/// Returns a chat's program with a server that asks, or `None`, with a message, if Python is missing.
#[expect(clippy::print_stdout, reason = "a skipped test states why")]
fn with_server(server: &Server, settings: &str) -> Option<Agcore> {
    if !Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        println!("skipped: python: the command python3 was not found");
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/asking_server.py");
    let servers = json!({"mcpServers": {"asker": {"command": "python3", "args": [script]}}});
    let agcore = Agcore::talking_to(server)
        .trusting()
        .with_file(".mcp.json", &servers.to_string());
    Some(agcore.with_file("agcore.toml", settings))
}

const ALLOWED: &str = "[permissions]\nallow = ['mcp:asker']\n";

#[test]
fn a_form_is_filled_in_at_the_terminal() {
    let server = Server::playground();
    let Some(agcore) = with_server(&server, ALLOWED) else {
        return;
    };
    let mut person = Person::chatting(agcore, &[]);
    person.types("introduce");
    person.sees("The MCP server asker asks you: Who are you?");
    person.sees("type no passwords");
    person.sees("  Your name: ");
    person.types("A");
    person.sees("this is not accepted");
    person.sees("  Your name: A");
    person.types("nn");
    // The default is there to be changed or accepted.
    person.sees("one of 1 red, 2 green, or nothing");
    person.sees("  color: g");
    person.types("");
    person.sees("  age: ");
    person.types("");
    person.sees(r#"{"action": "accept", "content": {"#);
    person.next();

    // Esc declines.
    person.types("introduce");
    person.sees("  Your name: ");
    person.keys("\u{1b}");
    person.sees(r#"{"action": "decline"}"#);
    person.next();

    person.types("visit");
    person.sees("asks you to open a web page: Pay");
    person.sees("https://example.org/pay");
    person.sees("[n]o: ");
    person.types("y");
    person.sees(r#"{"action": "accept"}"#);
    person.next();
    person.types("/exit");
    person.leaves_with(0);
    let sent = server.requests().last().unwrap().json()["messages"].to_string();
    assert!(
        sent.contains(r#"\"name\": \"Ann\""#) && sent.contains(r#"\"color\": \"g\""#),
        "{sent}"
    );
    assert!(!sent.contains(r#"\"age\""#), "{sent}");
}

#[test]
fn the_model_answers_a_server_only_with_permission() {
    let server = Server::playground();
    let Some(agcore) = with_server(&server, ALLOWED) else {
        return;
    };
    let mut person = Person::chatting(agcore, &[]);
    person.types("complete");
    person.sees("The MCP server asker wants an answer of ");
    person.sees("with at most 50 tokens, which you pay for, to:");
    person.sees("  system: Be brief.");
    person.sees("  user: Say something to the server.");
    let before = server.requests().len();
    person.types("n");
    person.sees("the user refused the request");
    person.next();
    let asked = |request: &Value| request["messages"].to_string().contains("Say something to the server.");
    assert!(!server.requests()[..before].iter().any(|request| asked(request.json())));

    person.types("complete");
    person.sees("[y]es [n]o: ");
    person.types("y");
    person.sees(" answered asker: ");
    person.sees(r#""stopReason": "endTurn""#);
    person.next();
    person.types("/exit");
    person.leaves_with(0);
    let requests: Vec<Value> = server.requests().iter().map(|request| request.json().clone()).collect();
    let sampled: Vec<&Value> = requests
        .iter()
        .filter(|request| request["messages"][0]["content"] == "Be brief.")
        .collect();
    let [sampled] = sampled[..] else { panic!("{requests:?}") };
    assert!(asked(sampled) && sampled["tools"].is_null(), "{sampled}");
}

#[test]
fn without_a_terminal_servers_are_declined() {
    let server = Server::playground();
    let Some(agcore) = with_server(&server, ALLOWED) else {
        return;
    };
    for (message, expected) in [
        ("introduce", r#"\"action\": \"decline\""#),
        ("complete", "the user cannot be asked for permission"),
    ] {
        agcore.run(["-p", message]).assert_success();
        let sent = server.requests().last().unwrap().json()["messages"].to_string();
        assert!(sent.contains(expected), "{sent}");
    }
}

#[test]
fn servers_learn_of_the_folder_if_it_is_trusted() {
    let server = Server::playground();
    let Some(agcore) = with_server(&server, ALLOWED) else {
        return;
    };
    agcore.run(["-p", "whereabouts"]).assert_success();
    let folder = agcore.directory.path().canonicalize().unwrap();
    let sent = server.requests().last().unwrap().json()["messages"].to_string();
    let expected = format!("file://{}/", folder.display());
    assert!(sent.contains(&expected), "{expected} is not in {sent}");

    // A server of the user's own, in a folder without trust.
    let script = agcore.directory.path().join(".mcp.json");
    let agcore = Agcore::talking_to(&server);
    let own = ["-p", "whereabouts", "--yes", "--mcp-config", script.to_str().unwrap()];
    agcore.run(own).assert_success();
    let sent = server.requests().last().unwrap().json()["messages"].to_string();
    assert!(sent.contains(r#"\"roots\": []"#), "{sent}");
}

#[test]
fn a_tool_that_is_added_during_a_chat_is_asked_about() {
    let server = Server::playground();
    let Some(agcore) = with_server(&server, "[permissions]\nallow = ['asker_expand']\n") else {
        return;
    };
    let mut person = Person::chatting(agcore, &[]);
    person.types("expand");
    person.sees(r#"{"ran": "expand"}"#);
    person.next();
    // The list of the server is read again in the background.
    loop {
        person.types("/tools");
        let listed = person.sees("you\r\n");
        person.sees("> ");
        if listed.contains("asker_additional: ") {
            break;
        }
    }
    person.types("additional");
    person.sees("Allow asker_additional {}?");
    person.types("s");
    person.sees(r#"{"ran": "additional"}"#);
    person.next();
    person.types("/exit");
    person.leaves_with(0);
}

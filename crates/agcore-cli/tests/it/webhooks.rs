//! `webhooks`: URLs that a server notifies of runs.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
};

use serde_json::{Value, json};

use crate::{
    serve::{Serving, input},
    support::{Agcore, Server},
};

const URL: &str = "https://example.com/hook?key=1";

fn json_of<const N: usize>(agcore: &Agcore, arguments: [&str; N]) -> Value {
    let arguments = ["webhooks"].into_iter().chain(arguments).chain(["--json"]);
    let ran = agcore.run(arguments);
    serde_json::from_str(ran.assert_success()).unwrap()
}

/// Returns what a command prints, without the end of the line.
fn printed<const N: usize>(agcore: &Agcore, arguments: [&str; N]) -> String {
    let ran = agcore.run(["webhooks"].into_iter().chain(arguments));
    ran.assert_success().trim_end().to_owned()
}

#[test]
fn webhooks_are_created_listed_and_changed() {
    let agcore = Agcore::new().at_home();
    let ran = agcore.run(["webhooks", "list"]);
    assert_eq!(ran.assert_success(), "");
    assert!(ran.stderr.starts_with("There are no webhooks."), "{}", ran.stderr);
    let title = "聊天\u{1b}[2J";
    let add = [
        "webhooks",
        "add",
        URL,
        "--id",
        "chat",
        "--event",
        "run.failed",
        "--title",
        title,
    ];
    let ran = agcore.run(add);
    let (id, secret) = ran.assert_success().trim_end().split_once('\n').unwrap();
    assert_eq!(id, "chat");
    assert!(secret.starts_with("whsec_"), "{secret}");
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    agcore.run(add).assert_failed(2, &["chat"]);
    assert_eq!(printed(&agcore, ["list", "--tenant", "acme"]), "");

    let found = json_of(&agcore, ["show", "chat"]);
    assert_eq!(found["webhook"]["events"], json!(["run.failed"]));
    assert_eq!(found["webhook"]["scope"], "owner");
    let listed = printed(&agcore, ["list"]);
    assert!(listed.starts_with("chat") && listed.contains("active"), "{listed}");
    assert!(listed.contains("聊天") && !listed.contains('\u{1b}'), "{listed:?}");
    assert_eq!(printed(&agcore, ["pause", "chat"]), "Paused chat");
    assert!(printed(&agcore, ["show", "chat"]).contains("paused: requested"));
    let message = printed(&agcore, ["test", "chat"]);
    assert!(message.starts_with("msg_"), "{message}");
    let messages = json_of(&agcore, ["deliveries", "chat", "--state", "pending"]);
    assert_eq!(messages["deliveries"][0]["id"], json!(message));
    assert_eq!(printed(&agcore, ["replay", "chat", &message]), message);
    assert!(printed(&agcore, ["deliveries", "chat"]).contains("webhook.test"));
    assert_eq!(printed(&agcore, ["deliveries", "chat", "--state", "failed"]), "");
    let renewed = printed(&agcore, ["secret", "chat"]);
    assert!(renewed.starts_with("whsec_") && renewed != secret, "{renewed}");
    let found = json_of(&agcore, ["show", "chat"]).to_string();
    let all = found + &json_of(&agcore, ["list"]).to_string() + &printed(&agcore, ["show", "chat"]);
    assert!(all.contains("previous_secret_until"), "{all}");
    for secret in [secret, &renewed] {
        assert!(!all.contains(secret.strip_prefix("whsec_").unwrap()), "{all}");
    }
    assert_eq!(printed(&agcore, ["resume", "chat"]), "Resumed chat");
    assert_eq!(printed(&agcore, ["delete", "chat"]), "Deleted chat");
    for command in ["show", "pause", "resume", "secret", "test", "deliveries", "delete"] {
        agcore
            .run(["webhooks", command, "chat"])
            .assert_failed(2, &["there is no webhook `chat`", "`agcore webhooks list`"]);
    }
}

#[test]
fn webhooks_that_make_no_sense_are_refused() {
    let agcore = Agcore::new().at_home();
    for (arguments, words) in [
        (&["add"][..], "URL"),
        (&["add", "example.com"], "URL"),
        (&["add", "ftp://example.com/"], "https://"),
        (&["add", "https://user:pass@example.com/"], "user name"),
        (&["add", URL, "--event", "run.eaten"], "run.eaten"),
        (&["replay", "chat"], "MESSAGE"),
    ] {
        let arguments = ["webhooks"].iter().chain(arguments).copied();
        agcore.run(arguments).assert_failed(2, &[words]);
    }
    // Servers may allow the host, or not.
    let ran = agcore.run(["webhooks", "add", "http://10.0.0.5:8080/hook", "--id", "private"]);
    ran.assert_success();
    assert!(ran.stderr.contains("`webhook_hosts`"), "{}", ran.stderr);
    agcore
        .run(["webhooks", "replay", "private", "msg_0"])
        .assert_failed(2, &["there is no message `msg_0`"]);
}

/// Reads a request, answers it, and returns its head and its body.
fn received(mut stream: TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    stream
        .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        .unwrap();
    (head, String::from_utf8(body).unwrap())
}

#[test]
fn a_server_notifies_an_allowed_host() {
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = receiver.local_addr().unwrap();
    let model = Server::playground();
    let settings = format!("[serve]\nwebhook_hosts = ['{address}']\n");
    let agcore = Agcore::talking_to(&model).at_home().with_user_settings(&settings);
    let url = format!("http://{address}/hook");
    let add = ["webhooks", "add", &url, "--tenant-wide", "--id", "all"];
    agcore.run(add).assert_success();
    let serving = Serving::start(&agcore, &[]);
    let events = serving.ask("POST", "/api/v1/agent/run", "", &input("t", "good day"));
    assert!(events.contains("RUN_FINISHED"), "{events}");
    let (head, body) = received(receiver.accept().unwrap().0);
    assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (&body["type"], &body["data"]["threadId"]),
        (&json!("run.completed"), &json!("t"))
    );
    let delivered = loop {
        let found = json_of(&agcore, ["deliveries", "all"]);
        if found["deliveries"][0]["state"] == "delivered" {
            break found;
        }
    };
    let id = delivered["deliveries"][0]["id"].as_str().unwrap();
    assert!(head.contains(&format!("webhook-id: {id}\r\n")), "{head}");
    assert_eq!(delivered["deliveries"][0]["last"]["status"], 204);
}

#[test]
fn hosts_in_the_settings_are_checked() {
    let model = Server::playground();
    let settings = "[serve]\nwebhook_hosts = ['http://10.0.0.5/']\n";
    let agcore = Agcore::talking_to(&model).at_home().with_user_settings(settings);
    agcore
        .run(["serve", "--check"])
        .assert_failed(2, &["`webhook_hosts` of [serve]", "10.0.0.5:8080"]);
}

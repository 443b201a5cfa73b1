//! Tests of `agcore demo`.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    process::Stdio,
};

use crate::{
    person::{Person, QUESTION},
    support::Agcore,
};

#[test]
fn shows_an_agent_at_work() {
    let agcore = Agcore::new();
    let ran = agcore.run(["demo"]);
    let shown = ran.assert_success();
    let mut rest = shown;
    // The parts appear in this order.
    for part in [
        "the model is a script",
        "My name is Ada.",
        "● weather {\"city\":\"Lisbon\"}\n● local_time {\"city\":\"Lisbon\"}\n",
        "21 °C and sunny in Lisbon",
        "● save_note",
        "Allow save_note {\"text\":\"book a table in Lisbon.\"}? The demo answers yes.\n",
        "✓ save_note",
        "What is my name?",
        "Your name is Ada.",
        "Total: ",
        "Cost: none, the model is a script.",
    ] {
        let (_, after) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("{part:?} is missing or out of order in: {shown}"));
        rest = after;
    }
    assert_eq!(ran.stderr, "");
    assert!(agcore.files().is_empty());
}

#[test]
fn ignores_settings_and_proxies() {
    let agcore = Agcore::new()
        .with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .with("HTTP_PROXY", "http://127.0.0.1:1")
        .with("http_proxy", "http://127.0.0.1:1")
        .with_file("agcore.toml", "not a settings file");
    agcore.run(["demo"]).assert_success();
}

#[test]
fn a_chat_without_a_key() {
    let agcore = Agcore::new().with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let mut person = Person::running(agcore, &["demo", "--chat"]);
    person.sees("The model is a script.");
    person.next();
    person.types("good day");
    person.sees("│ good day");
    person.next();
    person.types("save it");
    person.sees(QUESTION);
    person.types("n");
    person.sees("was denied by a person");
    person.next();
    person.presses('d');
    assert!(person.leaves_with(0).files().is_empty());
}

#[test]
fn a_message_from_a_pipe() {
    let ran = Agcore::new().run_with(["demo", "--chat"], b"good day");
    assert!(ran.assert_success().contains("good day"), "{}", ran.stdout);
}

#[test]
fn other_programs_can_use_the_model() {
    let agcore = Agcore::new();
    let mut serving = agcore.command();
    let serving = serving.args(["demo", "--serve", "0"]).stdout(Stdio::piped()).spawn();
    let mut serving = serving.unwrap();
    let mut url = String::new();
    BufReader::new(serving.stdout.as_mut().unwrap())
        .read_line(&mut url)
        .unwrap();
    let asked = Agcore::new().run(["-p", "good day", "--model", "compatible:any", "--base-url", url.trim()]);
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(asked.assert_success().contains("good day"), "{}", asked.stdout);

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    agcore
        .run(["demo", "--serve", &port])
        .assert_failed(1, &["cannot start the demo's model server"]);
    agcore
        .run(["demo", "--serve", "0", "--chat"])
        .assert_failed(2, &["--chat"]);
}

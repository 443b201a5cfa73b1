//! Messages on standard input.

use crate::support::{Agcore, Server};

#[test]
fn answers_a_message_from_a_pipe() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run_with(["chat"], b"hi\n");
    let answer = ran.assert_success();
    assert!(answer.starts_with("You wrote:\n\n> hi\n"), "{answer}");
    assert!(answer.ends_with('\n') && !answer.ends_with("\n\n"), "{answer:?}");
    // Only the answer goes to standard output.
    assert!(
        !answer.contains("tokens") && ran.stderr.contains("tokens in"),
        "{}",
        ran.stderr
    );
}

#[test]
fn rejects_empty_messages() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    for input in ["", " \n\t\n"] {
        agcore
            .run_with(["chat"], input.as_bytes())
            .assert_failed(2, &["error: the message is empty"]);
    }
    agcore
        .run(["chat", " "])
        .assert_failed(2, &["error: the message is empty"]);
    assert!(server.requests().is_empty());
}

#[test]
fn rejects_input_that_is_not_utf8() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run_with(["chat"], b"caf\xe9\n");
    ran.assert_failed(2, &["error: standard input is not valid UTF-8: byte 4 is invalid"]);
    assert!(server.requests().is_empty());
}

#[test]
fn accepts_a_message_of_a_megabyte() {
    let server = Server::playground();
    let message = "字".repeat(350_000);
    let ran = Agcore::talking_to(&server).run_with(["chat"], message.as_bytes());
    assert!(ran.assert_success().contains(&message), "the echo is incomplete");
    assert_eq!(server.requests()[0].prompt().last_user(), message);
}

#[test]
fn accepts_chinese_and_emoji() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    assert!(
        agcore
            .run(["chat", "你好，世界 🌍"])
            .assert_success()
            .contains("> 你好，世界 🌍\n")
    );
    assert_eq!(server.requests()[0].prompt().last_user(), "你好，世界 🌍");
}

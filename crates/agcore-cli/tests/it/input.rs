//! What comes through standard input.

use crate::support::{Agcore, Server};

#[test]
fn a_message_from_a_pipe_is_answered() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run_with(["chat"], b"hi\n");
    let answer = ran.assert_done();
    assert!(answer.starts_with("You said:\n\n> hi\n"), "{answer}");
    assert!(answer.ends_with('\n') && !answer.ends_with("\n\n"), "{answer:?}");
    // The answer alone is standard output; the rest is for the person.
    assert!(
        !answer.contains("tokens") && ran.stderr.contains("tokens in"),
        "{}",
        ran.stderr
    );
}

#[test]
fn nothing_to_say() {
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
fn bytes_that_are_no_text() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run_with(["chat"], b"caf\xe9\n");
    ran.assert_failed(2, &["error: standard input is not UTF-8 text: byte 4 fits nowhere"]);
    assert!(server.requests().is_empty());
}

#[test]
fn a_message_of_a_megabyte() {
    let server = Server::playground();
    let message = "字".repeat(350_000);
    let ran = Agcore::talking_to(&server).run_with(["chat"], message.as_bytes());
    assert!(ran.assert_done().contains(&message), "the echo is whole");
    assert_eq!(server.requests()[0].prompt().last_user(), message);
}

#[test]
fn chinese() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    assert!(
        agcore
            .run(["chat", "你好，世界 🌍"])
            .assert_done()
            .contains("> 你好，世界 🌍\n")
    );
    assert_eq!(server.requests()[0].prompt().last_user(), "你好，世界 🌍");
}

//! Servers that refuse, are not there, or are no model servers: the message and the exit code.

use std::net::TcpListener;

use agcore_testkit::mock_server::{MockOptions, Playground, RecordedRequest, Reply};

use crate::support::{Agcore, KEY, Server};

#[test]
fn a_wrong_key() {
    let server = Server::start(MockOptions::new().with_key("another key"), Playground::new());
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_failed(
        3,
        &[
            "(HTTP 401)",
            "The server refuses the key",
            "check OPENAI_API_KEY or AGCORE_API_KEY",
        ],
    );
    assert_eq!(ran.stdout, "");
    assert_eq!(server.requests().len(), 1, "a wrong key is not tried again");
    assert!(agcore.files().is_empty());
}

#[test]
fn a_server_that_wants_a_key_and_gets_none() {
    let server = Server::start(MockOptions::new().with_key(KEY), Playground::new());
    let ran = Agcore::new().run(["chat", "--base-url", &server.base_url(), "hi"]);
    ran.assert_failed(3, &["(HTTP 401)", "The server refuses the key, or got none"]);
}

#[test]
fn nobody_at_the_address() {
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let agcore = Agcore::new()
        .with("OPENAI_API_KEY", KEY)
        .with("OPENAI_BASE_URL", &format!("http://{address}/v1"));
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_failed(
        4,
        &[
            &address.to_string(),
            "Check the base URL (--base-url) and that the server is running.",
            "↻ ",
        ],
    );
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_page_instead_of_a_model_server() {
    let page = |_: &RecordedRequest| Reply::html(200, "<html><head><title>Welcome</title></head></html>");
    let server = Server::start(MockOptions::new(), page);
    let check = |url: &str, words: &[&str]| {
        let ran = Agcore::new()
            .with("OPENAI_API_KEY", KEY)
            .run(["chat", "--base-url", url, "hi"]);
        ran.assert_failed(1, words);
        assert_eq!(ran.stdout, "");
    };
    check(
        &server.base_url(),
        &["Welcome", "it is what stands before /chat/completions"],
    );
    // A path that is none.
    check(&server.root_url(), &["(HTTP 404)", "the base URL (--base-url)"]);
}

#[test]
fn an_unknown_model() {
    let server = Server::start(MockOptions::new().with_model("small"), Playground::new());
    let ran = Agcore::talking_to(&server).run(["chat", "--model", "smal", "hi"]);
    ran.assert_failed(1, &["`smal`", "(HTTP 404)", "Check the model's name (--model)"]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn money_that_is_used_up() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "quota"]);
    ran.assert_failed(1, &["(HTTP 429)", "waiting does not help soon"]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_answer_that_breaks_off_is_shown_as_far_as_it_came() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "fail"]);
    ran.assert_failed(1, &["The server had an error"]);
    assert!(ran.stdout.starts_with("word1 word2"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with('\n'));
}

//! Servers that reject requests, are unreachable, or are not model servers: the message and the exit code.

use std::net::TcpListener;

use agcore_demo::Playground;
use agcore_testkit::mock_server::{ApiError, MockOptions, RecordedRequest, Reply};

use crate::support::{Agcore, KEY, Server};

#[test]
fn wrong_key() {
    let server = Server::start(MockOptions::new().with_key("another key"), Playground::new());
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_failed(
        3,
        &[
            "(HTTP 401)",
            "The server rejected the API key",
            "check OPENAI_API_KEY or AGCORE_API_KEY",
        ],
    );
    assert_eq!(ran.stdout, "");
    assert_eq!(server.requests().len(), 1, "the request was retried");
    assert!(agcore.files().is_empty());
}

#[test]
fn the_message_of_a_server_cannot_control_the_terminal() {
    let refuse = |_: &RecordedRequest| {
        let message = "bad\u{1b}]0;pwned\u{7}\u{1b}[2J \u{202e}request";
        Reply::error(ApiError::new(400).with_message(message))
    };
    let server = Server::start(MockOptions::new(), refuse);
    let ran = Agcore::talking_to(&server).run(["chat", "hi"]);
    ran.assert_failed(1, &["bad\u{fffd}]0;pwned\u{fffd}\u{fffd}[2J \u{fffd}request"]);
}

#[test]
fn missing_key() {
    let server = Server::start(MockOptions::new().with_key(KEY), Playground::new());
    let ran = Agcore::new().run(["chat", "--base-url", &server.base_url(), "hi"]);
    ran.assert_failed(3, &["(HTTP 401)", "The server rejected the API key, or received none"]);
}

#[test]
fn no_key_at_all() {
    let ran = Agcore::new().run(["chat", "hi"]);
    ran.assert_failed(3, &[]);
    let expected = "error: openai: the API key is missing\nSet OPENAI_API_KEY or AGCORE_API_KEY in the environment or in \
                    the .env of a trusted folder.\nOr store the key with `agcore keys set openai`; `agcore init` asks for \
                    everything.\nOr use a local model: agcore -m ollama:llama3.2\nOr try the program without a model: \
                    agcore demo --chat\n";
    assert_eq!(ran.stderr, expected);
}

#[test]
fn a_wait_that_is_too_long_is_one_sentence() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "error 429 3600"]);
    ran.assert_failed(1, &["; not retried: the next attempt would have to wait 3600.0 s"]);
    assert!(!ran.stderr.contains(".;"), "{}", ran.stderr);
}

#[test]
fn no_server_at_the_address() {
    // The port was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let agcore = Agcore::new()
        .with("OPENAI_API_KEY", KEY)
        .with("OPENAI_BASE_URL", &format!("http://{address}/v1"));
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_failed(
        4,
        &[
            &address.to_string(),
            "Check that the server is running, and the base URL (--base-url, AGCORE_BASE_URL, OPENAI_BASE_URL, or `base_url` in agcore.toml).",
            "? Attempt 2 in ",
        ],
    );
    assert!(!ran.stderr.contains("?:"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    assert_eq!(
        ran.stderr.matches("↻ ").count(),
        1,
        "retried more than once: {}",
        ran.stderr
    );
    for unwanted in ["?:", "error sending request", "os error"] {
        assert!(!ran.stderr.contains(unwanted), "{unwanted:?} in {}", ran.stderr);
    }
}

#[test]
fn a_web_page_instead_of_a_model_server() {
    let page = |_: &RecordedRequest| Reply::html(200, "<html><head><title>Welcome</title></head></html>");
    let server = Server::start(MockOptions::new(), page);
    let check = |url: &str, texts: &[&str]| {
        let ran = Agcore::new()
            .with("OPENAI_API_KEY", KEY)
            .run(["chat", "--base-url", url, "hi"]);
        ran.assert_failed(1, texts);
        assert!(!ran.stderr.contains("; check the base URL"), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    };
    let advice = "Check the base URL (--base-url, AGCORE_BASE_URL, OPENAI_BASE_URL, or `base_url` in agcore.toml): /chat/completions is \
                  appended to it.";
    let page = "the address answered with a web page (Welcome) instead of";
    check(&server.base_url(), &[page, advice]);
    assert_eq!(server.requests().len(), 1, "a web site is asked once");
    // A path that does not exist.
    check(
        &format!("{}/x", server.base_url()),
        &["(HTTP 404)", "the base URL (--base-url)"],
    );
    // Web servers refuse the method, or do not know the path.
    for status in [404, 405] {
        let page_of =
            move |_: &RecordedRequest| Reply::html(status, "<html><head><title>Welcome</title></head></html>");
        let server = Server::start(MockOptions::new(), page_of);
        check(&server.base_url(), &[page, &format!("(HTTP {status})"), advice]);
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[test]
fn the_variable_that_led_to_a_web_page_is_named() {
    let page = |_: &RecordedRequest| Reply::html(200, "<html><head><title>Welcome</title></head></html>");
    let server = Server::start(MockOptions::new(), page);
    let ran = Agcore::talking_to(&server).run(["chat", "hi"]);
    let advice = "Check the base URL (--base-url, AGCORE_BASE_URL, OPENAI_BASE_URL, or `base_url` in agcore.toml): /chat/completions is";
    ran.assert_failed(1, &["(Welcome) instead of a chat completion\n", advice]);
}

#[test]
fn a_base_url_without_its_version() {
    let server = Server::playground();
    let root = server.root_url();
    let agcore = Agcore::new().with("OPENAI_API_KEY", KEY).with("AGCORE_BASE_URL", &root);
    let advice = format!("Try --base-url {}, or check the model name", server.base_url());
    agcore.run(["chat", "hi"]).assert_failed(1, &["(HTTP 404)", &advice]);
    agcore
        .run(["models"])
        .assert_failed(1, &["does not list its models", &advice]);
    let ran = agcore.run(["doctor"]);
    let advice = format!("If chats fail too, try --base-url {}", server.base_url());
    let shown = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(&advice), "{shown}");
}

#[test]
fn a_redirect() {
    let redirect = |_: &RecordedRequest| Reply::redirect(308, "https://other.example/v1");
    let server = Server::start(MockOptions::new(), redirect);
    let ran = Agcore::talking_to(&server).run(["chat", "hi"]);
    ran.assert_failed(1, &["redirects to https://other.example/v1", "set the base URL"]);
    assert!(!ran.stderr.contains("model name"), "{}", ran.stderr);
}

#[test]
fn ollama_is_not_running() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{address}/v1");
    let ran = Agcore::new().run(["chat", "--provider", "ollama", "--model", "m", "--base-url", &url, "hi"]);
    ran.assert_failed(4, &["connection refused", "Start Ollama with `ollama serve`"]);
}

#[test]
fn unknown_model() {
    let server = Server::start(MockOptions::new().with_model("small"), Playground::new());
    let ran = Agcore::talking_to(&server).run(["chat", "--model", "smal", "hi"]);
    ran.assert_failed(1, &["`smal`", "(HTTP 404)", "Check the model name (--model"]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_account_that_can_pay_for_a_shorter_answer() {
    let server = Server::start(MockOptions::new(), |request: &RecordedRequest| {
        match request.json()["max_completion_tokens"].as_u64() {
            Some(limit) if limit <= 1_234 => Reply::text("Short."),
            _ => Reply::error(ApiError::new(402).with_message(
                "This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 1234",
            )),
        }
    });
    let ran = Agcore::talking_to(&server).run(["chat", "hi"]);
    assert!(ran.assert_success().contains("Short."));
    let ran = Agcore::talking_to(&server).run(["chat", "hi", "--option", "max_tokens=9000"]);
    ran.assert_failed(
        1,
        &[
            "can only afford 1234",
            "The account can pay for at most 1234 tokens of an answer: pass --option max_tokens=1234, or add credit",
        ],
    );
}

#[test]
fn exhausted_quota() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "quota"]);
    ran.assert_failed(1, &["(HTTP 429)", "retrying will not help"]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn shows_the_part_of_an_answer_before_an_error() {
    let server = Server::playground();
    let ran = Agcore::talking_to(&server).run(["chat", "fail"]);
    ran.assert_failed(1, &["The server had an error"]);
    assert!(ran.stdout.starts_with("word1 word2"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with('\n'));
}

#[test]
fn an_answer_that_breaks_off_is_not_an_unreachable_server() {
    let server = Server::playground();
    for (message, reason) in [("cut", "closed the connection"), ("reset", "lost the connection")] {
        let ran = Agcore::talking_to(&server).run(["chat", message]);
        ran.assert_failed(1, &[reason, "in the middle of the reply"]);
        assert!(ran.stdout.contains("word1"), "{}", ran.stdout);
        assert!(!ran.stderr.contains("Check "), "{}", ran.stderr);
    }
}

//! Rate limits: the delay that the server asks for, the number of attempts, and the countdown.

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, Script};

use crate::support::{Agcore, Server};

fn limited(header: &str, value: &str) -> Reply {
    Reply::json(
        429,
        &serde_json::json!({"error": {"message": "Please slow down.", "type": "rate_limit_error"}}),
    )
    .with_header(header, value)
}

#[test]
fn the_attempts_are_limited_and_wait_as_the_server_asks() {
    let server = Server::start(MockOptions::new(), |_: &RecordedRequest| {
        limited("retry-after-ms", "20")
    });
    let ran = Agcore::talking_to(&server).run(["chat", "hello"]);
    ran.assert_failed(1, &["Please slow down. (HTTP 429)"]);
    for attempt in 2..=4 {
        let line = format!("↻ openai: Please slow down. (HTTP 429); attempt {attempt} in 20 ms");
        assert!(ran.stderr.contains(&line), "no {line:?} in {}", ran.stderr);
    }
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_delay_that_is_too_long_is_reported_at_once() {
    let server = Server::start(MockOptions::new(), |_: &RecordedRequest| limited("retry-after", "3600"));
    let ran = Agcore::talking_to(&server).run(["chat", "hello"]);
    ran.assert_failed(
        1,
        &["Please slow down; not retried: the next attempt would have to wait 3600.0 s"],
    );
    assert_eq!(server.requests().len(), 1);
}

#[cfg(unix)]
#[test]
fn the_wait_is_counted_down_at_a_terminal() {
    let script = Script::new([limited("retry-after", "2"), Reply::text("Here I am.")]);
    let server = Server::start(MockOptions::new(), script);
    let mut person = crate::person::Person::at(&server, &[]);
    person.types("hello");
    person.sees("attempt 2 in 2.0 s");
    person.sees("next attempt in ");
    person.sees("Here I am.");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

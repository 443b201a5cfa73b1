//! `/compact`, and automatic compaction.

use agcore_testkit::mock_server::{ApiError, Fault, Hold, MockOptions, Point, RecordedRequest, Reply, ToolCall};
use serde_json::json;

use crate::{
    person::Person,
    support::{Agcore, Server},
};

/// The text of the summary.
const SUMMARY: &str = "The user talks about cats.";

/// Returns whether this request asks for a summary.
fn is_summary_request(request: &RecordedRequest) -> bool {
    request.prompt().last_user().starts_with("<transcript>")
}

/// Starts a server that answers requests for a summary with this reply, and all others with a long text.
fn server(summary: impl Fn() -> Reply + Send + Sync + 'static) -> Server {
    let reply = move |request: &RecordedRequest| match is_summary_request(request) {
        true => summary(),
        false => Reply::text(format!("{}Done.", "purr ".repeat(200))),
    };
    Server::start(MockOptions::new(), reply)
}

/// Sends enough messages that the conversation can be compacted.
fn talk(person: &mut Person) {
    for message in ["cats", "one", "two", "three", "four", "five"] {
        person.types(message);
        person.sees("Done.");
        person.next();
    }
}

fn last_request(server: &Server) -> String {
    server.requests().pop().unwrap().json().to_string()
}

#[test]
fn summarizes_the_older_part() {
    let server = server(|| Reply::text(SUMMARY));
    let mut person = Person::at(&server, &[]);
    person.types("/compact");
    person.sees("There is nothing to compact; a request has about ");
    person.next();
    assert!(server.requests().is_empty(), "there was nothing to compact");
    talk(&mut person);
    person.types("/compact");
    person.sees("Summarized the older part of the conversation: about ");
    person.sees(" tokens before, ");
    person.sees("1 model call");
    person.next();
    person.types("six");
    person.sees("Done.");
    person.next();
    let sent = last_request(&server);
    assert!(sent.contains(SUMMARY) && sent.contains("five"), "{sent}");
    assert!(!sent.contains("\"one\""), "{sent}");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_failed_summary_leaves_the_conversation_unchanged() {
    let server = server(|| Reply::error(ApiError::new(400).with_message("no summaries today")));
    let mut person = Person::at(&server, &[]);
    talk(&mut person);
    person.types("/compact");
    person.sees("cannot summarize the conversation: ");
    person.sees("no summaries today");
    person.sees("The conversation is unchanged.");
    person.next();
    person.types("six");
    person.sees("Done.");
    person.next();
    assert!(last_request(&server).contains("\"one\""));
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn ctrl_c_cancels_the_compaction() {
    let server = server(|| Reply::text(SUMMARY).with_fault(Fault::stall(Point::BeforeHeaders, Hold::Forever)));
    let mut person = Person::at(&server, &[]);
    talk(&mut person);
    let before = server.requests().len();
    person.types("/compact");
    server.wait_for_requests(before + 1);
    person.presses('c');
    person.sees("cancelled");
    person.sees("The conversation is unchanged.");
    person.next();
    person.types("six");
    person.sees("Done.");
    person.next();
    assert!(last_request(&server).contains("\"one\""));
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn removes_old_results_if_the_summary_fails() {
    let reply = |request: &RecordedRequest| {
        if is_summary_request(request) {
            return Reply::error(ApiError::new(400));
        }
        match request.prompt().last_user() {
            "read" if request.prompt().results().is_empty() => {
                Reply::tool_calls([ToolCall::new("read_notes", &json!({}))])
            }
            _ => Reply::text("Done."),
        }
    };
    let server = Server::start(MockOptions::new(), reply);
    let notes = "- a long note\n".repeat(100);
    let agcore = Agcore::talking_to(&server).with_file("agcore-notes.md", &notes);
    let mut person = Person::chatting(agcore, &[]);
    for message in ["read", "one", "two", "three", "four", "five"] {
        person.types(message);
        person.sees("Done.");
        person.next();
    }
    person.types("/compact");
    person.sees("Removed old tool results: about ");
    person.next();
    person.types("six");
    person.sees("Done.");
    person.next();
    let sent = last_request(&server);
    assert!(
        !sent.contains("a long note") && sent.contains("taken out to save space"),
        "{sent}"
    );
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn reports_automatic_compaction() {
    let reply = |request: &RecordedRequest| {
        let sent = request.json().to_string();
        if is_summary_request(request) {
            Reply::text(SUMMARY)
        } else if sent.contains("overflow") && !sent.contains(SUMMARY) {
            Reply::error(ApiError::context_length(8_192, 10_000))
        } else {
            Reply::text(format!("{}Done.", "purr ".repeat(200)))
        }
    };
    let server = Server::start(MockOptions::new(), reply);
    let mut person = Person::at(&server, &[]);
    talk(&mut person);
    person.types("overflow");
    person.sees("⇣ Summarized the older part of the conversation: about ");
    person.sees("Done.");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

/// The server lists the window of its models, so no request has to be refused before the conversation is compacted.
#[test]
fn compacts_before_the_window_that_the_server_lists_is_full() {
    let list = |_: &RecordedRequest| {
        let entry = |name: &str, window: u64| json!({"id": name, "object": "model", "context_window": window});
        Reply::json(
            200,
            &json!({"object": "list", "data": [entry("other", 512), entry("gpt-5-mini", 16_384)]}),
        )
    };
    let reply = |request: &RecordedRequest| match is_summary_request(request) {
        true => Reply::text(SUMMARY),
        false => Reply::text(format!("{}Done.", "purr ".repeat(4_000))),
    };
    let server = Server::start(MockOptions::new().with_route("GET", "/v1/models", list), reply);
    let mut person = Person::at(&server, &[]);
    for message in ["one", "two"] {
        person.types(message);
        person.sees("Done.");
        person.next();
    }
    person.types("/context");
    person.sees("%");
    person.sees("The context window has 16384 tokens.");
    person.next();
    for message in ["three", "four", "five"] {
        person.types(message);
        person.sees("Done.");
        person.next();
    }
    let asked = server.requests();
    let is_chat = |request: &&RecordedRequest| request.path().ends_with("/chat/completions");
    assert!(
        asked.iter().filter(is_chat).any(is_summary_request),
        "nothing was compacted"
    );
    let lists = asked
        .iter()
        .filter(|request| request.path().ends_with("/models"))
        .count();
    assert_eq!(lists, 1, "the list is requested once");
    person.presses('d');
    person.leaves_with(0);
}

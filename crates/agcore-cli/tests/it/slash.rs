//! Messages that start with a slash, and commands that print a report.

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply};

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

#[test]
fn paths_and_doubled_slashes_are_messages() {
    let server = Server::playground();
    // The model would call the tools whose names occur in a message.
    let mut person = Person::at(&server, &["--no-tools"]);
    for (line, message) in [
        ("/etc/passwd is a file", "/etc/passwd is a file"),
        ("//help", "/help"),
        ("/hosts.md", "/hosts.md"),
    ] {
        person.types(line);
        person.sees("messages in this request");
        person.next();
        assert_eq!(server.requests().pop().unwrap().prompt().last_user(), message);
    }
    person.types("/etc");
    person.sees("unknown command /etc");
    person.sees("to send it as a message, type //etc");
    person.next();
    assert_eq!(server.requests().len(), 3);
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn reports_usage_context_and_status() {
    let server = Server::playground();
    let mut person = Person::at(&server, &["--model", "first"]);
    person.types("hello");
    person.next();
    person.types("/usage");
    person.sees("cache write");
    person.sees("this chat. Input is without cached tokens.");
    person.next();
    person.types("/context");
    person.sees("instructions");
    person.sees("messages (2)");
    person.sees("total");
    person.sees("The size of the context window is not known.");
    person.next();
    person.types("/status");
    person.sees("first");
    person.sees("openai at http://127.0.0.1");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_kept_answer_can_be_revoked() {
    let server = Server::playground();
    let mut person = Person::chatting(Agcore::talking_to(&server).at_home(), &[]);
    person.types("/permissions");
    person.sees("No answers are kept.");
    person.next();
    person.types("save it");
    person.sees(QUESTION);
    person.types("a");
    person.next();
    person.types("/permissions");
    person.sees("save_note with any arguments, always, in ");
    person.next();
    person.types("/permissions revoke save_note");
    person.sees("Revoked. Calls of save_note follow the rules again.");
    person.next();
    person.types("/permissions revoke save_note");
    person.sees("no answer about save_note is kept");
    person.next();
    person.types("save it again");
    person.sees(QUESTION);
    person.types("n");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn compacts_with_a_focus() {
    let reply = |request: &RecordedRequest| match request.prompt().last_user().starts_with("<transcript>") {
        true => Reply::text("Tom."),
        false => Reply::text("purr ".repeat(200)),
    };
    let server = Server::start(MockOptions::new(), reply);
    let mut person = Person::at(&server, &[]);
    for number in 0..6 {
        person.types(&format!("message {number}"));
        person.next();
    }
    person.types("/compact the names of cats");
    person.sees("tokens before, ");
    person.next();
    let request = server.requests().pop().unwrap().json().to_string();
    assert!(
        request.contains("keep everything about: the names of cats"),
        "{request}"
    );
    person.types("/usage");
    let counts = person.sees("Tokens of");
    assert!(counts.trim_end().ends_with('7'), "{counts}");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn themes_are_listed_and_changed() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_user_settings("theme = 'contrast'\n");
    let mut person = Person::chatting(agcore, &[]);
    person.types("/theme");
    person.sees("* contrast");
    person.next();
    person.types("/theme plain");
    person.sees("Theme: plain. To keep it for other chats, write `theme = \"plain\"` in ");
    person.next();
    person.types("/theme");
    person.sees("* plain");
    person.next();
    person.types("/theme pink");
    person.sees("there is no such theme; expected `auto`, `dark`");
    person.next();
    person.presses('d');
    let agcore = person.leaves_with(0);
    let ran = agcore.run(["config", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(ran.assert_success()).unwrap();
    let rows = shown["settings"].as_array().unwrap();
    assert!(
        rows.iter()
            .any(|row| row["name"] == "theme" && row["value"] == "contrast"),
        "{shown}"
    );
    agcore
        .with_user_settings("theme = 'pink'\n")
        .run(["-p", "hi"])
        .assert_failed(2, &["agcore.toml", "expected `auto`, `dark`"]);
}

#[test]
fn init_asks_the_model_to_describe_the_folder() {
    let server = Server::playground();
    let mut person = Person::at(&server, &["--no-tools"]);
    person.types("/init");
    person.sees("messages in this request: 2");
    person.next();
    assert!(server.requests()[0].prompt().last_user().contains("write AGENTS.md"));
    person.presses('d');
    person.leaves_with(0);
}

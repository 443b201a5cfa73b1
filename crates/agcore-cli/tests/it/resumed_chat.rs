//! Sessions that are continued at a terminal.

use agcore_testkit::mock_server::{Fault, Hold, MockOptions, Point, RecordedRequest, Reply, ToolCall};
use rexpect::process::Signal;
use serde_json::json;

use crate::{
    person::Person,
    support::{Agcore, Server},
};

fn at_home(server: &Server) -> Agcore {
    Agcore::talking_to(server).at_home()
}

/// Starts `chat` with these arguments, and reads the output before the first prompt.
fn resuming(agcore: Agcore, arguments: &[&str]) -> Person {
    Person::running(agcore, &[&["chat"], arguments].concat())
}

/// Leaves the chat and returns the id in the command that it prints.
fn left(person: &mut Person) -> String {
    person.presses('d');
    person.sees("agcore chat --resume ");
    person.sees("\r\n").trim().to_owned()
}

#[test]
fn a_chat_prints_how_to_resume_it_and_goes_on() {
    let server = Server::playground();
    let mut person = Person::chatting(at_home(&server), &[]);
    person.types("remember 42");
    person.next();
    let id = left(&mut person);
    let agcore = person.leaves_with(0);

    let mut person = resuming(agcore, &["--resume", &id[..13]]);
    person.sees("you: remember 42");
    person.sees("agent:\r\nYou wrote:");
    person.sees(&format!("Session {id}, 2 messages"));
    person.next();
    person.types("go on");
    person.sees("messages in this request: 4");
    person.next();
    person.types("/status");
    person.sees(&id);
    person.next();
    assert_eq!(left(&mut person), id);
    person.leaves_with(0);
}

#[test]
fn a_resumed_chat_shows_the_last_exchanges_and_the_whole_answer() {
    let server = Server::start(MockOptions::new(), |request: &RecordedRequest| {
        match request.prompt().last_user() {
            "long" => Reply::text((1..=80).map(|number| format!("- line {number}\n")).collect::<String>()),
            message => Reply::text(format!("Answer to {message}.")),
        }
    });
    let agcore = at_home(&server);
    agcore.run(["-p", "one"]).assert_success();
    for message in ["two", "three", "long"] {
        agcore.run(["-p", message, "--continue"]).assert_success();
    }
    let mut person = resuming(agcore, &["--continue"]);
    let before = person.sees("you: two");
    assert!(!before.contains("one"), "{before}");
    person.sees("agent: Answer to two.");
    person.sees("you: three");
    person.sees("agent: Answer to three.");
    person.sees("you: long");
    person.sees("agent: … 20 earlier lines");
    let shown = person.sees("8 messages in the conversation.");
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains("line ")).collect();
    assert_eq!(lines.len(), 60, "{shown}");
    assert!(
        lines[0].ends_with("line 21") && lines[59].ends_with("line 80"),
        "{shown}"
    );
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn the_model_that_answered_last_goes_on() {
    let server = Server::playground();
    let mut person = Person::chatting(at_home(&server), &[]);
    person.types("/model other");
    person.sees("Model set to other");
    person.next();
    person.types("hello");
    person.next();
    person.presses('d');
    let agcore = person.leaves_with(0);

    let used = |arguments: &[&str]| {
        let ran = agcore.run([&["-p", "go on", "--output-format", "stream-json"], arguments].concat());
        let init: serde_json::Value = serde_json::from_str(ran.assert_success().lines().next().unwrap()).unwrap();
        let sent = server.requests().pop().unwrap().json()["model"].clone();
        assert_eq!(init["model"], sent);
        (sent, init["session_id"].as_str().unwrap().to_owned())
    };
    let (model, id) = used(&["--continue"]);
    assert_eq!(model, "other");
    assert_eq!(used(&["--continue", "--model", "third"]).0, "third");
    assert_eq!(used(&["--continue", "--fork-session"]).0, "third");
    assert_eq!(used(&[]).0, "gpt-5-mini");

    // A session of another model, in the same chat.
    let mut person = resuming(agcore, &["--continue"]);
    person.sees("Model: gpt-5-mini (openai");
    person.next();
    person.types(&format!("/resume {id}"));
    person.sees("Model: third");
    person.next();
    person.types("and now");
    person.next();
    assert_eq!(server.requests().pop().unwrap().json()["model"], "third");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_chat_that_was_killed_before_any_answer_keeps_its_model() {
    let server = Server::playground();
    let mut person = Person::chatting(at_home(&server), &["--model", "other"]);
    person.types("slow");
    person.sees("word3");
    person.session.process_mut().kill(Signal::SIGKILL).unwrap();

    let mut person = resuming(person.agcore, &["--continue"]);
    person.sees("Model: other (openai");
    person.sees("Continue the turn? [y]es, [n]o: ");
    person.types("y");
    person.next();
    assert_eq!(server.requests().pop().unwrap().json()["model"], "other");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_model_of_another_provider_is_named() {
    let server = Server::playground();
    let agcore = at_home(&server);
    let url = server.base_url();
    let other = ["--provider", "compatible", "--base-url", &url, "--model", "local"];
    agcore.run([&["-p", "hello"], &other[..]].concat()).assert_success();
    let mut person = resuming(agcore, &["--continue"]);
    person.sees("Model: gpt-5-mini (openai");
    person.sees("compatible:local answered last, and gpt-5-mini answers now.");
    person.sees("compatible:local");
    person.next();
    person.presses('d');
    person.sees("--resume");
    person.leaves_with(0);
}

#[test]
fn an_unused_chat_leaves_nothing() {
    let server = Server::playground();
    let mut person = Person::chatting(at_home(&server), &[]);
    person.presses('d');
    let shown = person.session.exp_eof().unwrap();
    assert!(!shown.contains("--resume"), "{shown}");
    let list = person.agcore.run(["sessions", "list"]);
    assert_eq!(list.assert_success(), "There are no sessions.\n");
}

#[test]
fn what_streamed_before_ctrl_c_is_there_after_a_restart() {
    let server = Server::playground();
    let mut person = Person::chatting(at_home(&server), &[]);
    person.types("slow");
    person.sees("word3");
    person.presses('c');
    person.sees("The part that arrived is kept");
    person.next();
    // The program gets no chance to write anything more.
    person.session.process_mut().kill(Signal::SIGKILL).unwrap();
    let agcore = person.agcore;

    let mut person = resuming(agcore, &["--continue"]);
    person.sees("you: slow");
    person.sees("word3");
    person.next();
    person.types("continue");
    person.sees("messages in this request: 4");
    person.next();
    let sent = server.requests().pop().unwrap().json()["messages"].to_string();
    assert!(sent.contains("[interrupted by the user]"), "{sent}");
    person.types("/undo");
    person.sees("Removed 2 messages, from \"continue\" on.");
    person.next();
    person.session.process_mut().kill(Signal::SIGKILL).unwrap();
    let agcore = person.agcore;

    let mut person = resuming(agcore, &["--continue"]);
    let shown = person.sees("Session ");
    assert!(!shown.contains("you: continue"), "{shown}");
    person.next();
    person.presses('d');
    person.sees("--resume");
    person.leaves_with(0);
}

#[test]
fn a_turn_that_was_stopped_is_listed_as_cancelled() {
    let server = Server::playground();
    let mut person = Person::chatting(at_home(&server), &[]);
    person.types("hello");
    person.next();
    person.types("slow");
    person.sees("word3");
    person.presses('c');
    person.sees("The part that arrived is kept");
    person.next();
    left(&mut person);
    let agcore = person.leaves_with(0);
    let list = agcore.run(["sessions", "list"]);
    let lines: Vec<&str> = list.assert_success().lines().collect();
    assert_eq!(lines.len(), 2, "{}", list.stdout);
    assert!(
        lines[0].starts_with("session ") && lines[0].contains("  last turn  "),
        "{}",
        list.stdout
    );
    assert!(lines[1].contains("  cancelled  "), "{}", list.stdout);
    let list = agcore.run(["sessions", "list", "--json"]);
    assert!(
        list.assert_success().contains("\"last_turn\": \"cancelled\""),
        "{}",
        list.stdout
    );
}

#[test]
fn other_sessions_are_listed_and_chosen_in_the_chat() {
    let server = Server::playground();
    let mut person = Person::chatting(at_home(&server), &[]);
    person.types("the first one");
    person.next();
    person.types("/clear");
    person.sees("New conversation. The previous one: /resume ");
    let first = person.sees("\r\n").trim().to_owned();
    person.next();
    person.types("the second one");
    person.sees("messages in this request: 2");
    person.next();
    person.types("/sessions");
    person.sees("the second one");
    person.sees("the first one");
    person.next();
    person.types("/resume");
    person.sees("Continue which session? [1-2,");
    person.types("7");
    person.sees("Continue which session? [1-2,");
    person.types("2");
    person.sees("you: the first one");
    person.sees(&format!("Session {first}"));
    person.next();
    person.types("/resume zz");
    person.sees("no session has this name or ID, or contains `zz`; /sessions lists");
    person.next();
    // A conversation that is replaced by one from a file is kept as well.
    person.types("/save kept.json");
    person.sees("saved to kept.json");
    person.next();
    person.types("/load kept.json");
    person.sees(&format!(
        "loaded from kept.json. The previous conversation: /resume {first}"
    ));
    person.next();
    person.types(&format!("/resume {first}"));
    person.sees(&format!("Session {first}"));
    person.next();
    person.types(&format!("/resume {first}"));
    person.sees("This is the current session.");
    person.next();
    assert_eq!(left(&mut person), first);
    let agcore = person.leaves_with(0);

    // The list is also shown at the start. The newest session is next to the question.
    agcore.run(["-p", "asked once"]).assert_success();
    let mut person = resuming(agcore, &["--resume"]);
    person.sees("the first one");
    person.sees("the second one");
    person.sees(" -p ");
    let newest = person.sees("\r\n");
    assert!(newest.contains("asked once"), "{newest}");
    person.sees("Continue which session? [1-4,");
    person.types("1");
    person.next();
    assert_ne!(left(&mut person), "");
    person.leaves_with(0);
}

#[test]
fn sessions_are_found_by_names_and_texts_in_the_chat() {
    let server = Server::playground();
    let mut person = Person::chatting(at_home(&server), &["--name", "trams"]);
    for text in ["tram 28", "tram 15", "a bus"] {
        person.types(text);
        person.sees("messages in this request: 2");
        person.next();
        person.types("/clear");
        person.sees("New conversation.");
        person.next();
    }
    person.types("/sessions tram 15");
    person.sees("tram 15");
    person.sees("/resume ID continues one of them");
    person.next();
    person.types("/sessions zeppelin");
    person.sees("No session contains `zeppelin`.");
    person.next();
    // By its name.
    person.types("/resume Trams");
    person.sees("you: tram 28");
    person.next();
    // A text that several sessions contain is a list, in which another text searches again.
    person.types("/resume tram");
    person.sees("Continue which session? [1-2,");
    person.types("zeppelin");
    person.sees("No session contains `zeppelin`.");
    person.sees("Continue which session? [1-2,");
    person.types("bus");
    person.sees("Continue which session? [1,");
    person.types("1");
    person.sees("you: a bus");
    person.next();
    person.types("/rename wheels");
    person.sees("This session has the name `wheels`.");
    person.next();
    person.presses('d');
    let agcore = person.leaves_with(0);
    let list = agcore.run(["sessions", "list"]);
    assert!(list.assert_success().contains("  wheels  "), "{}", list.stdout);
}

#[test]
fn several_sessions_of_a_name_are_a_choice() {
    let server = Server::playground();
    let agcore = at_home(&server);
    for text in ["早上好", "晚上好"] {
        agcore.run(["-p", text, "--name", "trip"]).assert_success();
    }
    let mut person = resuming(agcore, &["--resume", "Trip"]);
    person.sees("Several sessions match `Trip`.");
    person.sees("Continue which session? [1-2,");
    person.types("2");
    person.sees("you: 早上好");
    person.next();
    person.types("/resume trip");
    person.sees("Continue which session? [1-2,");
    person.types("");
    person.sees("The conversation stays as it is.");
    person.next();
    person.presses('d');
    let agcore = person.leaves_with(0);

    let mut person = resuming(agcore, &["--resume", "trip"]);
    person.sees("Continue which session? [1-2,");
    person.types("");
    person.sees("error: no session was chosen");
    let agcore = person.leaves_with(1);
    let ran = agcore.run(["-p", "x", "--resume", "trip"]);
    ran.assert_failed(2, &["several sessions have the name `trip`", "just now  trip"]);
}

#[test]
fn a_cancelled_turn_is_not_shown_with_an_earlier_answer() {
    let model = |request: &RecordedRequest| match (request.prompt().last_user(), request.prompt().results().len()) {
        ("one", _) => Reply::text("The first answer."),
        (_, 0) => Reply::tool_calls([ToolCall::new("current_time", &json!({}))]),
        _ => Reply::text("never").with_fault(Fault::stall(Point::BeforeHeaders, Hold::Forever)),
    };
    let server = Server::start(MockOptions::new(), model);
    let mut person = Person::chatting(at_home(&server), &[]);
    person.types("one");
    person.next();
    person.types("two");
    person.sees("✓ current_time");
    server.wait_for_requests(3);
    person.presses('c');
    person.sees("cancelled");
    person.next();
    person.presses('d');
    let mut person = resuming(person.leaves_with(0), &["--continue"]);
    person.sees("you: two");
    person.sees("agent: (no answer)");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

/// Calls `save_note`, and answers after its result only if the conversation was resumed.
fn note(request: &RecordedRequest) -> Reply {
    match request.prompt().results().is_empty() {
        true => Reply::tool_calls([ToolCall::new("save_note", &json!({"text": "milk"}))]),
        false => Reply::text("slowly ".repeat(200)).with_pace(std::time::Duration::from_millis(100)),
    }
}

#[test]
fn a_killed_turn_is_offered_again() {
    let server = Server::start(MockOptions::new(), note);
    let mut person = Person::chatting(at_home(&server), &["--yes"]);
    person.types("note it");
    person.sees("✓ save_note");
    person.sees("slowly");
    person.session.process_mut().kill(Signal::SIGKILL).unwrap();
    let agcore = person.agcore;
    drop(server);

    let server = Server::start(MockOptions::new(), |_: &RecordedRequest| Reply::text("It is noted."));
    let agcore = agcore.with("OPENAI_BASE_URL", &server.base_url());
    let mut person = resuming(agcore, &["--continue"]);
    person.sees("The last turn was interrupted before it ended.");
    // Several turns may have been before it.
    person.sees("you: note it");
    person.sees("Continue the turn? [y]es, [n]o: ");
    person.types("what");
    person.sees("Continue the turn? [y]es, [n]o: ");
    person.types("y");
    person.sees("It is noted.");
    person.next();
    assert_eq!(server.requests()[0].prompt().results().len(), 1);
    person.presses('d');
    let agcore = person.leaves_with(0);
    let notes = std::fs::read_to_string(agcore.directory.path().join("agcore-notes.md")).unwrap();
    assert_eq!(notes, "- milk\n");
}

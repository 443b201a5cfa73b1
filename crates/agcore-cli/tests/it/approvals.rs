//! Approval questions at the terminal, and how long the answers are valid.

use std::fs;

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::json;

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server},
};

const SAVED: &str = "returned: Saved to agcore-notes.md.";
const ALWAYS: &str = "save_note with any arguments is always allowed from now on (";

#[test]
fn always_is_remembered_across_chats() {
    let server = Server::playground();
    let mut person = Person::chatting(Agcore::talking_to(&server).at_home(), &[]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("a");
    person.sees(SAVED);
    person.sees(ALWAYS);
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);
    assert_eq!(agcore.files(), ["agcore-notes.md"]);
    let granted: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(agcore.state("grants.json")).unwrap()).unwrap();
    let folder = agcore.directory.path().canonicalize().unwrap();
    assert_eq!(
        granted,
        serde_json::json!({
            "version": 1,
            "folders": {folder.to_str().unwrap(): {
                "version": 2,
                "grants": [{"owner": {"tenant": "local", "user": "local"}, "tool": "save_note"}]
            }}
        })
    );

    let mut person = Person::chatting(agcore, &[]);
    person.types("save it again");
    let shown = person.sees(SAVED);
    assert!(!shown.contains("Allow save_note"), "{shown}");
    person.next();
    person.types("/tools");
    person.sees("allowed: you answered \"always\" (");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);

    // With another grants file, the question is asked again.
    let mut person = Person::chatting(agcore, &["--grants", "other.json"]);
    person.types("save it once more");
    person.sees(QUESTION);
    person.types("n");
    person.next();
    person.types("/exit");
    person.leaves_with(0);
}

#[test]
fn the_tool_list_of_a_chat_reflects_the_answers() {
    let server = Server::playground();
    let rules = "[permissions]\nask = ['read_notes']\ndeny = ['current_time']\n";
    let mut person = Person::chatting(
        Agcore::talking_to(&server).trusting().with_file("agcore.toml", rules),
        &[],
    );
    person.types("/tools");
    person.sees("arithmetic: Performs an arithmetic operation on two numbers.\r\n  allowed: all permissions it needs are allowed");
    person.sees("  denied: agcore.toml:3:9: deny current_time");
    person.sees("  needs approval: agcore.toml:2:8: ask read_notes");
    person.sees("  needs approval: it needs write, which is not among the allowed permissions");
    person.next();
    person.types("save it");
    person.sees(QUESTION);
    person.types("s");
    person.sees(SAVED);
    person.next();
    person.types("/tools");
    person.sees("allowed: you allowed it for this session");
    person.next();
    person.types("/exit");
    assert_eq!(person.leaves_with(0).files(), ["agcore-notes.md", "agcore.toml"]);
}

#[test]
fn does_not_ask_about_calls_denied_by_a_rule() {
    let server = Server::playground();
    let rules = "[permissions]\ndeny = ['save_*']\n";
    let mut person = Person::chatting(
        Agcore::talking_to(&server).trusting().with_file("agcore.toml", rules),
        &[],
    );
    person.types("save it");
    let shown = person.sees("permission denied: this call of save_note is not allowed");
    assert!(!shown.contains("Allow save_note"), "{shown}");
    person.next();
    person.types("/exit");
    assert_eq!(person.leaves_with(0).files(), ["agcore.toml"]);
}

#[test]
fn reports_an_always_answer_that_cannot_be_saved() {
    let server = Server::playground();
    let mut person = Person::at(&server, &["--grants", "missing/grants.json"]);
    person.types("save it");
    person.sees(QUESTION);
    person.types("a");
    person.sees(SAVED);
    person.sees("save_note with any arguments is allowed for this session only: cannot write missing/grants.json: ");
    person.next();
    person.types("save it again");
    let shown = person.sees(SAVED);
    assert!(!shown.contains("Allow save_note"), "{shown}");
    person.next();
    person.types("/exit");
    person.leaves_with(0);
}

#[test]
fn tools_call_asks_at_the_terminal() {
    let call = ["tools", "call", "save_note", r#"{"text": "milk"}"#];
    let run = |agcore: Agcore, answers: &[&str]| {
        let mut person = Person::running(agcore, &call);
        person.sees("Allow save_note {\"text\":\"milk\"}?");
        for answer in answers {
            person.sees(QUESTION);
            person.types(answer);
        }
        person
    };
    let mut person = run(Agcore::new().at_home(), &["perhaps", "n"]);
    person.sees("error: save_note was denied: you answered no");
    let agcore = person.leaves_with(1);
    assert!(agcore.files().is_empty());

    let mut person = run(agcore, &[]);
    person.sees(QUESTION);
    person.presses('c');
    person.sees("error: cancelled");
    let agcore = person.leaves_with(130);
    assert!(agcore.files().is_empty());

    let mut person = run(agcore, &[]);
    person.sees(QUESTION);
    person.presses('d');
    person.sees("error: save_note was denied: you answered no");
    let agcore = person.leaves_with(1);
    assert!(agcore.files().is_empty());

    let mut person = run(agcore, &["a"]);
    person.sees(ALWAYS);
    person.sees("Saved to agcore-notes.md.");
    let agcore = person.leaves_with(0);

    let mut person = Person::running(agcore, &call);
    let shown = person.sees("Saved to agcore-notes.md.");
    assert!(!shown.contains("Allow save_note"), "{shown}");
    assert_eq!(person.leaves_with(0).files(), ["agcore-notes.md"]);
}

#[test]
fn the_question_of_a_sub_agent_names_the_agent() {
    let server = Server::start(MockOptions::new(), |request: &RecordedRequest| {
        let is_cook = request.json()["messages"].to_string().contains("You cook.");
        match (request.prompt().results().first(), is_cook) {
            (Some((_, result)), _) => Reply::text(format!("Result: {result}")),
            (None, true) => Reply::tool_calls([ToolCall::new("save_note", &json!({"text": "salt"}))]),
            (None, false) => Reply::tool_calls([ToolCall::new("ask_cook", &json!({"task": "Cook."}))]),
        }
    });
    let agcore = Agcore::talking_to(&server).at_home();
    let agents = agcore.settings_directory().join("agents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(
        agents.join("cook.toml"),
        "name = 'cook'\ndescription = 'Cooks.'\nsystem_prompt = 'You cook.'\n",
    )
    .unwrap();
    let mut person = Person::chatting(agcore, &[]);
    person.types("go");
    person.sees("Allow cook › save_note {\"text\":\"salt\"}?");
    person.sees(QUESTION);
    person.types("y");
    person.sees("cook › save_note");
    person.sees("Result: Result: Saved");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

/// Runs the last message as a command, and quotes its result.
fn running_commands() -> Server {
    Server::start(MockOptions::new(), |request: &RecordedRequest| {
        let prompt = request.prompt();
        match prompt.results().last() {
            Some((_, result)) => Reply::text(format!("Result: {result}")),
            _ => Reply::tool_calls([ToolCall::new("shell", &json!({"command": prompt.last_user()}))]),
        }
    })
}

/// The answer that covers the beginning of a command.
const PREFIX: &str = "6 p ";

#[test]
fn an_answer_for_a_beginning_covers_it_without_options_that_write() {
    let server = running_commands();
    let mut person = Person::chatting(Agcore::talking_to(&server).at_home(), &[]);
    person.types("git status -s");
    person.sees(PREFIX);
    person.sees("commands that begin with `git status` in this folder");
    person.sees("grants.json");
    person.sees(QUESTION);
    person.types("p");
    person.sees("Result: exit code");
    person.sees("shell with commands like git status * is always allowed from now on (");
    person.next();

    person.types("git status --branch");
    let shown = person.sees("Result: exit code");
    assert!(!shown.contains("Allow"), "{shown}");
    person.next();

    // The same beginning with an option that writes a file, and another command.
    for command in ["git status --output=x", "git status -s && touch x", "git push"] {
        person.types(command);
        person.sees("Allow shell to run this command?");
        let shown = person.sees(QUESTION);
        assert!(!shown.contains(PREFIX), "{command}: {shown}");
        person.types("p");
        person.sees("Type y, ");
        person.sees(QUESTION);
        person.types("n");
        person.next();
    }
    person.types("/exit");
    let agcore = person.leaves_with(0);
    let granted = fs::read_to_string(agcore.state("grants.json")).unwrap();
    assert!(granted.contains("\"git status *\""), "{granted}");
    assert!(agcore.files().is_empty(), "{:?}", agcore.files());
}

//! `--permission-mode`.

#[cfg(unix)]
use crate::person::{Person, QUESTION};
use crate::support::{Agcore, RunOutput, Server};
use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::json;

const NOTES: &str = "agcore-notes.md";

/// Answers a message that calls `save_note`, with these rules, and returns whether the tool has run.
fn save(rules: &str, options: &[&str]) -> (RunOutput, bool) {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .trusting()
        .with_file("agcore.toml", &format!("[permissions]\n{rules}\n"));
    let ran = agcore.run([&["-p", "save it"], options].concat());
    let has_run = agcore.files().contains(&NOTES.to_owned());
    (ran, has_run)
}

#[track_caller]
fn check(rules: &str, mode: &str, code: i32, has_run: bool) -> RunOutput {
    let (ran, found) = save(rules, &["--permission-mode", mode]);
    assert_eq!((ran.code(), found), (Some(code), has_run), "{mode}: {}", ran.stderr);
    ran.assert_clean();
    ran
}

#[test]
fn each_mode_decides_about_calls_that_need_approval() {
    for mode in ["default", "dontAsk", "dont-ask"] {
        check("", mode, 6, false);
    }
    for mode in ["acceptEdits", "accept-edits", "bypassPermissions", "bypass-permissions"] {
        check("", mode, 0, true);
    }
    check("", "plan", 0, false);
    for option in ["--yes", "--yolo", "--dangerously-skip-permissions"] {
        let (ran, has_run) = save("", &[option]);
        ran.assert_success();
        assert!(has_run, "{option}");
    }
}

#[test]
fn rules_that_deny_hold_in_every_mode() {
    for mode in ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] {
        check("deny = ['save_note']", mode, 0, false);
        check("deny = ['write']", mode, 0, false);
    }
}

#[test]
fn tools_are_allowed_for_a_run_unless_a_rule_denies_them() {
    for entry in ["save_note", "write", "save_*"] {
        let (ran, has_run) = save("", &["--allow", "arithmetic", "--allow", entry]);
        ran.assert_success();
        assert!(has_run, "{entry}");
    }
    for (rules, code) in [
        ("deny = ['save_note']", 0),
        ("deny = ['write']", 0),
        ("ask = ['save_note']", 6),
    ] {
        let (ran, has_run) = save(rules, &["--allow", "save_note"]);
        assert_eq!((ran.code(), has_run), (Some(code), false), "{rules}: {}", ran.stderr);
    }
    let (ran, has_run) = save("", &["--allow", "save_note", "--permission-mode", "plan"]);
    assert!(!has_run, "{}", ran.stdout);
    let (ran, _) = save("", &["--allow", "sav_note"]);
    ran.assert_failed(
        2,
        &["--allow: unknown tool or permission `sav_note`; did you mean `save_note`?"],
    );
}

#[test]
fn accept_edits_still_asks_what_a_rule_asks_about() {
    for rule in ["ask = ['save_note']", "ask = ['write']", "ask = ['*']"] {
        let ran = check(rule, "acceptEdits", 6, false);
        assert!(ran.stderr.contains("agcore.toml:2:8: ask"), "{}", ran.stderr);
    }
}

#[test]
fn plan_mode_ignores_rules_and_answers_that_allow() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .trusting()
        .with_file("agcore.toml", "[permissions]\nallow = ['save_note', 'write', '*']\n")
        .with_file(
            ".agcore-grants.json",
            r#"{"version": 1, "grants": [{"tool": "save_note"}]}"#,
        );
    let ran = agcore.run(["-p", "save it", "--permission-mode", "plan"]);
    let answer = ran.assert_success();
    assert!(
        answer.contains("save_note was not run: plan mode is on, in which only read-only tools may run,"),
        "{answer}"
    );
    assert!(!agcore.files().contains(&NOTES.to_owned()));
    // Read-only tools run.
    let ran = agcore.run(["-p", "some arithmetic", "--permission-mode", "plan"]);
    assert!(ran.assert_success().contains("**arithmetic** returned: 2"));
}

/// Lets the model run a command, and returns its result.
fn planned(command: &str, options: &[&str]) -> (RunOutput, Vec<String>) {
    let arguments = json!({ "command": command });
    let server = Server::start(MockOptions::new(), move |request: &RecordedRequest| {
        match request.prompt().results().first() {
            None => Reply::tool_calls([ToolCall::new("shell", &arguments)]),
            Some((_, result)) => Reply::text(format!("Result: {result}")),
        }
    });
    let agcore = Agcore::talking_to(&server).with_file("a.txt", "one\n");
    let ran = agcore.run([&["-p", "go", "--permission-mode", "plan"], options].concat());
    (ran, agcore.files())
}

#[cfg(unix)]
#[test]
fn plan_mode_runs_commands_that_only_read_if_a_rule_allows_them() {
    for command in ["ls", "ls -l a.txt && cat a.txt | head -1", "git log -1 || echo none"] {
        let (ran, _) = planned(command, &["--allow", "shell(*)"]);
        assert!(
            ran.assert_success().contains("Result: exit code 0"),
            "{command}: {}",
            ran.stdout
        );
    }
    for command in [
        "rm a.txt",
        "ls > b.txt",
        "ls; rm a.txt",
        "cat $(rm a.txt)",
        "find . -name a.txt -delete",
        "sort a.txt -o b.txt",
        "python3 -c 'print(1)'",
    ] {
        let (ran, files) = planned(command, &["--allow", "shell(*)"]);
        let answer = ran.assert_success();
        assert!(
            answer.contains("shell was not run: plan mode is on"),
            "{command}: {answer}"
        );
        assert_eq!(files, ["a.txt"], "{command}");
    }
    // Without a rule, a person is asked, and a deny rule still applies.
    let (ran, _) = planned("ls", &[]);
    ran.assert_failed(6, &["shell was denied"]);
}

/// Answers the message with a plan, and carries it out when it is asked to.
#[cfg(unix)]
fn planner() -> Server {
    Server::start(MockOptions::new(), |request: &RecordedRequest| {
        let prompt = request.prompt();
        match (prompt.last_user(), prompt.results().first()) {
            (_, Some(_)) => Reply::text("It is saved."),
            ("Carry out the plan.", None) => Reply::tool_calls([ToolCall::new("save_note", &json!({"text": "x"}))]),
            ("ask", None) => Reply::text("Which note?"),
            (message, None) => Reply::text(format!("1. Save {message}.")),
        }
    })
}

#[cfg(unix)]
#[test]
fn a_plan_is_carried_out_after_a_yes() {
    let server = planner();
    for (answer, mode, asks) in [("y", "default", true), ("a", "acceptEdits", false)] {
        let mut person = Person::at(&server, &["--permission-mode", "plan"]);
        person.types("milk");
        person.sees("1. Save milk.");
        person.sees("Carry out this plan?");
        person.sees("1 y  yes, in the permission mode default");
        person.sees(QUESTION);
        person.types(answer);
        person.sees(&format!("Permission mode: {mode}"));
        person.sees("> Carry out the plan.");
        if asks {
            person.sees("Allow save_note");
            person.sees(QUESTION);
            person.types("y");
        }
        let shown = person.sees("It is saved.");
        assert!(!shown.contains("Carry out this plan?"), "{shown}");
        person.next();
        person.presses('d');
        assert_eq!(person.leaves_with(0).files(), [NOTES]);
    }
}

#[cfg(unix)]
#[test]
fn planning_continues_with_the_answer_of_the_user() {
    let server = planner();
    let mut person = Person::at(&server, &["--permission-mode", "plan"]);
    // A question to the user is not a plan.
    person.types("ask");
    let shown = person.sees("Which note?") + &person.sees("plan > ");
    assert!(!shown.contains("Carry out"), "{shown}");
    person.types("milk");
    person.sees("Carry out this plan?");
    person.sees(QUESTION);
    person.types("bread as well");
    // It can be edited before it is sent.
    person.sees("plan > bread as well");
    person.types("");
    person.sees("1. Save bread as well.");
    person.sees(QUESTION);
    person.types("");
    person.sees("plan > ");
    person.presses('d');
    assert!(person.leaves_with(0).files().is_empty());
}

/// An agent that is asked works with the rules of the mode, too.
#[test]
fn plan_mode_asks_agents_and_denies_what_they_must_not_do() {
    let model = |request: &RecordedRequest| {
        let json = request.json();
        let messages = json["messages"].as_array().unwrap();
        let is_agent = messages[0]["content"].as_str().unwrap().starts_with("You write.");
        let last = messages.last().unwrap();
        match (is_agent, last["role"] == "tool") {
            (false, false) => Reply::tool_calls([ToolCall::new("ask_writer", &json!({"task": "Save it."}))]),
            (true, false) => Reply::tool_calls([ToolCall::new("save_note", &json!({"text": "x"}))]),
            (_, true) => Reply::text(last["content"].as_str().unwrap()),
        }
    };
    let server = Server::start(MockOptions::new(), model);
    let agcore = Agcore::talking_to(&server).at_home();
    let agents = agcore.directory.path().join(".agcore/agents");
    std::fs::create_dir_all(&agents).unwrap();
    let writer = "---\nname: writer\ndescription: Writes notes.\ntools: [save_note]\n---\nYou write.\n";
    std::fs::write(agents.join("writer.md"), writer).unwrap();
    let agcore = agcore.trusting();
    let run = |mode: &str| agcore.run(["-p", "Have it saved.", "--permission-mode", mode]);
    let ran = run("plan");
    let answer = ran.assert_success();
    assert!(answer.contains("save_note was not run: plan mode is on"), "{answer}");
    assert!(!agcore.files().contains(&NOTES.to_owned()));
    assert_eq!(server.requests().len(), 4);
    // The same agent may do it in another mode.
    run("acceptEdits").assert_success();
    assert!(agcore.files().contains(&NOTES.to_owned()));
}

#[test]
fn dont_ask_reports_why_a_call_was_denied() {
    let ran = check("", "dontAsk", 6, false);
    ran.assert_failed(
        6,
        &["it needs approval, and the permission mode dontAsk never asks (it needs write, which is not among the allowed permissions)\nChoose another --permission-mode, or allow the tool in your agcore.toml"],
    );
    check("allow = ['save_note']", "dontAsk", 0, true);
}

#[test]
fn rejects_unknown_and_contradictory_modes() {
    let (ran, _) = save("", &["--permission-mode", "acceptEdit"]);
    ran.assert_failed(2, &["acceptEdits"]);
    let (ran, _) = save("", &["--yes", "--permission-mode", "plan"]);
    ran.assert_failed(2, &["--permission-mode", "cannot be used with"]);
}

#[cfg(unix)]
#[test]
fn a_chat_follows_the_mode() {
    let server = Server::playground();
    let mut person = Person::at(&server, &["--permission-mode", "plan"]);
    // The prompt shows the mode that Shift-Tab and /plan set.
    person.types("/plan");
    person.sees("Permission mode: default");
    person.sees("you\r\n");
    let before = person.sees("> ");
    assert!(!before.contains("plan"), "{before}");
    person.keys("\u{1b}[Z");
    person.sees("accept edits > ");
    person.types("/plan");
    person.sees("you\r\n");
    person.sees("plan > ");
    person.types("/tools");
    person.sees("denied: permission mode plan: deny save_note");
    person.next();
    person.types("/permissions");
    person.sees("Permission mode: plan");
    person.next();
    person.types("save it");
    person.sees("plan mode is on");
    person.sees("Carry out this plan?");
    person.sees(QUESTION);
    person.types("n");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);
    assert!(agcore.files().is_empty());

    let mut person = Person::chatting(agcore, &["--permission-mode", "acceptEdits"]);
    person.types("save it");
    let shown = person.sees("returned: Saved to agcore-notes.md.");
    assert!(!shown.contains(QUESTION), "{shown}");
    person.next();
    person.types("/exit");
    let agcore = person.leaves_with(0);

    let mut person = Person::chatting(agcore, &["--permission-mode", "dontAsk"]);
    person.types("save it");
    let shown = person.sees("this call of save_note is not allowed");
    assert!(!shown.contains(QUESTION), "{shown}");
    person.next();
    person.types("/exit");
    person.leaves_with(0);
}

#[cfg(unix)]
#[test]
fn dont_ask_does_not_ask_at_a_terminal() {
    let server = Server::playground();
    let arguments = ["-p", "save it", "--permission-mode", "dontAsk"];
    let mut person = Person::running(Agcore::talking_to(&server), &arguments);
    let shown = person.sees("error: save_note was denied");
    assert!(!shown.contains(QUESTION), "{shown}");
    assert!(person.leaves_with(6).files().is_empty());
}

//! `agcore run`: plans, steps and their results, output, and exit codes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use agcore_testkit::mock_server::{Fault, Gate, MockOptions, Point, RecordedRequest, Reply, ToolCall};
use serde_json::json;

use crate::{
    machine::{of_type, result, stream, types},
    person::{Person, QUESTION},
    support::{Agcore, Server, runtime},
};

const PLAN: &str =
    r#"Here it is: {"steps": [{"description": "Find x."}, {"description": "Use x.", "depends_on": [1]}]}"#;

/// Answers the planner with a plan, steps with the result, and the request for the answer with the answer.
fn model(plan: &'static str, step: fn(&str) -> String) -> impl Fn(&RecordedRequest) -> Reply {
    move |request: &RecordedRequest| {
        let prompt = request.prompt();
        let text = prompt.last_user();
        let wanted = text.lines().find_map(|line| line.strip_prefix("Your step: "));
        Reply::text(match wanted {
            Some(wanted) => step(wanted),
            None if text.starts_with("Goal: ") => plan.to_owned(),
            None => "x was used.".to_owned(),
        })
    }
}

fn done(step: &str) -> String {
    format!("{step} Done.")
}

#[test]
fn prints_the_answer_and_shows_the_steps() {
    let server = Server::start(MockOptions::new(), model(PLAN, done));
    let ran = Agcore::talking_to(&server).run(["run", "Find and use x."]);
    assert_eq!(ran.assert_success(), "x was used.\n");
    let steps: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("step ")).collect();
    let expected = [
        "▸ step 1 running: Find x.",
        "✓ step 1 completed: Find x.",
        "▸ step 2 running: Use x.",
        "✓ step 2 completed: Use x.",
    ];
    assert_eq!(steps, expected);
    // The planner, two steps, and the answer.
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn the_result_of_the_only_step_is_the_answer() {
    let server = Server::start(MockOptions::new(), model(r#"{"steps": ["Find x."]}"#, done));
    let agcore = Agcore::talking_to(&server);
    assert_eq!(agcore.run_with(["run"], b"Find x.").assert_success(), "Find x. Done.\n");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn machine_output_is_that_of_one_turn() {
    let server = Server::start(MockOptions::new(), model(PLAN, done));
    let ran = Agcore::talking_to(&server).run(["run", "Find and use x.", "--output-format", "stream-json"]);
    ran.assert_success();
    let lines = stream(&ran);
    let kinds = types(&lines);
    assert_eq!((kinds[0], kinds[1], kinds[2]), ("init", "turn_start", "message"));
    assert_eq!(lines[2]["text"], "Find and use x.");
    let steps: Vec<_> = of_type(&lines, "plan_step")
        .iter()
        .map(|line| (line["index"].clone(), line["status"].clone()))
        .collect();
    assert_eq!(steps[1], (json!(0), json!("completed")));
    assert_eq!(steps.len(), 4);
    let messages = of_type(&lines, "message");
    assert_eq!((messages.len(), &messages[1]["text"]), (2, &json!("x was used.")));
    assert_eq!(messages[1]["final"], true);
    let last = lines.last().unwrap();
    assert_eq!((&last["status"], &last["text"]), (&json!("ok"), &json!("x was used.")));
    assert_eq!(
        (of_type(&lines, "turn_start").len(), of_type(&lines, "turn_end").len()),
        (1, 1)
    );
}

#[test]
fn a_failed_task_has_an_exit_code_and_names_the_step() {
    let failing = |step: &str| match step {
        "Find x." => "FAILED: there is no x".to_owned(),
        other => done(other),
    };
    let server = Server::start(MockOptions::new(), model(PLAN, failing));
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["run", "Find and use x.", "--replans", "0"]);
    ran.assert_failed(
        1,
        &["the task was not completed: step 1 (Find x.) failed: there is no x"],
    );
    assert!(ran.stderr.contains("– step 2 skipped: Use x."), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    assert_eq!(server.requests().len(), 2);

    let ran = agcore.run(["run", "Find and use x.", "--output-format", "json"]);
    assert_eq!(ran.code(), Some(1));
    assert_eq!(result(&ran)["status"], "error");
}

#[test]
fn a_model_that_makes_no_plan_is_reported() {
    let server = Server::start(MockOptions::new(), model("I will just do it.", done));
    let ran = Agcore::talking_to(&server).run(["run", "Find x."]);
    ran.assert_failed(1, &["the text contains no usable plan"]);
    assert_eq!(server.requests().len(), 3);
}

/// Returns a model whose steps save a note each. The reply after the second note is held back by a gate, once.
fn noting_model(gate: Gate) -> impl Fn(&RecordedRequest) -> Reply {
    let is_held = Arc::new(AtomicBool::new(true));
    let steps = model(PLAN, done);
    move |request: &RecordedRequest| {
        let prompt = request.prompt();
        let text = prompt.last_user();
        let Some(step) = text.lines().find_map(|line| line.strip_prefix("Your step: ")) else {
            return steps(request);
        };
        let json = request.json();
        let has_noted = json["messages"]
            .as_array()
            .unwrap()
            .iter()
            .any(|message| message["role"] == "tool");
        match (has_noted, step) {
            (false, step) => Reply::tool_calls([ToolCall::new("save_note", &json!({"text": step}))]),
            (true, "Use x.") if is_held.swap(false, Ordering::SeqCst) => {
                Reply::text("never").with_fault(Fault::stall(Point::BeforeHeaders, &gate))
            }
            (true, _) => steps(request),
        }
    }
}

#[test]
fn a_killed_task_continues_without_repeating_what_was_done() {
    let server = Server::start(MockOptions::new(), noting_model(Gate::new()));
    let agcore = Agcore::talking_to(&server).at_home();
    let notes = || std::fs::read_to_string(agcore.directory.path().join("agcore-notes.md")).unwrap();
    let runtime = runtime();
    let mut child = runtime.block_on(async { agcore.spawn(["run", "Find and use x.", "--yes"]) });
    // The plan, a call and an answer in the first step, a call in the second, and the reply that is held back.
    server.wait_for_requests(5);
    runtime.block_on(child.kill()).unwrap();
    assert_eq!(
        notes().lines().filter(|line| line.contains("x.")).count(),
        2,
        "{}",
        notes()
    );

    let resumed = agcore.run(["run", "--continue", "--yes"]);
    assert_eq!(resumed.assert_success(), "x was used.\n");
    assert!(
        resumed.stderr.contains("Continuing: Find and use x.\n"),
        "{}",
        resumed.stderr
    );
    assert!(!resumed.stderr.contains("Find x."), "{}", resumed.stderr);
    assert!(
        resumed.stderr.contains("✓ step 2 completed: Use x."),
        "{}",
        resumed.stderr
    );
    assert_eq!(
        notes().lines().filter(|line| line.contains("x.")).count(),
        2,
        "{}",
        notes()
    );
    // The reply that was held back, and the answer.
    assert_eq!(server.requests().len(), 7);

    // The task has ended: its answer is printed again.
    let again = agcore.run(["run", "--continue"]);
    assert_eq!(again.assert_success(), "x was used.\n");
    assert_eq!(server.requests().len(), 7);
    let list = agcore.run(["sessions", "list"]);
    assert!(list.assert_success().contains("Find and use x."), "{}", list.stdout);
}

/// Starts a task whose first step runs a command, and kills the program while it runs.
#[cfg(unix)]
fn killed_in_a_command() -> (Server, Agcore) {
    let steps = model(r#"{"steps": ["Find x."]}"#, done);
    // Only the first plan runs a command, which ends with the test's directory.
    let is_first = AtomicBool::new(true);
    let server = Server::start(MockOptions::new(), move |request: &RecordedRequest| {
        let is_step = request.prompt().last_user().contains("Your step: ");
        match is_step && is_first.swap(false, Ordering::SeqCst) {
            true => Reply::tool_calls([ToolCall::new(
                "shell",
                &json!({"command": "touch started; while [ -e started ]; do sleep 0.1; done"}),
            )]),
            false => steps(request),
        }
    });
    let agcore = Agcore::talking_to(&server).at_home();
    let started = agcore.directory.path().join("started");
    let runtime = runtime();
    let mut child = runtime.block_on(async { agcore.spawn(["run", "Find x.", "--yes"]) });
    while !started.exists() {
        std::thread::yield_now();
    }
    runtime.block_on(child.kill()).unwrap();
    std::fs::remove_file(started).unwrap();
    (server, agcore)
}

/// A call that may have taken effect is not repeated, and the user reads why its step fails.
#[cfg(unix)]
#[test]
fn a_call_that_was_running_when_the_program_was_killed_is_reported() {
    let (_server, agcore) = killed_in_a_command();
    let resumed = agcore.run(["run", "--continue", "--yes"]);
    // The new plan knows the failed one, so the answer is written by a turn of its own.
    assert_eq!(resumed.assert_success(), "x was used.\n");
    let expected =
        "was running when the program ended, and may have taken effect. It is not repeated, and its step fails.";
    let shown = resumed.stderr.contains("! shell {\"command\":") && resumed.stderr.contains(expected);
    assert!(shown, "{}", resumed.stderr);
    assert!(
        resumed.stderr.contains("✗ step 1 failed: Find x."),
        "{}",
        resumed.stderr
    );
}

/// At a terminal, the user decides whether such a call runs again.
#[cfg(unix)]
#[test]
fn a_person_decides_about_a_call_that_was_running_when_the_program_was_killed() {
    let (server, agcore) = killed_in_a_command();
    let mut person = Person::running(agcore, &["run", "--continue", "--yes"]);
    person.sees("Continuing: Find x.");
    person.sees("was running when the program ended");
    person.sees("Run it again?");
    person.sees(QUESTION);
    person.types("n it is found");
    person.sees("step 1 completed: Find x.");
    let agcore = person.leaves_with(0);
    assert!(!agcore.directory.path().join("started").exists());
    let requests = server.requests();
    let reads_reason = |request: &RecordedRequest| {
        String::from_utf8_lossy(request.body()).contains("The user answered no: it is found")
    };
    assert!(requests.iter().any(reads_reason), "the model reads the reason");
}

/// Returns the id of the newest session.
fn first_id(agcore: &Agcore) -> String {
    let listed = agcore.run(["sessions", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(listed.assert_success()).unwrap();
    list["sessions"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_newest_task_is_continued_although_a_chat_is_newer() {
    let server = Server::start(MockOptions::new(), model(PLAN, done));
    let agcore = Agcore::talking_to(&server).at_home();
    agcore.run(["run", "Find and use x."]).assert_success();
    let task = first_id(&agcore);
    agcore.run(["-p", "hello"]).assert_success();
    let chat = first_id(&agcore);
    assert_ne!(task, chat);
    let requests = server.requests().len();
    // It has ended, so its answer is printed again.
    let ran = agcore.run(["run", "--continue", "--output-format", "json"]);
    assert_eq!(result(&ran)["session_id"], task.as_str(), "{}", ran.stdout);
    assert_eq!(server.requests().len(), requests);
    // A chat may continue any session.
    let ran = agcore.run(["-p", "And y?", "--resume", &task]);
    ran.assert_success();
    let ran = agcore.run(["run", "--resume"]);
    ran.assert_failed(2, &["there is no terminal at which to choose a session"]);
}

#[test]
fn a_task_that_cannot_be_continued_is_reported() {
    let server = Server::start(MockOptions::new(), model(PLAN, done));
    let agcore = Agcore::talking_to(&server).at_home();
    let missing = || agcore.run(["run", "--continue"]);
    missing().assert_failed(
        2,
        &["there is no task of this folder yet", "To begin one: agcore run TASK"],
    );
    agcore.run(["-p", "hello"]).assert_success();
    // A chat is not a task.
    missing().assert_failed(2, &["there is no task of this folder yet"]);
    let chat = first_id(&agcore);
    agcore.run(["run", "--resume", &chat]).assert_failed(
        2,
        &["is not a task of `agcore run`", &format!("agcore chat --resume {chat}")],
    );
    agcore
        .run(["run", "more", "--continue"])
        .assert_failed(2, &["has its goal already"]);
    agcore
        .run(["run", "x", "--suspend"])
        .assert_failed(2, &["cannot be suspended or forked"]);
}

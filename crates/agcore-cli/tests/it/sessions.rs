//! Sessions that are kept in the database, and `agcore sessions`.

use std::fs;

use agcore_demo::Playground;
use agcore_testkit::mock_server::{Fault, Hold, MockOptions, Point, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{Agcore, KEY, LIMIT, RunOutput, Server, runtime};

/// Answers one message and returns the result of the run.
fn answered(agcore: &Agcore, arguments: &[&str]) -> Value {
    let ran = agcore.run([&["-p", "--output-format", "json"], arguments].concat());
    assert!(ran.stdout.starts_with('{'), "{}\n{}", ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn id(result: &Value) -> String {
    result["session_id"].as_str().unwrap().to_owned()
}

fn listed(agcore: &Agcore, arguments: &[&str]) -> Vec<Value> {
    let ran = agcore.run([&["sessions", "list", "--json"], arguments].concat());
    let list: Value = serde_json::from_str(ran.assert_success()).unwrap();
    list["sessions"].as_array().unwrap().clone()
}

/// Starts the program, waits until the server has received this many requests, and kills the program with SIGKILL.
fn killed(agcore: &Agcore, server: &Server, arguments: &[&str], requests: usize) {
    runtime().block_on(async {
        let mut child = agcore.spawn(arguments);
        drop(child.stdin.take());
        tokio::task::block_in_place(|| server.wait_for_requests(requests));
        child.start_kill().unwrap();
        timeout(LIMIT, child.wait()).await.unwrap().unwrap();
    });
}

#[test]
fn a_session_is_continued_by_the_beginning_of_its_id() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let first = answered(&agcore, &["remember 42"]);
    let id = id(&first);
    assert_eq!(id.len(), 36, "{id}");

    let second = answered(&agcore, &["go on", "--resume", &id[..13]]);
    assert_eq!(second["session_id"], id);
    let text = second["text"].as_str().unwrap();
    assert!(text.contains("messages in this request: **4**"), "{text}");
    assert_eq!(second["usage"]["session"]["calls"], 2);

    let sessions = listed(&agcore, &[]);
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["id"], id);
    assert_eq!(sessions[0]["title"], "remember 42");
    assert_eq!(sessions[0]["status"], "completed");
    assert_eq!(sessions[0]["last_turn"], "completed");
}

#[test]
fn a_session_in_which_no_turn_succeeded_is_neither_listed_nor_continued() {
    let server = Server::start(MockOptions::new().with_key(KEY), Playground::new());
    let agcore = Agcore::talking_to(&server).at_home();
    let answered_one = id(&answered(&agcore, &["remember 42"]));
    let agcore = agcore.with("OPENAI_API_KEY", "sk-wrong");
    agcore
        .run(["-p", "a lost message"])
        .assert_failed(3, &["rejected the API key"]);
    let agcore = agcore.with("OPENAI_API_KEY", KEY);

    let ids = |sessions: Vec<Value>| {
        sessions
            .into_iter()
            .map(|session| session["id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(listed(&agcore, &[])), [answered_one.as_str()]);
    assert_eq!(id(&answered(&agcore, &["go on", "--continue"])), answered_one);
    // It can still be listed, found and deleted.
    let all = listed(&agcore, &["--all"]);
    assert_eq!(all.len(), 2);
    let lost = all
        .iter()
        .find(|session| session["id"] != answered_one.as_str())
        .unwrap();
    assert_eq!(
        (&lost["last_turn"], &lost["title"]),
        (&json!("failed"), &json!("a lost message"))
    );
    agcore
        .run(["sessions", "search", "lost message"])
        .assert_failed(1, &["no session contains `lost message`", "--all"]);
    let found = agcore.run(["sessions", "search", "lost message", "--all"]);
    assert!(found.assert_success().contains("failed"), "{}", found.stdout);
    // Of sessions with the same name, the one with something to continue is continued. Nothing else is decided for the user.
    let found = id(&answered(&agcore, &["a lost message"]));
    assert_eq!(id(&answered(&agcore, &["more", "-r", "a lost message"])), found);
    for arguments in [&["delete", "--yes"][..], &["show"]] {
        for wanted in ["a lost message", "0"] {
            let ran = agcore.run([&["sessions"], arguments, &[wanted]].concat());
            ran.assert_failed(2, &["several sessions have the name"]);
        }
    }
    assert_eq!(listed(&agcore, &["--all"]).len(), 3);
    agcore.run(["sessions", "delete", "--yes", &found]).assert_success();
    agcore
        .run(["sessions", "delete", "--yes", lost["id"].as_str().unwrap()])
        .assert_success();
    assert_eq!(listed(&agcore, &["--all"]).len(), 1);

    // A turn that fails later does not hide the conversation before it.
    let agcore = agcore.with("OPENAI_API_KEY", "sk-wrong");
    agcore.run(["-p", "again", "--continue"]).assert_failed(3, &[]);
    let list = listed(&agcore, &[]);
    assert_eq!((list.len(), &list[0]["last_turn"]), (1, &json!("failed")));
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_the_database() {
    use std::os::unix::fs::PermissionsExt;

    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    answered(&agcore, &["hello"]);
    let mode = fs::metadata(agcore.state("agcore.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn continue_takes_the_newest_session_of_the_folder() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    agcore
        .run(["-p", "anything", "--continue"])
        .assert_failed(2, &["there is no session of this folder yet", "`agcore sessions list`"]);
    answered(&agcore, &["one"]);
    let newest = id(&answered(&agcore, &["two"]));
    let other = agcore.directory.path().join("other");
    fs::create_dir(&other).unwrap();
    let elsewhere = agcore
        .command()
        .current_dir(&other)
        .args(["-p", "three"])
        .output()
        .unwrap();
    assert!(elsewhere.status.success());

    assert_eq!(id(&answered(&agcore, &["four", "-c"])), newest);
    assert_eq!(listed(&agcore, &["--here"]).len(), 2);
    let all = listed(&agcore, &[]);
    let folder = fs::canonicalize(&other).unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!(all[1]["folder"], folder.to_str().unwrap());
    // An id finds a session from every folder, also after its own was moved.
    fs::rename(&other, agcore.directory.path().join("moved")).unwrap();
    let found = answered(&agcore, &["five", "--resume", all[1]["id"].as_str().unwrap()]);
    assert_eq!(found["session_id"], all[1]["id"]);
}

#[test]
fn a_fork_leaves_the_session_as_it_is() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let original = id(&answered(&agcore, &["one"]));
    let fork = answered(&agcore, &["two", "--resume", &original, "--fork-session"]);
    assert_ne!(id(&fork), original);
    assert!(
        fork["text"]
            .as_str()
            .unwrap()
            .contains("messages in this request: **4**")
    );
    let shown = |id: &str| -> Value {
        let ran = agcore.run(["sessions", "show", id, "--json"]);
        serde_json::from_str(ran.assert_success()).unwrap()
    };
    assert_eq!(shown(&original)["messages"].as_array().unwrap().len(), 2);
    let copy = shown(&id(&fork));
    assert_eq!(copy["messages"].as_array().unwrap().len(), 4);
    assert_eq!(copy["origin"]["session"], original);
    let titles: Vec<Value> = listed(&agcore, &[])
        .into_iter()
        .map(|session| session["title"].clone())
        .collect();
    assert_eq!(titles, ["one (copy)", "one"], "newest first");
}

#[test]
fn nothing_is_kept_on_request_or_without_a_place() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let result = answered(&agcore, &["hello", "--ephemeral"]);
    assert_eq!(id(&result).len(), 36);
    assert!(!agcore.state("agcore.db").exists());
    assert!(listed(&agcore, &[]).is_empty());

    let homeless = Agcore::talking_to(&server);
    assert_eq!(answered(&homeless, &["hello"])["status"], "ok");
    homeless
        .run(["-p", "hello", "--continue"])
        .assert_failed(2, &["set HOME or XDG_STATE_HOME"]);
}

#[test]
fn a_database_that_cannot_be_used_does_not_stop_a_new_chat() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    fs::create_dir_all(agcore.state("")).unwrap();
    fs::write(agcore.state("agcore.db"), "this is not a database".repeat(100)).unwrap();
    let ran = agcore.run(["-p", "hello"]);
    ran.assert_success();
    assert!(
        ran.stderr.contains("warning: this session is not kept: "),
        "{}",
        ran.stderr
    );
    let ran = agcore.run(["-p", "hello", "-c"]);
    assert_eq!(ran.code(), Some(2), "{}", ran.stderr);
}

#[test]
fn unknown_and_ambiguous_ids_are_reported() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let ids = [id(&answered(&agcore, &["one"])), id(&answered(&agcore, &["two"]))];
    agcore
        .run(["-p", "x", "--resume", "zz"])
        .assert_failed(2, &["there is no session whose ID begins with `zz`"]);
    let ran = agcore.run(["sessions", "show", &ids[0][..1]]);
    ran.assert_failed(
        2,
        &[
            "several sessions have the name",
            "pass the ID of one of them",
            "just now",
            &ids[0][..8],
            &ids[1][..8],
        ],
    );
    agcore
        .run(["-p", "x", "--resume"])
        .assert_failed(2, &["there is no terminal at which to choose a session"]);
    agcore
        .run(["sessions", "delete", &ids[0]])
        .assert_failed(2, &["pass --yes"]);
    // Nothing is deleted if one of them is unknown.
    agcore
        .run(["sessions", "delete", "--yes", &ids[0], "zz"])
        .assert_failed(2, &["zz"]);
    assert_eq!(listed(&agcore, &[]).len(), 2);
    let deleted = agcore.run(["sessions", "delete", "--yes", &ids[0]]);
    assert!(
        deleted.assert_success().contains("its costs are kept"),
        "{}",
        deleted.stdout
    );
    assert_eq!(listed(&agcore, &[])[0]["id"], ids[1]);
}

#[test]
fn every_listed_id_can_be_resumed() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let ids: Vec<String> = ["one", "two", "three"]
        .iter()
        .map(|text| id(&answered(&agcore, &[text])))
        .collect();
    let shown = |arguments: &[&str]| -> Vec<String> {
        let ran = agcore.run([&["sessions", "list"], arguments].concat());
        let lines = ran.assert_success().lines().skip(1);
        lines
            .map(|line| line.split_whitespace().next().unwrap().to_owned())
            .collect()
    };
    // Sessions that are not listed, and those that begin later, make the ids longer.
    let newest = shown(&["--limit", "1"]).remove(0);
    answered(&agcore, &["four"]);
    let mut all = shown(&[]);
    all.reverse();
    assert!(newest.len() >= 8 && ids[2].starts_with(&newest), "{newest} {ids:?}");
    for (short, id) in all.iter().zip(&ids).chain([(&newest, &ids[2])]) {
        let ran = agcore.run(["sessions", "show", short, "--json"]);
        let found: Value = serde_json::from_str(ran.assert_success()).unwrap();
        assert_eq!(found["id"], **id, "{short}");
    }
}

#[test]
fn a_deleted_session_leaves_its_bill_unless_it_is_deleted_with_costs() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let ids = [
        id(&answered(&agcore, &["a secret word"])),
        id(&answered(&agcore, &["two"])),
    ];
    let tokens = || {
        let cost = agcore.run(["cost", "--by", "model", "--json"]);
        cost.assert_success().to_owned()
    };
    let before = tokens();
    agcore.run(["sessions", "delete", "--yes", &ids[0]]).assert_success();
    assert_eq!(listed(&agcore, &[]).len(), 1);
    assert_eq!(tokens(), before, "the bill has changed");
    let database = fs::read(agcore.state("agcore.db")).unwrap();
    let word = b"a secret word";
    assert!(
        !database.windows(word.len()).any(|bytes| bytes == word),
        "the text is still in the file"
    );
    let ran = agcore.run(["sessions", "delete", "--yes", "--with-costs", &ids[1]]);
    assert!(ran.assert_success().contains("with its costs"), "{}", ran.stdout);
    assert_ne!(tokens(), before);
}

#[test]
fn sessions_are_shown_and_exported() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let id = id(&answered(&agcore, &["some arithmetic"]));
    // A list is what one wants to see without a command. Its ids are shorter the older the sessions are.
    for arguments in [
        &["sessions", "list"][..],
        &["sessions"],
        &["sessions", "--here", "--limit", "2"],
        &["sessions", "--no-color", "list"],
    ] {
        let table = agcore.run(arguments);
        assert!(table.assert_success().contains("some arithmetic"), "{}", table.stdout);
    }
    agcore
        .run(["sessions", "--json", "show", &id])
        .assert_failed(2, &["options of a command follow its name"]);
    let shown = agcore.run(["sessions", "show", &id]);
    let shown = shown.assert_success();
    for text in [
        "you\nsome arithmetic\n",
        "→ arithmetic {",
        "✓ arithmetic: 2",
        "agent\nThe tools answered",
    ] {
        assert!(shown.contains(text), "{text:?} is missing in {shown}");
    }
    let exported = agcore.run(["sessions", "export", &id]);
    let lines: Vec<Value> = exported
        .assert_success()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["session", "message", "message", "message", "message"]);
    assert_eq!(lines[0]["id"], id);
    assert_eq!(lines[1]["content"], "some arithmetic");
}

/// Calls `save_note` once, and never completes the answer after it unless the message says so.
fn note_then_silence(request: &RecordedRequest) -> Reply {
    let prompt = request.prompt();
    match prompt.last_user() {
        "note it" if prompt.results().is_empty() => {
            Reply::tool_calls([ToolCall::new("save_note", &json!({"text": "milk"}))])
        }
        "note it" => Reply::text("It is noted.").with_fault(Fault::stall(Point::AfterEvents(1), Hold::Forever)),
        other => Reply::text(format!("You said {other}, after {} messages.", prompt.turns.len())),
    }
}

#[test]
fn a_killed_turn_keeps_finished_calls_and_a_new_message_goes_on() {
    let server = Server::start(MockOptions::new(), note_then_silence);
    let agcore = Agcore::talking_to(&server).at_home();
    killed(&agcore, &server, &["-p", "note it", "--yes"], 2);
    let session = listed(&agcore, &[]).remove(0);
    assert_eq!(session["status"], "running");

    let ran = agcore.run(["-p", "hello", "-c"]);
    assert!(ran.assert_success().contains("You said hello"), "{}", ran.stdout);
    assert!(ran.stderr.contains("The last turn did not end."), "{}", ran.stderr);
    let notes = fs::read_to_string(agcore.directory.path().join("agcore-notes.md")).unwrap();
    assert_eq!(notes, "- milk\n", "the finished call ran again");
    // The call and its result are still part of the conversation, so the next request is valid.
    let messages = server.requests().pop().unwrap().json()["messages"].to_string();
    assert!(messages.contains("Saved to agcore-notes.md."), "{messages}");
    let id = session["id"].as_str().unwrap();
    let shown = agcore.run(["sessions", "show", id]);
    assert!(
        shown.assert_success().contains("✓ save_note: Saved to"),
        "{}",
        shown.stdout
    );
}

#[test]
fn a_killed_turn_continues_where_it_was() {
    let server = Server::start(MockOptions::new(), note_then_silence);
    let agcore = Agcore::talking_to(&server).at_home();
    killed(&agcore, &server, &["-p", "note it", "--yes"], 2);
    drop(server);

    let answers = |_: &RecordedRequest| Reply::text("Now it is complete.");
    let server = Server::start(MockOptions::new(), answers);
    let agcore = agcore.with("OPENAI_BASE_URL", &server.base_url());
    let ran = agcore.run(["-p", "-c"]);
    assert_eq!(ran.assert_success().trim(), "Now it is complete.");
    let requests = server.requests();
    assert_eq!(requests.len(), 1, "the reply with the call was requested again");
    assert_eq!(requests[0].prompt().results().len(), 1);
    let notes = fs::read_to_string(agcore.directory.path().join("agcore-notes.md")).unwrap();
    assert_eq!(notes, "- milk\n");
}

#[test]
fn an_unfinished_turn_names_the_command_that_continues_it() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let ran: RunOutput = agcore.run(["-p", "error 400"]);
    assert_eq!(ran.code(), Some(1));
    // The turn has ended, so there is nothing to continue.
    assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
}

#[test]
fn a_session_is_exported_and_replayed() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let session = id(&answered(&agcore, &["one"]));
    answered(&agcore, &["two", "--resume", &session]);
    let asked = server.requests().len();

    let ran = agcore.run(["sessions", "replay", &session[..13]]);
    assert_eq!(
        ran.assert_success(),
        format!("{session}: no difference in 2 turns, 2 calls of the model and 0 results of tools.\n")
    );
    let lines = agcore.run(["sessions", "export", &session, "--format", "trajectory"]);
    let file = agcore.directory.path().join("trajectory.jsonl");
    fs::write(&file, lines.assert_success()).unwrap();
    let ran = agcore.run(["sessions", "replay", "trajectory.jsonl", "--json"]);
    let report: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!((&report["status"], &report["replies"]), (&json!("same"), &json!(2)));
    let line = agcore.run(["sessions", "export", &session, "--format", "sharegpt"]);
    let conversation: Value = serde_json::from_str(line.assert_success()).unwrap();
    assert_eq!(
        conversation["conversations"][0],
        json!({"from": "human", "value": "one"})
    );
    assert_eq!(server.requests().len(), asked, "nothing is asked for again");

    // A file that is damaged is refused with its line.
    fs::write(&file, &lines.stdout[..lines.stdout.len() - 10]).unwrap();
    agcore
        .run(["sessions", "replay", "trajectory.jsonl"])
        .assert_failed(2, &["cannot read trajectory.jsonl", "line "]);
}

#[test]
fn a_session_whose_tools_are_gone_differs() {
    let arguments = json!({"operation": "add", "a": 1, "b": 2});
    let server = Server::start(MockOptions::new(), move |request: &RecordedRequest| {
        match request.prompt().results().first() {
            None => Reply::tool_calls([ToolCall::new("arithmetic", &arguments)]),
            Some(_) => Reply::text("3."),
        }
    });
    let agcore = Agcore::talking_to(&server).at_home();
    let session = id(&answered(&agcore, &["1 + 2?"]));
    agcore.run(["sessions", "replay", &session]).assert_success();
    agcore
        .run(["sessions", "replay", &session, "--no-tools"])
        .assert_failed(1, &["turn 1 differs from the recording", "`arithmetic`"]);
}

#[test]
fn a_session_has_a_name() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let first = id(&answered(&agcore, &["remember 42", "--name", "Trip to Lisbon"]));
    answered(&agcore, &["something else"]);
    assert_eq!(listed(&agcore, &[])[1]["title"], "Trip to Lisbon");
    let second = answered(&agcore, &["go on", "--resume", "trip to lisbon"]);
    assert_eq!(second["session_id"], first);

    // A name renames, and the first message does not.
    answered(&agcore, &["go on", "-r", &first, "-n", "Porto"]);
    let names = |agcore: &Agcore| {
        listed(agcore, &[])
            .iter()
            .map(|session| session["title"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&agcore), ["Porto", "something else"]);
    agcore
        .run(["sessions", "rename", "porto", "something else"])
        .assert_success();
    let ran = agcore.run(["sessions", "show", "Something Else"]);
    ran.assert_failed(
        2,
        &[
            "several sessions have the name `Something Else`, or an ID that begins with it",
            &first[..8],
            "just now  something else",
        ],
    );
    agcore
        .run(["-p", "x", "--name", "n", "--ephemeral"])
        .assert_failed(2, &["--ephemeral"]);
    agcore.run(["-p", "x", "--name", ""]).assert_failed(2, &["--name"]);
}

#[test]
fn sessions_are_found_by_what_was_written() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let first = id(&answered(&agcore, &["When does Tram 28 leave?"]));
    let second = id(&answered(&agcore, &["葡萄牙的首都是哪里？", "--name", "capital"]));
    let found = |text: &str| {
        let ran = agcore.run(["sessions", "search", text, "--json"]);
        let list: Value = serde_json::from_str(ran.assert_success()).unwrap();
        let found = list["sessions"].as_array().unwrap().clone();
        found
            .iter()
            .map(|session| (session["id"].clone(), session["excerpt"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(found("tram 28"), [(json!(first), json!("When does Tram 28 leave?"))]);
    assert_eq!(found("首都"), [(json!(second.clone()), json!("葡萄牙的首都是哪里？"))]);
    // A name counts as well.
    assert_eq!(found("CAPITAL"), [(json!(second), json!("capital"))]);
    assert!(found("nowhere").is_empty());
    let ran = agcore.run(["sessions", "search", "tram"]);
    let shown = ran.assert_success();
    assert!(
        shown.contains(&first[..8]) && shown.contains("\n  When does Tram 28 leave?\n"),
        "{shown}"
    );
    agcore
        .run(["sessions", "search", "nowhere"])
        .assert_failed(1, &["no session contains `nowhere`"]);
    let all = agcore.run(["sessions", "search", "e", "--limit", "1", "--json"]);
    let all: Value = serde_json::from_str(all.assert_success()).unwrap();
    assert_eq!(all["sessions"].as_array().unwrap().len(), 1);
}

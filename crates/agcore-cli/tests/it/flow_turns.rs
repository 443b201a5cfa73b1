//! `agcore flow run` with files, profiles and memory, over several turns of a conversation.

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply};
use serde_json::{Value, json};

use crate::{
    machine,
    support::{Agcore, Server},
};

const PLANNER: &str = "\
version: 1
kind: planner
name: garden
user_context: '{{user.username}}, who likes {{user.bio}}'
agents:
  gardener: {role: You plan gardens., goal: Plan well., backstory: ''}
tasks:
  planner:
    agent: gardener
    description: 'Plan: {{request}} for {{user_context}}. {{files}} {{tables}} {{other_files}} {{memory}} {{history}}'
    expected_output: An action.
  reflection: {agent: gardener, description: 'Reflect {{actions}}', expected_output: A judgement.}
  output: {agent: gardener, description: 'Write {{request}}', expected_output: An answer.}
  archive: {agent: gardener, description: 'Archive {{request}}', expected_output: Notes.}
";

const PROFILES: &str = "\
[[profiles]]
user_id = \"6f1c9d0e-6f0a-4d7e-9a52-0d6b1f2a3c4d\"
username = \"Ada\"
bio = \"beans\"
";

const ROUTER: &str = "\
version: 1
kind: router
agents:
  router: {role: You assign work., goal: Decide., backstory: ''}
  worker: {role: You work., goal: Work., backstory: ''}
tasks:
  router: {agent: router, description: Decide., expected_output: A decision.}
  worker: {agent: worker, description: '{{router.execution_brief}}', expected_output: The result.}
";

const WAITING: &str = "\
version: 1
kind: graph
nodes: {ask: {question: 'Go on with {{request}}?'}}
edges: [{from: ask, to: end}]
agents: {helper: {role: You help., goal: Help., backstory: ''}}
tasks: {}
";

/// Finishes at once, and answers with the request.
fn gardener(request: &RecordedRequest) -> Reply {
    let text = request.prompt().last_user().to_owned();
    let value = match text.split(' ').next().unwrap_or_default() {
        "Plan:" => json!({"summary": "enough", "next": "finish", "calls": []}),
        "Archive" => json!({"preferences": ["Likes raised beds."], "facts": []}),
        _ => return Reply::text(format!("Answer to: {text}")),
    };
    Reply::text(value.to_string())
}

/// Returns the system prompt and the last message of the user of each request.
fn texts(server: &Server) -> Vec<(String, String)> {
    let requests = server.requests();
    let of = |request: &RecordedRequest| {
        let body = request.json();
        let system = body["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
        (system, request.prompt().last_user().to_owned())
    };
    requests.iter().map(of).collect()
}

fn home(server: &Server) -> Agcore {
    Agcore::talking_to(server)
        .at_home()
        .with_file("garden.flow.yaml", PLANNER)
        .with_file("me.toml", PROFILES)
        .with_file("beds.csv", "bed,size\nnorth,4\n")
}

#[test]
fn planner_flows_read_files_profiles_and_earlier_turns() {
    let server = Server::start(MockOptions::new(), gardener);
    let agcore = home(&server).with_file("broken.pdf", "%PDF-1.7 this is not a document");
    let run = ["flow", "run", "garden.flow.yaml"];
    let first = [
        "Plan the beds",
        "--file",
        "beds.csv",
        "--file",
        "broken.pdf",
        "--profiles",
        "me.toml",
    ];
    let ran = agcore.run(run.iter().chain(&first));
    assert!(
        ran.assert_success().starts_with("Answer to: Write Plan the beds"),
        "{}",
        ran.stdout
    );
    let seen = texts(&server);
    assert_eq!(seen.len(), 3);
    for (system, _) in &seen {
        assert!(system.starts_with("# System Policy\n"), "{system}");
        assert!(system.contains("{\"username\":\"Ada\",\"bio\":\"beans\""), "{system}");
    }
    let planner = &seen[0].1;
    assert!(planner.contains("for Ada, who likes beans."), "{planner}");
    assert!(
        planner.contains("beds.csv") && planner.contains("| north | 4 |"),
        "{planner}"
    );
    assert!(planner.contains("broken.pdf"), "{planner}");

    let listed = agcore.run(["memory", "list"]);
    assert!(
        listed.assert_success().contains("Likes raised beds."),
        "{}",
        listed.stdout
    );

    let second = [
        "Now the beans",
        "--continue",
        "--profiles",
        "me.toml",
        "--output-format",
        "json",
    ];
    let ran = agcore.run(run.iter().chain(&second));
    let result = machine::result(&ran);
    let state = &result["flow"]["state"]["runtime"];
    assert_eq!((&state["turn"], &state["version"]), (&2.into(), &1.into()));
    // The two requests and the answer between them, by their ids in the session.
    assert_eq!(state["chat_history"].as_array().map(Vec::len), Some(3));
    let planner = &texts(&server)[3].1;
    for part in [
        "Plan: Now the beans",
        "| north | 4 |",
        "Likes raised beds.",
        "Answer to: Write Plan the beds",
    ] {
        assert!(planner.contains(part), "{part}: {planner}");
    }

    // Without a prompt, the last run is continued, which has ended.
    let ran = agcore.run(run.iter().chain(&["--continue"]));
    assert!(ran.assert_success().starts_with("Answer to: Write Now the beans"));
    assert_eq!(server.requests().len(), 6);
    let session = result["session_id"].as_str().unwrap();
    let shown = agcore.run(["sessions", "show", session]);
    let answers = shown.assert_success().matches("Answer to: Write Now the beans").count();
    assert_eq!(answers, 1, "{}", shown.stdout);
    let drawn = agcore.run(["flow", "draw", "garden.flow.yaml", "--format", "svg", "--run", session]);
    assert!(drawn.assert_success().contains("1× in "), "{}", drawn.stdout);
}

#[test]
fn profiles_need_not_be_repeated() {
    let server = Server::start(MockOptions::new(), gardener);
    let agcore = home(&server).with_file("eve.toml", &PROFILES.replace("Ada", "Eve"));
    let run = |arguments: &[&str]| {
        let ran = agcore.run(["flow", "run", "garden.flow.yaml"].iter().chain(arguments));
        ran.assert_success();
        (ran.stderr, texts(&server).pop().unwrap().0)
    };
    let (_, system) = run(&["Plan the beds", "--profiles", "me.toml"]);
    assert!(system.contains("\"username\":\"Ada\""), "{system}");
    let (notes, system) = run(&["Now the beans", "--continue"]);
    assert!(system.contains("\"username\":\"Ada\""), "{system}");
    assert!(
        notes.contains("note: as when the session began: --profiles /"),
        "{notes}"
    );
    let (notes, system) = run(&["Now the peas", "--continue", "--profiles", "eve.toml"]);
    assert!(
        system.contains("\"username\":\"Eve\"") && !notes.contains("as when"),
        "{notes} {system}"
    );
    std::fs::remove_file(agcore.directory.path().join("me.toml")).unwrap();
    agcore
        .run(["flow", "run", "garden.flow.yaml", "Now the corn", "--continue"])
        .assert_failed(2, &["cannot read ", "me.toml"]);
}

#[test]
fn ephemeral_runs_keep_nothing() {
    let server = Server::start(MockOptions::new(), gardener);
    let agcore = home(&server);
    let ran = agcore.run([
        "flow",
        "run",
        "garden.flow.yaml",
        "Plan",
        "--profiles",
        "me.toml",
        "--ephemeral",
    ]);
    assert!(ran.assert_success().starts_with("Answer to: Write Plan"));
    agcore.run(["store", "migrate"]).assert_success();
    let listed = agcore.run(["memory", "list", "--json"]);
    let listed: Value = serde_json::from_str(listed.assert_success()).unwrap();
    assert_eq!(listed, json!({"items": []}));
}

#[test]
fn a_router_sees_the_conversation() {
    let server = Server::start(MockOptions::new(), |request: &RecordedRequest| {
        let text = format!("Hello, {}", request.prompt().last_user());
        let value = json!({"route": "DIRECT_EXECUTION", "intent_summary": "a greeting", "assistant_text": text,
            "execution_brief": null, "skills": [], "safety_flags": []});
        Reply::text(value.to_string())
    });
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_file("desk.flow.yaml", ROUTER);
    let ran = agcore.run(["flow", "run", "desk.flow.yaml", "I am Ada"]);
    assert_eq!(ran.assert_success(), "Hello, I am Ada\n");
    let ran = agcore.run(["run", "--flow", "desk.flow.yaml", "Who am I?", "--continue"]);
    assert_eq!(ran.assert_success(), "Hello, Who am I?\n");
    let requests = server.requests();
    let body = requests[1].json();
    let messages: Vec<&Value> = body["messages"].as_array().unwrap().iter().skip(1).collect();
    let texts: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["content"].as_str())
        .collect();
    assert_eq!(texts, ["I am Ada", "Hello, I am Ada", "Who am I?"]);
}

#[test]
fn a_turn_begins_when_the_one_before_has_ended() {
    let server = Server::start(MockOptions::new(), gardener);
    let agcore = home(&server).with_file("ask.flow.yaml", WAITING);
    agcore
        .run(["flow", "run", "ask.flow.yaml", "tea"])
        .assert_failed(8, &["Go on with tea?"]);
    agcore
        .run(["flow", "run", "ask.flow.yaml", "coffee", "--continue"])
        .assert_failed(
            2,
            &["the last run of this session has not ended", "leave the prompt out"],
        );
    let answer = ["--continue", "--answer", "0:ask#1:question=yes"];
    agcore
        .run(["flow", "run", "ask.flow.yaml"].iter().chain(&answer))
        .assert_success();
    agcore
        .run(["flow", "run", "ask.flow.yaml", "coffee", "--continue"])
        .assert_failed(8, &["Go on with coffee?"]);
    agcore
        .run(["flow", "run", "ask.flow.yaml", "--continue", "--file", "beds.csv"])
        .assert_failed(2, &["--file sends a file with a message"]);
}

#[test]
fn wrong_files_and_profiles_are_clear_errors() {
    let server = Server::start(MockOptions::new(), gardener);
    let other = PROFILES.replace("6f1c9d0e", "7f1c9d0e");
    let agcore = home(&server)
        .with_file("two.toml", &format!("{PROFILES}\n{other}"))
        .with_file("none.yaml", "profiles: []\n")
        .with_file(
            "wrong.toml",
            &format!("{PROFILES}\n[profiles.settings.preferences]\ntimezone = \"CST\"\n"),
        );
    let run = |arguments: &[&str]| agcore.run(["flow", "run", "garden.flow.yaml", "Plan"].iter().chain(arguments));
    for (arguments, texts) in [
        (&["--file", "gone.pdf"][..], &["cannot read gone.pdf"][..]),
        (&["--file", "."], &["cannot read .", "not a regular file"]),
        (&["--profiles", "gone.toml"], &["cannot read gone.toml"]),
        (&["--profiles", "none.yaml"], &["none.yaml has no profiles"]),
        (&["--profiles", "wrong.toml"], &["cannot read wrong.toml", "timezone"]),
        (&["--profiles", "two.toml"], &["two.toml has 2 profiles", "--user ID"]),
        (
            &[
                "--profiles",
                "me.toml",
                "--user",
                "00000000-0000-0000-0000-000000000007",
            ],
            &["me.toml has no profile of the user 00000000-0000-0000-0000-000000000007"],
        ),
        (&["--profiles", "me.toml", "--user", "Ada"], &["--user"]),
        (&["--user", "00000000-0000-0000-0000-000000000007"], &["--profiles"]),
    ] {
        run(arguments).assert_failed(2, texts);
    }
    assert_eq!(server.requests().len(), 0);
    let chosen = run(&[
        "--profiles",
        "two.toml",
        "--user",
        "7f1c9d0e-6f0a-4d7e-9a52-0d6b1f2a3c4d",
    ]);
    chosen.assert_success();
}

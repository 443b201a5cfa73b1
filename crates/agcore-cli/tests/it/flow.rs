//! `agcore flow`: runs with progress, questions and their answers, checks, pictures.

use agcore_testkit::mock_server::{ApiError, MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};

use crate::{
    machine,
    support::{Agcore, Server},
};

const FILE: &str = "\
version: 1
kind: graph
name: article
variables: [tone]
nodes:
  draft: {}
  publish: {question: 'Publish this? {{results.draft}}'}
  note: {}
edges:
  - {from: draft, to: publish}
  - {from: publish, route: 'yes', to: note}
  - {from: publish, route: 'no', to: draft}
  - {from: note, to: end}
limits: {visits: {draft: 3}}
agents:
  author: {role: You write., goal: Write in a {{tone}} tone., backstory: '', tools: [arithmetic]}
tasks:
  draft: {agent: author, description: 'Write about {{request}}.', expected_output: A text.}
  note: {agent: author, description: 'Sum up: {{results.draft}}', expected_output: A note.}
";

fn quoted() -> String {
    FILE.replace("Write in a {{tone}} tone.", "'Write in a {{tone}} tone.'")
}

/// Writes about what it is asked for.
fn author(request: &RecordedRequest) -> Reply {
    let prompt = request.prompt();
    let text = prompt.last_user();
    Reply::text(match text.starts_with("Sum up") {
        true => "A note about tea.".to_owned(),
        false => "Tea is a drink.".to_owned(),
    })
}

fn home(server: &Server) -> Agcore {
    Agcore::talking_to(server)
        .at_home()
        .with_file("article.flow.yaml", &quoted())
}

#[test]
fn a_run_waits_for_an_answer_and_continues() {
    let server = Server::start(MockOptions::new(), author);
    let agcore = home(&server);
    let ran = agcore.run(["flow", "run", "article.flow.yaml", "tea", "--set", "tone=calm"]);
    ran.assert_failed(
        8,
        &[
            "the flow waits for an answer",
            "publish: Publish this? Tea is a drink.",
            "--resume ",
        ],
    );
    // The question is not an approval, and `agcore -p` cannot continue a flow.
    assert!(
        !ran.stderr.contains("agcore approvals") && !ran.stderr.contains("agcore -p"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("article starts\n  draft …\n  draft ✓ "),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stdout, "");

    let answer = "0:publish#1:question=yes";
    let ran = agcore.run(["flow", "run", "article.flow.yaml", "--continue", "--answer", answer]);
    assert_eq!(ran.assert_success(), "A note about tea.\n");
    assert!(
        ran.stderr.contains("article continues\n  publish …\n"),
        "{}",
        ran.stderr
    );
    // The draft was not written again.
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(format!("{:?}", requests[0].prompt()).contains("Write in a calm tone."));

    let list = agcore.run(["sessions", "list", "--json"]);
    let sessions: Value = serde_json::from_str(list.assert_success()).unwrap();
    let titles: Vec<&str> = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["title"].as_str())
        .collect();
    assert!(titles.contains(&"tea"), "{titles:?}");
}

#[test]
fn run_with_a_flow_is_the_same() {
    let server = Server::start(MockOptions::new(), author);
    let agcore = home(&server);
    let text = quoted().replace("{from: draft, to: publish}", "{from: draft, to: note}");
    let text = text.replace("  publish: {question: 'Publish this? {{results.draft}}'}\n", "");
    let text = text.replace(
        "  - {from: publish, route: 'yes', to: note}\n  - {from: publish, route: 'no', to: draft}\n",
        "",
    );
    let agcore = agcore.with_file("short.flow.yaml", &text);
    let ran = agcore.run(["run", "--flow", "short.flow.yaml", "tea", "--set", "tone=calm"]);
    assert_eq!(ran.assert_success(), "A note about tea.\n");
    let ran = agcore.run([
        "flow",
        "run",
        "short.flow.yaml",
        "tea",
        "--set",
        "tone=calm",
        "--output-format",
        "stream-json",
    ]);
    ran.assert_success();
    let lines = machine::stream(&ran);
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let node = ["node_start", "usage", "node_end"];
    assert_eq!(
        types,
        [&["init", "flow_start"], &node[..], &node[..], &["message", "result"]].concat()
    );
    assert_eq!(
        (&lines[2]["node"], &lines[4]["next"][0]),
        (&"draft".into(), &"note".into())
    );
    assert_eq!(lines[8]["text"], "A note about tea.");
    let result = lines.last().unwrap();
    assert_eq!(
        (&result["text"], &result["num_model_calls"]),
        (&"A note about tea.".into(), &2.into())
    );
    assert_eq!(result["flow"]["state"]["results"]["draft"], "Tea is a drink.");
}

#[test]
fn programs_read_questions_calls_and_failures() {
    let server = Server::start(MockOptions::new(), |request: &RecordedRequest| {
        match request.prompt().last_user().starts_with("Write")
            && request.json()["messages"].as_array().unwrap().len() == 2
        {
            true => Reply::tool_calls([ToolCall::new(
                "arithmetic",
                &json!({"operation": "add", "a": 1, "b": 1}),
            )]),
            false => author(request),
        }
    });
    let agcore = home(&server);
    // `json` is the result alone, also as `run --flow`.
    let ran = agcore.run([
        "run",
        "--flow",
        "article.flow.yaml",
        "tea",
        "--set",
        "tone=calm",
        "--output-format",
        "json",
    ]);
    let result = machine::result(&ran);
    assert_eq!((ran.code(), &result["status"]), (Some(8), &"suspended".into()));
    let question = &result["flow"]["questions"][0];
    assert_eq!(
        (&question["node"], &question["id"]),
        (&"publish".into(), &"0:publish#1:question".into())
    );
    let session = result["session_id"].as_str().unwrap();
    let answer = "0:publish#1:question=no";
    let ran = agcore.run([
        "flow",
        "run",
        "article.flow.yaml",
        "--resume",
        session,
        "--answer",
        answer,
        "--output-format",
        "stream-json",
    ]);
    assert_eq!(ran.code(), Some(8));
    let lines = machine::stream(&ran);
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert_eq!(of("flow_start")[0]["resumed"], true);
    assert_eq!(of("flow_question")[0]["id"], "0:publish#2:question");
    let calls = of("tool_use");
    assert_eq!(
        (&calls[0]["parent_id"], &calls[0]["name"]),
        (&"draft".into(), &"arithmetic".into())
    );
    assert_eq!(of("tool_result")[0]["status"], "ok");

    let broken = Server::start(MockOptions::new(), |_: &RecordedRequest| {
        Reply::error(ApiError::new(400))
    });
    let ran = home(&broken).run([
        "flow",
        "run",
        "article.flow.yaml",
        "tea",
        "--set",
        "tone=calm",
        "--output-format",
        "stream-json",
    ]);
    let lines = machine::stream(&ran);
    let failed = lines.iter().find(|line| line["type"] == "node_end").unwrap();
    assert_eq!((&failed["node"], &failed["next"]), (&"draft".into(), &json!([])));
    assert!(failed["error"]["message"].is_string() && lines.last().unwrap().get("flow").is_none());
}

#[test]
fn files_are_checked() {
    let agcore = Agcore::new()
        .with_file("good.flow.yaml", &quoted())
        .with_file("bad.flow.yaml", FILE);
    let ran = agcore.run(["flow", "check", "good.flow.yaml"]);
    assert_eq!(ran.assert_success(), "good.flow.yaml: ok (graph, 1 agent, 2 tasks)\n");
    let broken = quoted().replace("to: note}", "to: nowhere}").replace("tasks:", "task:");
    let agcore = agcore.with_file("broken.flow.yaml", &broken);
    let ran = agcore.run(["flow", "check", "bad.flow.yaml", "broken.flow.yaml"]);
    ran.assert_failed(
        2,
        &[
            "bad.flow.yaml:16:",
            "broken.flow.yaml:17:1: there is no member `task`; did you mean `tasks`?",
            "problems were found",
        ],
    );
    let missing = agcore.run(["flow", "run", "none.flow.yaml", "tea"]);
    missing.assert_failed(2, &["cannot read none.flow.yaml"]);
}

#[test]
fn pictures_have_the_path_of_a_run() {
    let server = Server::start(MockOptions::new(), author);
    let agcore = home(&server);
    let plain = agcore.run(["flow", "draw", "article.flow.yaml"]);
    assert!(plain.assert_success().starts_with("flowchart TD\n"));
    agcore.run(["flow", "run", "article.flow.yaml", "tea", "--set", "tone=calm"]);
    let list = agcore.run(["sessions", "list", "--json"]);
    let sessions: Value = serde_json::from_str(list.assert_success()).unwrap();
    let of_flow = |session: &&Value| session["title"] == "tea";
    let id = sessions["sessions"].as_array().unwrap().iter().find(of_flow).unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let ran = agcore.run(["flow", "draw", "article.flow.yaml", "--format", "svg", "--run", &id]);
    assert!(ran.assert_success().contains("1× in "), "{}", ran.stdout);
    let dot = agcore.run(["flow", "draw", "article.flow.yaml", "--format", "dot"]);
    assert!(dot.assert_success().starts_with("digraph"));
}

#[test]
fn the_schema_is_that_of_the_documentation() {
    let ran = Agcore::new().run(["flow", "schema"]);
    assert_eq!(ran.assert_success(), include_str!("../../../../docs/flow-schema.json"));
}

/// Reads a flow file of the examples.
fn example(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/flows/");
    std::fs::read_to_string(format!("{folder}{name}")).unwrap()
}

#[test]
fn the_examples_run_or_say_which_tools_they_need() {
    let server = Server::start(MockOptions::new(), author);
    let mut agcore = Agcore::talking_to(&server).at_home();
    for name in ["article.flow.yaml", "help-desk.flow.yaml", "garden.flow.yaml"] {
        agcore = agcore.with_file(name, &example(name));
    }
    let checked = agcore.run(["flow", "check", "article.flow.yaml"]);
    assert_eq!(
        checked.assert_success(),
        "article.flow.yaml: ok (graph, 2 agents, 3 tasks)\n"
    );
    assert_eq!(checked.stderr, "");
    let ran = agcore.run(["flow", "run", "article.flow.yaml", "tea", "--set", "tone=calm"]);
    ran.assert_failed(8, &["publish: Publish this? Tea is a drink."]);
    let answer = "0:publish#1:question=yes";
    let ran = agcore.run(["flow", "run", "article.flow.yaml", "--continue", "--answer", answer]);
    assert_eq!(ran.assert_success(), "Tea is a drink.\n");
    for (name, tool) in [("help-desk.flow.yaml", "order"), ("garden.flow.yaml", "measure")] {
        let checked = agcore.run(["flow", "check", name]);
        checked.assert_success();
        let note = format!("needs `{tool}`, which agcore does not have");
        assert!(checked.stderr.contains(&note), "{}", checked.stderr);
    }
}

#[test]
fn a_variable_without_a_value_is_reported_before_anything_is_sent() {
    let server = Server::start(MockOptions::new(), author);
    let agcore = home(&server);
    let ran = agcore.run(["flow", "run", "article.flow.yaml", "tea"]);
    ran.assert_failed(2, &["the flow needs a value for `tone`", "--set tone=VALUE"]);
    let ran = agcore.run([
        "flow",
        "run",
        "article.flow.yaml",
        "tea",
        "--set",
        "tone=x",
        "--set",
        "tones=y",
    ]);
    ran.assert_failed(2, &["the flow has no variable `tones`; did you mean `tone`?"]);
    assert_eq!(server.requests().len(), 0);
}

/// One mistake does not hide another kind of mistakes.
#[test]
fn a_check_reports_mistakes_of_every_kind_at_once() {
    let server = Server::start(MockOptions::new(), author);
    let text = "\
version: 1
kind: graph
nodes:
  draft: {task: nothing}
  note: {}
edges:
  - {from: draft, to: nowhere}
  - {from: note, to: end}
agents:
  author: {role: You write., goal: '{{tune}}', backstory: ''}
tasks:
  draft: {agent: cook, description: 'Write about {{requests}}.', expected_output: A text.}
  note: {agent: author, description: 'x', expected_output: A note., colour: red}
";
    let agcore = home(&server).with_file("bad.flow.yaml", text);
    let ran = agcore.run(["flow", "check", "bad.flow.yaml"]);
    let expected = [
        "task `nothing`",
        "`nowhere`",
        "`tune`",
        "agent `cook`",
        "`requests`",
        "`colour`",
    ];
    ran.assert_failed(2, &expected);
    // Without agents, the rest is still checked.
    let start = text.find("agents:").unwrap();
    let end = text.find("tasks:").unwrap();
    let without = format!("{}{}", &text[..start], &text[end..]);
    let agcore = agcore.with_file("worse.flow.yaml", &without);
    let ran = agcore.run(["flow", "check", "worse.flow.yaml"]);
    ran.assert_failed(
        2,
        &["`agents`", "task `nothing`", "`nowhere`", "`requests`", "`colour`"],
    );
    assert!(!ran.stderr.contains("agent `cook`"), "{}", ran.stderr);
}

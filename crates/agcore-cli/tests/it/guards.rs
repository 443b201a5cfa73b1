//! A hook, a rule, a budget and the redaction of the settings hold wherever the program runs an agent.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::json;

use crate::{
    editor::Editor,
    person::Person,
    serve::{Serving, input},
    support::{Agcore, Server},
};

const SETTINGS: &str = r#"
redact = ['ACME-\d+']

[permissions]
deny = ['current_time']

[budget.turn]
tool_calls = 3

[[hooks.PreToolUse]]
matcher = 'arithmetic'
command = "echo 'stopped by the hook' >&2; exit 2"
"#;

const FLOW: &str = "\
version: 1
kind: graph
nodes: {answer: {}}
edges: [{from: answer, to: end}]
agents:
  helper:
    {role: You help., goal: Help well., backstory: '', tools: [arithmetic, current_time, read_file, read_notes]}
tasks: {answer: {agent: helper, description: '{{request}}', expected_output: A text.}}
";

/// The parts of the program in which an agent calls tools.
const SURFACES: [&str; 8] = [
    "chat",
    "single message",
    "task",
    "flow",
    "serve",
    "served flow",
    "eval",
    "acp",
];

/// A model that calls the tool whose name follows the word `try`, and then answers. `forever` is a tool call that never ends.
struct Model {
    server: Server,
    calls: Arc<AtomicUsize>,
}

impl Model {
    fn start() -> Self {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        let server = Server::start(MockOptions::new(), move |request: &RecordedRequest| {
            let text = request.prompt().last_user().to_owned();
            let Some((_, tool)) = text.split_once("try ") else {
                return Reply::text("Nothing to try.");
            };
            let tool = tool
                .split(|c: char| !c.is_ascii_alphabetic() && c != '_')
                .next()
                .unwrap();
            if text.starts_with("Goal: ") {
                return Reply::text(json!({"steps": [format!("try {tool}")]}).to_string());
            }
            let json = request.json();
            let is_result = json["messages"].as_array().unwrap().last().unwrap()["role"] == "tool";
            if is_result && tool != "forever" {
                return Reply::text("Tried.");
            }
            let (name, arguments) = match tool {
                "arithmetic" => (tool, json!({"operation": "add", "a": 1, "b": 2})),
                "read_file" => (tool, json!({"path": "data.txt"})),
                "forever" => ("read_notes", json!({})),
                _ => (tool, json!({})),
            };
            count.fetch_add(1, Ordering::SeqCst);
            Reply::tool_calls([ToolCall::new(name, &arguments)])
        });
        Self { server, calls }
    }

    /// Returns what the model received from the tool.
    fn result(&self) -> String {
        let requests = self.server.requests();
        let results = requests.iter().rev().find_map(|request| {
            let json = request.json();
            let last = json["messages"]
                .as_array()?
                .iter()
                .rev()
                .find(|message| message["role"] == "tool")?
                .clone();
            Some(last["content"].as_str()?.to_owned())
        });
        results.expect("the model received no result")
    }
}

/// Gives an agent a prompt. Whether it succeeds does not matter here.
fn ask(surface: &str, agcore: Agcore, prompt: &str) {
    match surface {
        "chat" => {
            let mut person = Person::chatting(agcore, &[]);
            person.types(prompt);
            person.next();
            person.presses('d');
            person.leaves_with(0);
        }
        "single message" => drop(agcore.run(["-p", prompt])),
        "task" => drop(agcore.run(["run", prompt, "--replans", "0"])),
        "flow" => drop(
            agcore
                .with_file("a.flow.yaml", FLOW)
                .run(["flow", "run", "a.flow.yaml", prompt]),
        ),
        "serve" => {
            let serving = Serving::start(&agcore, &["--tools"]);
            serving.ask("POST", "/api/v1/agent/run", "", &input("t", prompt));
        }
        "served flow" => {
            let flows = agcore.settings_directory().join("flows");
            fs::create_dir_all(&flows).unwrap();
            fs::write(flows.join("help.flow.yaml"), FLOW).unwrap();
            let serving = Serving::start(&agcore, &["--tools"]);
            serving.ask("POST", "/api/v1/agent/agents/help/run", "", &input("t", prompt));
        }
        "eval" => {
            let suite =
                format!("name = 'a'\n[[cases]]\nname = 'b'\ninput = '{prompt}'\nexpect.answer.contains = ['Tried']\n");
            drop(agcore.with_file("a.toml", &suite).run(["eval", "a.toml"]));
        }
        "acp" => {
            let mut editor = Editor::start(&agcore, &[]);
            let session = editor.session(agcore.directory.path());
            editor.prompt(&session, prompt);
            assert_eq!(editor.leave(), Some(0));
        }
        other => panic!("{other}"),
    }
}

/// Lets an agent try a tool on a surface.
fn tried(surface: &str, tool: &str) -> Model {
    let model = Model::start();
    let agcore = Agcore::talking_to(&model.server)
        .at_home()
        .with_user_settings(SETTINGS)
        .with_file("data.txt", "Order ACME-17 is late.\n");
    ask(surface, agcore, &format!("try {tool}"));
    model
}

#[test]
fn a_hook_blocks_a_call_on_every_surface() {
    for surface in SURFACES {
        let result = tried(surface, "arithmetic").result();
        assert!(result.contains("stopped by the hook"), "{surface}: {result}");
    }
}

#[test]
fn a_rule_denies_a_call_on_every_surface() {
    for surface in SURFACES {
        let result = tried(surface, "current_time").result();
        assert!(result.contains("is not allowed"), "{surface}: {result}");
    }
}

#[test]
fn what_the_settings_name_is_redacted_on_every_surface() {
    for surface in SURFACES {
        let result = tried(surface, "read_file").result();
        assert!(
            result.contains("Order [redacted] is late.") && !result.contains("ACME-17"),
            "{surface}: {result}"
        );
    }
}

#[test]
fn a_budget_ends_a_turn_on_every_surface() {
    for surface in SURFACES {
        let calls = tried(surface, "forever").calls.load(Ordering::SeqCst);
        // The model asks for one call more than it gets.
        assert!((3..=4).contains(&calls), "{surface}: {calls} calls");
    }
}

/// Calls a tool of `agcore mcp serve` as an MCP client, and returns the text of the result.
fn served_to_a_client(name: &str, arguments: &str) -> String {
    let agcore = Agcore::new()
        .at_home()
        .with_user_settings(SETTINGS)
        .with_file("data.txt", "Order ACME-17 is late.\n");
    let call = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
    let input = format!(
        "{}\n{}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{call}}}\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    );
    let ran = agcore.run_with(["mcp", "serve"], input.as_bytes());
    let lines = ran
        .assert_success()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let answer = lines.into_iter().find(|line| line["id"] == 2).unwrap();
    assert!(!answer.to_string().contains("ACME-17"), "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn hooks_rules_and_redaction_hold_for_the_tools_of_an_mcp_server() {
    let blocked = served_to_a_client("arithmetic", r#"{"operation":"add","a":1,"b":2}"#);
    assert!(blocked.contains("stopped by the hook"), "{blocked}");
    let denied = served_to_a_client("current_time", "{}");
    assert!(denied.contains("is not allowed"), "{denied}");
    let read = served_to_a_client("read_file", r#"{"path":"data.txt"}"#);
    assert!(read.contains("Order [redacted] is late."), "{read}");
}

#[test]
fn a_session_is_replayed_with_the_hooks_and_rules_under_which_it_ran() {
    let model = Model::start();
    let agcore = Agcore::talking_to(&model.server).at_home().with_user_settings(SETTINGS);
    for tool in ["arithmetic", "current_time"] {
        agcore.run(["-p", &format!("try {tool}")]);
        let list = agcore.run(["sessions", "list", "--json"]);
        let list: serde_json::Value = serde_json::from_str(list.assert_success()).unwrap();
        let id = list["sessions"][0]["id"].as_str().unwrap().to_owned();
        let before = model.server.requests().len();
        agcore.run(["sessions", "replay", &id]).assert_success();
        assert_eq!(model.server.requests().len(), before, "no model is asked");
    }
}

/// Returns the files of the program's source that create a builder themselves.
fn builders(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            builders(&path, found);
        } else if fs::read_to_string(&path).unwrap().contains("AgentBuilder::new()") {
            found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn no_other_part_of_the_program_builds_an_agent_with_tools() {
    let found_in = |folder: &str| {
        let mut found = Vec::new();
        builders(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
        found.sort();
        found
    };
    // A compaction has no tools, a demonstration has a scripted model, a picture and a trajectory run nothing.
    assert_eq!(found_in("src"), ["compact.rs", "demo.rs", "draw.rs", "trajectory.rs"]);
    // The one place.
    assert_eq!(found_in("../agcore-workbench/src"), ["agent.rs", "lib.rs"]);
}

//! Flow files and their problems.

use std::collections::BTreeMap;

use agcore_chat::SchemaCheck;
use agcore_flow::Limit;
use agcore_flow_files::{FlowFile, FlowKind, TaskOutput};
use agcore_tools::SchemaValidator;

const VALID: &str = include_str!("staged/support.flow.yaml");

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let result = FlowFile::parse("f.flow.yaml", text, |name| Err(format!("no {name}")));
    let problems = result.err().map(|error| error.problems().to_vec()).unwrap_or_default();
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, expected);
}

#[test]
fn valid_files() {
    check(VALID, &[]);
    let file = FlowFile::parse("f.flow.yaml", VALID, |_| Err(String::new())).unwrap();
    assert_eq!((file.name.as_str(), file.limits.max_repairs), ("support", Some(2)));
    assert_eq!(file.agents["clerk"].model.as_deref(), Some("small-1"));
    let unnamed = VALID.replace("name: support\n", "");
    let file = FlowFile::parse("help.flow.yaml", &unnamed, |_| Err(String::new())).unwrap();
    assert_eq!(file.name, "help");
}

#[test]
fn all_problems_at_once() {
    let text = "\
version: 2
kind: stagey
colour: red
variables: shop
limits: {max_repairs: many, depth: 3}
agents:
  a: {role: '{{', goal: 7, tools: [1, x]}
  b: []
tasks:
  intent_recognition: {agent: z, description: '{{intent}} {{> part}}', expected_output: ''}
  task_execution: {agent: a}
  more: {}
";
    check(
        text,
        &[
            "f.flow.yaml:1:10: version: expected the number 1, which is the only version, found the number 2",
            "f.flow.yaml:2:7: kind: the name \"stagey\" is not known; did you mean `staged`?",
            "f.flow.yaml:3:1: there is no member `colour`; use one of `version`, `kind`, `name`, `variables`, `limits`, \
             `agents`, `tasks`",
            "f.flow.yaml:4:12: variables: expected a list, found the text \"shop\"",
            "f.flow.yaml:5:23: limits.max_repairs: expected a whole number, found the text \"many\"",
            "f.flow.yaml:5:29: there is no member `depth`; use one of `max_repairs`",
            "f.flow.yaml:7:6: the member `backstory` is missing; add it",
            "f.flow.yaml:7:13: the template cannot be used: line 1, column 1: expected }} to close the tag, found the end of \
             the template (near `{{`)",
            "f.flow.yaml:7:25: agents.a.goal: expected a text, found the number 7; quote it",
            "f.flow.yaml:7:36: agents.a.tools[0]: expected a text, found the number 1; quote it",
            "f.flow.yaml:8:6: agents.b: expected a table, found a list",
            "f.flow.yaml:10:3: the member `result_reporting` is missing; add it",
            "f.flow.yaml:10:31: there is no agent `z`; the agents are `a`, `b`",
            "f.flow.yaml:10:47: the template uses `intent`, which is not a variable; use one of `request`",
            "f.flow.yaml:10:47: the template includes `part`; flow files have no partials",
            "f.flow.yaml:11:19: the member `description` is missing; add it",
            "f.flow.yaml:11:19: the member `expected_output` is missing; add it",
            "f.flow.yaml:12:3: there is no member `more`; use one of `intent_recognition`, `task_execution`, \
             `result_reporting`",
        ],
    );
}

#[test]
fn broken_yaml_is_reported_with_its_place() {
    check("", &["f.flow.yaml:1:1: the file is empty"]);
    check(
        "a: [",
        &["f.flow.yaml:2:1: while parsing a node, did not find expected node content"],
    );
    check(
        "a: 1\na: 2",
        &["f.flow.yaml:2:1: the key \"a\" occurs twice in one table; remove one of them"],
    );
    check("7: 1", &["f.flow.yaml:1:1: a key must be a text; quote it"]);
    check(
        "a: &x [*x]",
        &["f.flow.yaml:1:8: an alias refers to a value that contains it"],
    );
    check(
        "a: !!int 1",
        &["f.flow.yaml:1:4: the only tag that is supported is !!str; remove it"],
    );
    check(
        "---\na: 1\n---\nb: 1",
        &["f.flow.yaml:3:1: a second document begins; write everything in one"],
    );
    let deep = "[".repeat(100);
    check(
        &deep,
        &["f.flow.yaml:1:65: more than 64 lists and tables are nested; use fewer levels"],
    );
    check("- a", &["f.flow.yaml:1:1: expected a table, found a list"]);
}

#[test]
fn parts_of_a_file_can_be_repeated() {
    let text = VALID.replacen("agents:\n", "agents:\n  spare: {<<: x}\n", 1);
    assert_ne!(text, VALID);
    check(
        &text,
        &[
            "f.flow.yaml:7:10: the member `role` is missing; add it",
            "f.flow.yaml:7:10: the member `goal` is missing; add it",
            "f.flow.yaml:7:10: the member `backstory` is missing; add it",
            "f.flow.yaml:7:11: there is no member `<<`; use one of `role`, `goal`, `backstory`, `model`, `tools`, `skills`, \
             `context_messages`",
        ],
    );
    let agent = "{role: '', goal: '', backstory: ''}";
    let text = VALID.replacen(
        "agents:\n",
        &format!("agents:\n  spare: &spare {agent}\n  other: *spare\n"),
        1,
    );
    check(&text, &[]);
    let file = FlowFile::parse("f.flow.yaml", &text, |_| Err(String::new())).unwrap();
    assert_eq!(file.agents.len(), 4);
}

#[test]
fn agents_and_tasks_can_have_files_of_their_own() {
    let (head, rest) = VALID.split_once("agents:\n").unwrap();
    let (agents, tasks) = rest.split_once("tasks:\n").unwrap();
    let files: BTreeMap<&str, String> = BTreeMap::from([
        ("agents.yaml", agents.replace("\n  ", "\n").trim_start().to_owned()),
        ("tasks.yaml", tasks.replace("agent: worker", "agent: nobody")),
    ]);
    let load = |name: &str| files.get(name).cloned().ok_or_else(|| "it does not exist".to_owned());
    let text = format!("{head}agents: agents.yaml\ntasks: tasks.yaml\n");
    let error = FlowFile::parse("f.flow.yaml", &text, load).unwrap_err();
    assert_eq!(
        error.problems()[0].to_string(),
        "tasks.yaml:8:12: there is no agent `nobody`; the agents are `clerk`, `worker`"
    );
    assert_eq!(error.problems().len(), 1);
    let text = format!("{head}agents: other.yaml\ntasks: tasks.yaml\n");
    let error = FlowFile::parse("f.flow.yaml", &text, load).unwrap_err();
    assert_eq!(
        error.problems()[0].to_string(),
        "f.flow.yaml:6:9: the file \"other.yaml\" cannot be read: it does not exist"
    );
}

const ROUTER: &str = include_str!("flows/desk.flow.yaml");
const GRAPH: &str = include_str!("flows/article.flow.yaml");
const PLANNER: &str = include_str!("flows/garden.flow.yaml");

#[test]
fn valid_files_of_each_kind() {
    for (text, kind) in [
        (VALID, FlowKind::Staged),
        (ROUTER, FlowKind::Router),
        (PLANNER, FlowKind::Planner),
        (GRAPH, FlowKind::Graph),
    ] {
        check(text, &[]);
        let file = FlowFile::parse("f.flow.yaml", text, |_| Err(String::new())).unwrap();
        assert_eq!(file.kind, kind);
    }
    let graph = FlowFile::parse("f.flow.yaml", GRAPH, |_| Err(String::new())).unwrap();
    assert_eq!(graph.nodes.len(), 7);
    assert!(matches!(graph.tasks["review"].output, TaskOutput::Schema(_)));
    assert_eq!(graph.limits.visits["draft"], Limit::new(3).with_exit("publish"));
}

#[test]
fn problems_of_graphs() {
    let text = "\
version: 1
kind: graph
nodes:
  a: {task: write}
  b: {}
  c: {question: 'Go {{results.z}}?', timeout_seconds: soon}
  d: {task: write, colour: red}
  e: {task: write, question: 'Go?'}
edges:
  - {from: a, to: b}
  - {from: a, to: [c]}
  - {from: b, to: [c, d]}
  - {from: c, to: end, join: d}
  - {from: c}
limits: {visits: {a: 0, y: {exit: x}}}
agents:
  a: {role: '', goal: '', backstory: ''}
tasks:
  write: {agent: a, description: '{{results.b}} {{results.z}}', expected_output: '', output: {type: array}}
";
    check(
        text,
        &[
            "f.flow.yaml:4:3: `a` may be visited 0 times; set its limit to 1 or more",
            "f.flow.yaml:5:3: there is no task `b`; name one of `write`, or ask a `question`",
            "f.flow.yaml:6:17: the template uses the result of `z`, which is not a node; the nodes are `a`, `b`, `c`, `d`, `e`",
            "f.flow.yaml:6:55: nodes.c.timeout_seconds: expected a whole number, found the text \"soon\"",
            "f.flow.yaml:7:20: there is no member `colour`; use one of `task`, `question`, `timeout_seconds`, `attempts`",
            "f.flow.yaml:8:13: a node has either a `task` or a `question`; remove one of them",
            "f.flow.yaml:12:5: an edge that leads to several nodes needs a `join`, the node in which they meet",
            "f.flow.yaml:13:5: only an edge that leads to several nodes has a `join`",
            "f.flow.yaml:14:5: the member `to` is missing; add it",
            "f.flow.yaml:15:28: the member `visits` is missing; add it",
            "f.flow.yaml:19:34: the template uses the result of `z`, which is not a node; the nodes are `a`, `b`, `c`, `d`, `e`",
            "f.flow.yaml:19:94: `text` or the JSON Schema of an object is expected here",
        ],
    );
}

/// Returns a graph with these nodes, edges and limits.
fn graph(nodes: &str, edges: &str, limits: &str) -> String {
    format!(
        "version: 1\nkind: graph\nnodes: {nodes}\nedges: {edges}\nlimits: {limits}\nagents: {{x: {{role: '', goal: '', \
         backstory: ''}}}}\ntasks: {{t: {{agent: x, description: d, expected_output: e}}}}\n"
    )
}

#[test]
fn graphs_that_cannot_run() {
    let (a, b) = ("a: {task: t}", "b: {task: t}");
    check(
        &graph(&format!("{{{a}}}"), "[{from: a, to: z}]", "{}"),
        &["f.flow.yaml:4:23: the edge from `a` refers to `z`, which is not a node"],
    );
    let problems = |text: &str| {
        let error = FlowFile::parse("f.flow.yaml", text, |_| Err(String::new())).unwrap_err();
        error.to_string()
    };
    let no_end = problems(&graph(
        &format!("{{{a}, {b}}}"),
        "[{from: a, to: b}, {from: b, to: a}]",
        "{visits: {a: 2}}",
    ));
    assert!(
        no_end.contains("f.flow.yaml:3:9: ") && no_end.contains("end"),
        "{no_end}"
    );
    let free = "[{from: a, to: b}, {from: b, to: a, route: x}, {from: b, to: end, route: y}]";
    let unlimited = problems(&graph(&format!("{{{a}, {b}}}"), free, "{}"));
    assert!(
        unlimited.contains("f.flow.yaml:3:9: ") && unlimited.contains("limit"),
        "{unlimited}"
    );
    let fork = "[{from: a, to: [b, c], join: j}, {from: b, to: j}, {from: c, to: end}, {from: j, to: end}]";
    let lost = problems(&graph(
        &format!("{{{a}, {b}, c: {{task: t}}, j: {{task: t}}}}"),
        fork,
        "{}",
    ));
    assert!(lost.contains("join"), "{lost}");
    let nowhere = problems(&graph(&format!("{{{a}}}"), "[{from: a, to: end}]", "{visits: {q: 2}}"));
    assert!(
        nowhere.contains("f.flow.yaml:5:19: ") && nowhere.contains("`q`"),
        "{nowhere}"
    );
}

#[test]
fn outputs_are_checked_for_each_task() {
    let router = ROUTER.replace(
        "expected_output: The decision.",
        "expected_output: The decision.\n    output: text",
    );
    let error = FlowFile::parse("f.flow.yaml", &router, |_| Err(String::new())).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the form of this result cannot be chosen; remove `output`"),
        "{error}"
    );
    let staged = VALID.replace("A friendly answer.", "A friendly answer.\n    output: {type: object}");
    let error = FlowFile::parse("f.flow.yaml", &staged, |_| Err(String::new())).unwrap_err();
    assert!(error.to_string().contains("`text` is the only form"), "{error}");
}

#[test]
fn the_schema_accepts_what_is_read_and_refuses_the_rest() {
    let schema = FlowFile::json_schema();
    let fits = |text: &str| {
        let json = FlowFile::to_json("f.flow.yaml", text).unwrap();
        SchemaValidator::new().check(&schema, &json).is_ok()
    };
    for text in [VALID, ROUTER, PLANNER, GRAPH] {
        assert!(fits(text), "{text}");
    }
    let staged = VALID.replacen("version: 1", "version: 2", 1);
    assert!(!fits(&staged));
    for (text, from, to) in [
        (VALID, "kind: staged", "kind: router"),
        (VALID, "version: 1", "version: 1\nnodes: {}"),
        (VALID, "    tools: [order]", "    tools: order"),
        (VALID, "    model: small-1", "    modell: small-1"),
        (ROUTER, "  worker:\n    agent", "  labourer:\n    agent"),
        (GRAPH, "edges:", "borders:"),
        (GRAPH, "{visits: 3, exit: publish}", "{exit: publish}"),
        (PLANNER, "max_rounds: 12", "max_rounds: 0"),
    ] {
        let bad = text.replacen(from, to, 1);
        assert_ne!(bad, text, "{from} does not occur");
        assert!(!fits(&bad), "the schema accepts {to}");
        assert!(
            FlowFile::parse("f.flow.yaml", &bad, |_| Err(String::new())).is_err(),
            "{to} is read"
        );
    }
}

#[test]
fn the_schema_is_documented() {
    let documented = include_str!("../../../../docs/flow-schema.json");
    let schema = serde_json::to_string_pretty(&FlowFile::json_schema()).unwrap() + "\n";
    let written = concat!(env!("CARGO_TARGET_TMPDIR"), "/flow-schema.json");
    std::fs::write(written, &schema).unwrap();
    assert!(
        documented == schema,
        "docs/flow-schema.json is outdated; replace it with {written}"
    );
}

#[test]
fn members_of_results_are_described_by_their_names() {
    let fields = "expected_output: The facts, without a final wording.\n    fields: {status: 'How {{intent.route}} went', mood: Good, report_brief: '{{wish}}'}";
    let text = VALID.replacen("expected_output: The facts, without a final wording.", fields, 1);
    assert_ne!(text, VALID, "the task has this expected output");
    let place = |part: &str| {
        let line = text.lines().position(|line| line.contains("fields:")).unwrap();
        let column = text.lines().nth(line).unwrap().find(part).unwrap();
        format!("f.flow.yaml:{}:{}", line + 1, column + 1)
    };
    check(
        &text,
        &[
            &format!(
                "{}: the result has no member `mood`; its members are `status`, `execution_summary`, `execution_data`, \
                 `report_brief`, `error_message`",
                place("mood")
            ),
            &format!(
                "{}: the template uses `wish`, which is not a variable; use one of `request`, `intent`, `shop`",
                place("'{{wish}}'")
            ),
        ],
    );
    let text = include_str!("flows/desk.flow.yaml").replacen(
        "expected_output: The answer to the customer.",
        "expected_output: The answer to the customer.\n    fields: {answer: All of it}",
        1,
    );
    let error = FlowFile::parse("f.flow.yaml", &text, |_| Err(String::new())).unwrap_err();
    assert!(
        error.problems()[0]
            .message
            .contains("the members of this result cannot be described here"),
        "{error}"
    );
}

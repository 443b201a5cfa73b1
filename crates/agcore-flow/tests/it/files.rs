//! Flow files and what is wrong with them.

use std::collections::BTreeMap;

use agcore_flow::FlowFile;

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
    assert_eq!((file.name.as_str(), file.max_repairs), ("support", Some(2)));
    assert_eq!(file.agents["clerk"].model.as_deref(), Some("small-1"));
    let unnamed = VALID.replace("name: support\n", "");
    let file = FlowFile::parse("help.flow.yaml", &unnamed, |_| Err(String::new())).unwrap();
    assert_eq!(file.name, "help");
}

#[test]
fn all_problems_at_once() {
    let text = "\
version: 2
kind: planner
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
            "f.flow.yaml:1:10: `version` must be `1`, which is all that is supported",
            "f.flow.yaml:2:7: `kind` must be `staged`, which is all that is supported",
            "f.flow.yaml:3:1: `colour` is not known here; use one of `version`, `kind`, `name`, `variables`, `limits`, \
             `agents`, `tasks`",
            "f.flow.yaml:4:12: a list of texts is expected here",
            "f.flow.yaml:5:23: a whole number is expected here",
            "f.flow.yaml:5:29: `depth` is not known here; use one of `max_repairs`",
            "f.flow.yaml:7:6: `backstory` is missing",
            "f.flow.yaml:7:13: the template cannot be used: line 1, column 1: expected }} to close the tag, found the end of \
             the template (near `{{`)",
            "f.flow.yaml:7:25: a text is expected here; quote it",
            "f.flow.yaml:7:36: a text is expected here; quote it",
            "f.flow.yaml:8:6: a table is expected here",
            "f.flow.yaml:10:3: `result_reporting` is missing",
            "f.flow.yaml:10:31: there is no agent `z`; the agents are `a`, `b`",
            "f.flow.yaml:10:47: the template uses `intent`, which is not a variable; use one of `request`",
            "f.flow.yaml:10:47: the template includes `part`; flow files have no partials",
            "f.flow.yaml:11:19: `description` is missing",
            "f.flow.yaml:11:19: `expected_output` is missing",
            "f.flow.yaml:12:3: `more` is not known here; use one of `intent_recognition`, `task_execution`, \
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
        &["f.flow.yaml:2:1: the key \"a\" occurs twice in one table"],
    );
    check("7: 1", &["f.flow.yaml:1:1: a key must be a text; quote it"]);
    check(
        "a: &x 1\nb: *x",
        &["f.flow.yaml:2:4: aliases are not supported; repeat the value"],
    );
    check(
        "a: !!int 1",
        &["f.flow.yaml:1:4: the only tag that is supported is !!str; remove it"],
    );
    check(
        "---\na: 1\n---\nb: 1",
        &["f.flow.yaml:3:1: a second document begins; write everything in one"],
    );
    let deep = "[".repeat(40);
    check(&deep, &["f.flow.yaml:1:33: more than 32 lists and tables are nested"]);
    check("- a", &["f.flow.yaml:1:1: a table is expected here"]);
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

//! [`FlowFile`]: agents and tasks of a flow from YAML.

mod node;
mod yaml;
mod problem;
mod reader;
mod template;

use std::collections::BTreeMap;

pub use self::{
    problem::{FileProblem, FlowFileError},
    template::{AgentTemplate, TaskTemplate},
};

use self::{
    node::{Node, Value},
    problem::Problems,
    reader::Reader,
};

/// The version of the form of flow files.
const VERSION: &str = "1";

/// A flow file: the agents and tasks of a flow, as templates.
///
/// ```
/// use agcore_flow::FlowFile;
///
/// let text = "
/// version: 1
/// kind: staged
/// name: help desk
/// agents:
///   clerk: {role: You work at a help desk., goal: Help., backstory: You know the shop.}
/// tasks:
///   intent_recognition: {agent: clerk, description: 'Classify: {{request}}', expected_output: An intent.}
///   task_execution: {agent: clerk, description: '{{intent.execution_brief}}', expected_output: Facts.}
///   result_reporting: {agent: cook, description: 'Report {{result}}', expected_output: An answer.}
/// ";
/// let error = FlowFile::parse("help.flow.yaml", text, |_| Err("there are no other files".into())).unwrap_err();
/// let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
/// assert_eq!(problems, [
///     "help.flow.yaml:10:29: there is no agent `cook`; the agents are `clerk`",
///     "help.flow.yaml:10:48: the template uses `result`, which is not a variable; use one of `request`, `intent`, `execution`",
/// ]);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FlowFile {
    /// The name of the flow.
    pub name: String,
    /// The variables that a run must be given besides the request.
    pub variables: Vec<String>,
    /// The agents, by their names.
    pub agents: BTreeMap<String, AgentTemplate>,
    /// The tasks, by their names.
    pub tasks: BTreeMap<String, TaskTemplate>,
    /// How many times a model may correct a result that does not fit; `None` is the default of the agent loop.
    pub max_repairs: Option<u32>,
}

/// The names of the stages of a staged flow, in order.
pub(crate) const STAGES: [&str; 3] = ["intent_recognition", "task_execution", "result_reporting"];

/// The variables of each stage besides those that the file declares.
const RESULTS: [&[&str]; 3] = [
    &["request"],
    &["request", "intent"],
    &["request", "intent", "execution"],
];

impl FlowFile {
    /// Reads a flow file of the kind `staged`. `agents` and `tasks` can be names of other files, which `load` reads.
    ///
    /// # Errors
    /// All problems of the file, each with its line and column.
    pub fn parse(name: &str, text: &str, load: impl Fn(&str) -> Result<String, String>) -> Result<Self, FlowFileError> {
        let mut problems = Problems::default();
        let file = read(name, text, &load, &mut problems);
        match file.filter(|_| problems.is_empty()) {
            Some(file) => Ok(file),
            None => Err(problems.into_error()),
        }
    }
}

fn read(
    name: &str,
    text: &str,
    load: &dyn Fn(&str) -> Result<String, String>,
    problems: &mut Problems,
) -> Option<FlowFile> {
    let root = parse(name, text, problems)?;
    let mut reader = Reader::new(name, problems);
    let mut table = reader.table(&root)?;
    reader.constant(&mut table, "version", VERSION);
    reader.constant(&mut table, "kind", "staged");
    let flow = table.take("name").and_then(|node| reader.text(node));
    let variables = table
        .take("variables")
        .map(|node| reader.texts(node))
        .unwrap_or_default();
    let max_repairs = table.take("limits").and_then(|node| limits(&mut reader, node));
    let agents = reader.required(&mut table, "agents").cloned();
    let tasks = reader.required(&mut table, "tasks").cloned();
    reader.no_more(table);
    let (agents_file, agents) = follow(name, agents?, load, problems)?;
    let (names, agents) = template::agents(&mut Reader::new(&agents_file, problems), &agents, &variables);
    let (tasks_file, tasks) = follow(name, tasks?, load, problems)?;
    let tasks = tasks_of(&mut Reader::new(&tasks_file, problems), &tasks, &variables, &names);
    Some(FlowFile {
        name: flow.unwrap_or_else(|| name.trim_end_matches(".flow.yaml").to_owned()),
        variables,
        agents,
        tasks,
        max_repairs,
    })
}

fn limits(reader: &mut Reader<'_>, node: &Node) -> Option<u32> {
    let mut table = reader.table(node)?;
    let repairs = table.take("max_repairs").and_then(|node| reader.number(node));
    reader.no_more(table);
    repairs
}

fn tasks_of(
    reader: &mut Reader<'_>,
    node: &Node,
    variables: &[String],
    agents: &[String],
) -> BTreeMap<String, TaskTemplate> {
    let mut tasks = BTreeMap::new();
    let Some(mut table) = reader.table(node) else {
        return tasks;
    };
    for (stage, results) in STAGES.iter().zip(RESULTS) {
        let Some(node) = reader.required(&mut table, stage) else {
            continue;
        };
        let results = results.iter().map(|name| (*name).to_owned());
        let known: Vec<String> = results.chain(variables.iter().cloned()).collect();
        let task = template::task(reader, node, &known, agents);
        tasks.extend(task.map(|task| ((*stage).to_owned(), task)));
    }
    reader.no_more(table);
    tasks
}

/// Returns the value, or the contents of the file that it names, with the name of the file.
fn follow(
    name: &str,
    node: Node,
    load: &dyn Fn(&str) -> Result<String, String>,
    problems: &mut Problems,
) -> Option<(String, Node)> {
    let Value::Text(file) = &node.value else {
        return Some((name.to_owned(), node));
    };
    match load(file) {
        Ok(text) => Some((file.clone(), parse(file, &text, problems)?)),
        Err(problem) => {
            problems.add(name, node.place, format!("the file {file:?} cannot be read: {problem}"));
            None
        }
    }
}

fn parse(name: &str, text: &str, problems: &mut Problems) -> Option<Node> {
    let parsed = yaml::parse(text);
    parsed
        .map_err(|(place, problem)| problems.add(name, place, problem))
        .ok()
}

//! [`FlowFile`]: the agents, tasks and nodes of a flow from YAML.

mod node;
mod yaml;
mod problem;
mod reader;
mod output;
mod members;
mod kind;
mod variables;
mod fields;
mod template;
mod limits;
mod graph;
mod form;

use std::collections::BTreeMap;

use agcore_prompt::PromptTemplate;
use serde_json::Value as Json;

pub use self::{
    graph::{EdgeTemplate, NodeTemplate, NodeWork},
    kind::FlowKind,
    limits::FileLimits,
    output::TaskOutput,
    problem::{FileProblem, FlowFileError},
    template::{AgentTemplate, TaskTemplate},
};

pub(crate) use self::kind::{PLANNER, ROUTER, STAGES};
use self::{
    graph::Places,
    kind::GRAPH_VARIABLES,
    node::{Node, Place, Value},
    output::Outputs,
    problem::Problems,
    reader::{Reader, Table},
    variables::Known,
};

use crate::error::FlowError;

/// The version of the form of flow files.
const VERSION: &str = "1";

/// A flow file: the agents and tasks of a flow as templates, and the nodes and edges of a graph.
///
/// Everything is checked when the file is read, and all problems are reported at once.
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
    /// The shape of the flow.
    pub kind: FlowKind,
    /// The name of the flow; by default that of the file, without its folder and extension.
    pub name: String,
    /// The variables that a run must be given besides the request.
    pub variables: Vec<String>,
    /// The agents, by their names.
    pub agents: BTreeMap<String, AgentTemplate>,
    /// The tasks, by their names.
    pub tasks: BTreeMap<String, TaskTemplate>,
    /// The limits.
    pub limits: FileLimits,
    /// The node at which a graph begins; `None` is the first one.
    pub start: Option<String>,
    /// The nodes of a graph.
    pub nodes: Vec<NodeTemplate>,
    /// The edges of a graph.
    pub edges: Vec<EdgeTemplate>,
    /// The scenarios of a planner flow: names with descriptions.
    pub scenarios: BTreeMap<String, String>,
    /// The text that describes the user in a planner flow, with the variable `user`.
    pub user_context: Option<PromptTemplate>,
}

impl FlowFile {
    /// Reads a flow file. `agents` and `tasks` can be names of other files, which `load` reads.
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

    /// Returns a flow file as JSON, to be validated against its [schema](Self::json_schema). Other files are not read, and
    /// nothing but the YAML is checked.
    ///
    /// # Errors
    /// When the text is not YAML of the kind that flow files use.
    pub fn to_json(name: &str, text: &str) -> Result<Json, FlowFileError> {
        let mut problems = Problems::default();
        let root = parse(name, text, &mut problems);
        root.map(|root| root.to_json()).ok_or_else(|| problems.into_error())
    }

    fn empty(kind: FlowKind) -> Self {
        Self {
            kind,
            name: String::new(),
            variables: Vec::new(),
            agents: BTreeMap::new(),
            tasks: BTreeMap::new(),
            limits: FileLimits::default(),
            start: None,
            nodes: Vec::new(),
            edges: Vec::new(),
            scenarios: BTreeMap::new(),
            user_context: None,
        }
    }

    /// Checks that the file is of the kind that a flow is built from.
    pub(crate) fn expect_kind(&self, kind: FlowKind) -> Result<(), FlowError> {
        if self.kind == kind {
            return Ok(());
        }
        let message = format!(
            "the flow file `{}` is of the kind `{}`, and a file of the kind `{kind}` is needed; use the type for its kind",
            self.name, self.kind
        );
        Err(FlowError::input(message))
    }

    /// Returns the JSON Schema of flow files, for editors and other programs. It describes the form of a file; that names and
    /// templates refer to what exists is checked by [`parse`](Self::parse) alone.
    pub fn json_schema() -> Json {
        form::schema()
    }
}

/// Returns the name of a flow whose file has no `name`. Clients see it, so it must not show where the file is.
fn name_of(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = [".flow.yaml", ".flow.yml", ".yaml", ".yml"]
        .iter()
        .find_map(|end| file.strip_suffix(end));
    name.filter(|name| !name.is_empty()).unwrap_or(file)
}

/// Reads all of a file: a missing part does not hide the problems of the others.
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
    let kind = reader.required(&mut table, "kind");
    let kind = kind.and_then(|node| reader.one_of(node, &FlowKind::ALL.map(|kind| (kind.as_str(), kind))));
    let flow = table.take("name").and_then(|node| reader.text(node));
    let variables = table.take("variables").map(|node| reader.texts(node));
    // The file is refused without a kind; until then, it is read as if it had the first one.
    let mut file = FlowFile::empty(kind.unwrap_or(FlowKind::Staged));
    file.name = flow.unwrap_or_else(|| name_of(name).to_owned());
    file.variables = variables.unwrap_or_default();
    let mut places = Places::default();
    if let Some(node) = table.take("limits") {
        let (limits, named) = limits::limits(&mut reader, node, file.kind);
        file.limits = limits;
        named.iter().for_each(|(name, place)| places.add(name, *place));
    }
    if file.kind == FlowKind::Planner {
        planner_parts(&mut reader, &mut table, &mut file);
    }
    let graph = (file.kind == FlowKind::Graph).then(|| GraphParts {
        start: table.take("start"),
        nodes: reader.required(&mut table, "nodes"),
        edges: reader.required(&mut table, "edges"),
    });
    let agents = reader.required(&mut table, "agents").cloned();
    let tasks = reader.required(&mut table, "tasks").cloned();
    reader.no_more(table);
    let agents = agents.and_then(|node| follow(name, node, load, problems));
    let tasks = tasks.and_then(|node| follow(name, node, load, problems));
    let names = agents.map(|(agents_file, node)| {
        let (names, agents) = template::agents(&mut Reader::new(&agents_file, problems), &node, &file.variables);
        file.agents = agents;
        names
    });
    let results = graph.as_ref().and_then(GraphParts::names);
    if let Some((tasks_file, node)) = &tasks {
        let mut reader = Reader::new(tasks_file, problems);
        file.tasks = tasks_of(&mut reader, node, &file, names.as_deref(), results.as_ref());
    }
    if let Some(graph) = graph {
        let tasks = tasks.as_ref().map(|(_, node)| names_of(node));
        read_graph(
            &mut Reader::new(name, problems),
            &graph,
            tasks,
            places,
            &mut file,
            root.place,
        );
    }
    Some(file)
}

fn planner_parts(reader: &mut Reader<'_>, table: &mut Table<'_>, file: &mut FlowFile) {
    if let Some(node) = table.take("user_context") {
        file.user_context = variables::compile(reader, node, &Known::new(&["user"], &[]));
    }
    let scenarios = table.take("scenarios").and_then(|node| reader.table(node));
    for member in scenarios.map(Table::all).unwrap_or_default() {
        let text = reader.text(&member.node);
        file.scenarios.extend(text.map(|text| (member.name.clone(), text)));
    }
}

/// The parts of a file that only graphs have.
struct GraphParts<'n> {
    start: Option<&'n Node>,
    nodes: Option<&'n Node>,
    edges: Option<&'n Node>,
}

impl GraphParts<'_> {
    fn names(&self) -> Option<Vec<String>> {
        self.nodes.map(names_of)
    }
}

fn read_graph(
    reader: &mut Reader<'_>,
    graph: &GraphParts<'_>,
    tasks: Option<Vec<String>>,
    mut named: Places,
    file: &mut FlowFile,
    at: Place,
) {
    let (Some(nodes), Some(edges)) = (graph.nodes, graph.edges) else {
        return;
    };
    let known = Known {
        results: graph.names(),
        ..Known::new(GRAPH_VARIABLES, &file.variables)
    };
    let mut places = Places::default();
    file.nodes = graph::nodes(reader, nodes, tasks.as_deref(), &known, &mut places);
    let edges_are_complete;
    (file.edges, edges_are_complete) = graph::edges(reader, edges, &mut places);
    if let Some(node) = graph.start {
        file.start = reader.text(node);
        file.start.iter().for_each(|name| places.add(name, node.place));
    }
    named.append_to(&mut places);
    let graph = graph::graph_of(&file.nodes, &file.edges, file.start.as_ref(), &file.limits.visits);
    graph::check_graph(reader, &graph, &places, at, edges_are_complete);
}

fn tasks_of(
    reader: &mut Reader<'_>,
    node: &Node,
    file: &FlowFile,
    agents: Option<&[String]>,
    results: Option<&Vec<String>>,
) -> BTreeMap<String, TaskTemplate> {
    let mut tasks = BTreeMap::new();
    let Some(mut table) = reader.table(node) else {
        return tasks;
    };
    for role in file.kind.roles() {
        let node = match role.is_required {
            true => reader.required(&mut table, role.name),
            false => table.take(role.name),
        };
        let Some(node) = node else { continue };
        let known = Known::new(role.variables, &file.variables);
        let task = template::task(reader, node, &known, role.outputs, role.members, agents);
        tasks.extend(task.map(|task| (role.name.to_owned(), task)));
    }
    if file.kind != FlowKind::Graph {
        reader.no_more(table);
        return tasks;
    }
    let known = Known {
        results: results.cloned(),
        ..Known::new(GRAPH_VARIABLES, &file.variables)
    };
    for member in table.all() {
        let task = template::task(reader, &member.node, &known, Outputs::Any, &[], agents);
        tasks.extend(task.map(|task| (member.name.clone(), task)));
    }
    tasks
}

/// Returns the names of the members of a table.
fn names_of(node: &Node) -> Vec<String> {
    match &node.value {
        Value::Table(members) => members.iter().map(|member| member.name.clone()).collect(),
        _ => Vec::new(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_does_not_show_where_the_file_is() {
        for (path, name) in [
            ("help.flow.yaml", "help"),
            ("/srv/ann/.agcore/flows/help desk.flow.yml", "help desk"),
            (r"D:\ann\flows\help.flow.yaml", "help"),
            ("flows/help.yaml", "help"),
            ("flows/.flow.yaml", ".flow.yaml"),
            ("help", "help"),
        ] {
            assert_eq!(name_of(path), name, "{path}");
        }
    }
}

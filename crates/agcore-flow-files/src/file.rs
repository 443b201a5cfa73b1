//! [`FlowFile`]: the agents, tasks and nodes of a flow from YAML.

mod problem;
mod report;
mod members;
mod kind;
mod variables;
mod node;
mod form;
mod output;
mod fields;
mod template;
mod limits;
mod graph;

use std::collections::BTreeMap;

use agcore_document::{DocumentError, Field, Format, Members, Node, Placed, ScalarOr, Value};
use agcore_flow::FlowError;
use agcore_prompt::PromptTemplate;
use serde_json::Value as Json;

pub use self::{
    graph::EdgeTemplate,
    kind::FlowKind,
    limits::FileLimits,
    node::{NodeTemplate, NodeWork},
    output::TaskOutput,
    problem::{FileProblem, FlowFileError},
    template::{AgentTemplate, TaskTemplate},
};

pub(crate) use self::kind::{PLANNER, ROUTER, STAGES};
use self::{
    form::{Agents, Task, Tasks},
    graph::Places,
    kind::{GRAPH_VARIABLES, Outputs},
    node::Scope,
    problem::Problems,
    report::Report,
    template::TaskScope,
    variables::Known,
};

/// A flow file: the agents and tasks of a flow as templates, and the nodes and edges of a graph.
///
/// Everything is checked when the file is read, and all problems are reported at once.
///
/// ```
/// use agcore_flow_files::FlowFile;
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
        Err(FlowError::invalid_input(message))
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
    // The file is refused without a kind; until then, it is read as if it had the first one.
    let kind = root.member("kind").and_then(|kind| kind.node.read().ok());
    let mut file = FlowFile::empty(kind.unwrap_or(FlowKind::Staged));
    let (parts, wrong) = form::parts(&root, file.kind);
    let mut report = Report::new(name, problems);
    report.form(wrong);
    let parts = parts?;
    let flow = parts.name.and_then(|name| name.value);
    file.name = flow.unwrap_or_else(|| name_of(name).to_owned());
    file.variables = template::texts(parts.variables);
    let (limits, limited) = limits::limits(&mut report, parts.limits);
    file.limits = limits;
    if let Some(text) = parts.user_context {
        file.user_context = variables::compile(&mut report, &text, &Known::new(&["user"], &[]));
    }
    for (name, text) in parts
        .scenarios
        .and_then(|scenarios| scenarios.value)
        .unwrap_or_default()
    {
        file.scenarios.extend(text.value.map(|text| (name.value, text)));
    }
    let source = Source { name, load };
    let agents = source.agents(parts.agents, problems);
    let agents = agents.map(|(agents_file, form)| {
        let report = &mut Report::new(&agents_file, problems);
        let (names, agents) = template::agents(report, form, &file.variables);
        file.agents = agents;
        names
    });
    let nodes = parts.graph.as_ref().and_then(|(nodes, _)| nodes.value.as_ref());
    let results: Option<Vec<String>> = nodes.map(|nodes| nodes.names().map(str::to_owned).collect());
    let tasks = source.tasks(parts.tasks, problems);
    let names = tasks.map(|(tasks_file, tasks)| {
        let names: Vec<String> = tasks.iter().map(|(name, _)| name.clone()).collect();
        let report = &mut Report::new(&tasks_file, problems);
        file.tasks = tasks_of(report, tasks, &file, agents.as_deref(), results.as_ref());
        names
    });
    if let Some((nodes, edges)) = parts.graph {
        let graph = GraphParts {
            start: parts.start.and_then(Field::placed),
            nodes: nodes.value?,
            edges: edges.value?,
            tasks: names,
            limited,
        };
        read_graph(&mut Report::new(name, problems), graph, &root, &mut file);
    }
    Some(file)
}

/// The parts of a file from which a graph is read.
struct GraphParts {
    start: Option<Placed<String>>,
    nodes: Members<Field<node::Node>>,
    edges: Vec<Field<form::Edge>>,
    /// The names of all tasks, if they could be read.
    tasks: Option<Vec<String>>,
    /// The nodes that limits name.
    limited: Vec<Placed<String>>,
}

fn read_graph(report: &mut Report<'_>, graph: GraphParts, root: &Node, file: &mut FlowFile) {
    let known = Known {
        results: Some(graph.nodes.names().map(str::to_owned).collect()),
        ..Known::new(GRAPH_VARIABLES, &file.variables)
    };
    let scope = Scope {
        tasks: graph.tasks.as_deref(),
        known: &known,
    };
    let mut places = Places::default();
    file.nodes = graph::nodes(report, graph.nodes, &scope, &mut places);
    let edges_are_complete;
    (file.edges, edges_are_complete) = graph::edges(report, graph.edges, &mut places);
    graph
        .start
        .iter()
        .chain(&graph.limited)
        .for_each(|name| places.add(name));
    file.start = graph.start.map(|start| start.value);
    let graph = graph::graph_of(&file.nodes, &file.edges, file.start.as_ref(), &file.limits.visits);
    graph::check_graph(report, &graph, &places, root.place, edges_are_complete);
}

fn tasks_of(
    report: &mut Report<'_>,
    tasks: Vec<(String, Field<Task>)>,
    file: &FlowFile,
    agents: Option<&[String]>,
    results: Option<&Vec<String>>,
) -> BTreeMap<String, TaskTemplate> {
    let tasks = tasks.into_iter().filter_map(|(name, task)| {
        let role = file.kind.roles().iter().find(|role| role.name == name);
        let known = Known {
            results: results.cloned(),
            ..Known::new(role.map_or(GRAPH_VARIABLES, |role| role.variables), &file.variables)
        };
        let scope = TaskScope {
            known: &known,
            outputs: role.map_or(Outputs::Any, |role| role.outputs),
            members: role.map_or(&[], |role| role.members),
            agents,
        };
        let task = template::task(report, task.value?, &scope)?;
        Some((name, task))
    });
    tasks.collect()
}

/// The tasks of a file, each with its name.
type NamedTasks = Vec<(String, Field<Task>)>;

/// A flow file, and how to read the files that it names.
struct Source<'s> {
    name: &'s str,
    load: &'s dyn Fn(&str) -> Result<String, String>,
}

impl Source<'_> {
    /// Returns the agents, and the name of the file that contains them.
    fn agents(&self, form: Field<Agents>, problems: &mut Problems) -> Option<(String, Members<Field<form::Agent>>)> {
        match form.value? {
            ScalarOr::Other(agents) => Some((self.name.to_owned(), agents)),
            ScalarOr::Scalar(file) => self.follow(&Placed::new(form.place, file), Node::read_all, problems),
        }
    }

    /// Returns the tasks, and the name of the file that contains them.
    fn tasks(&self, form: Tasks, problems: &mut Problems) -> Option<(String, NamedTasks)> {
        match form {
            Tasks::Unknown => None,
            Tasks::Here(tasks) => Some((self.name.to_owned(), tasks)),
            Tasks::File(file, read) => self.follow(&file, read, problems),
        }
    }

    /// Reads another file.
    fn follow<T>(
        &self,
        file: &Placed<String>,
        read: impl Fn(&Node) -> (Option<T>, Vec<DocumentError>),
        problems: &mut Problems,
    ) -> Option<(String, T)> {
        let name = &file.value;
        match (self.load)(name) {
            Ok(text) => {
                let (value, wrong) = read(&parse(name, &text, problems)?);
                Report::new(name, problems).form(wrong);
                value.map(|value| (name.clone(), value))
            }
            Err(problem) => {
                let message = format!("the file {name:?} cannot be read: {problem}");
                problems.add(self.name, file.place, message);
                None
            }
        }
    }
}

fn parse(name: &str, text: &str, problems: &mut Problems) -> Option<Node> {
    match Format::Yaml.parse(text) {
        Ok(root) if root.value == Value::Table(Vec::new()) => {
            problems.add(name, root.place, "the file is empty");
            None
        }
        Ok(root) => Some(root),
        Err(error) => {
            problems.add(name, error.place, error.kind.to_string());
            None
        }
    }
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

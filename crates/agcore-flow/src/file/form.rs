//! The form of flow files as types, from which the JSON Schema is derived.
#![expect(dead_code, reason = "the types describe files to a schema, and are never created")]

use std::collections::BTreeMap;

use agcore_cycle::typed::schemars::{self, JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};

/// Returns the JSON Schema of flow files.
pub(super) fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<FlowFile>().to_value();
    without_null(&mut schema);
    schema
}

/// Removes `null`, which stands for members that are not there: a file leaves them out.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(without_null),
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    members["type"] = only.clone();
                }
            }
            if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    members.shift_remove("anyOf");
                    members.extend(only);
                }
            }
            members.values_mut().for_each(without_null);
        }
        _ => {}
    }
}

/// A flow: its agents, their tasks, and how they work together.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(untagged)]
enum FlowFile {
    Staged(Box<Staged>),
    Router(Box<Router>),
    Planner(Box<Planner>),
    Graph(Box<Graph>),
}

/// Three stages: the intent is recognized, the task is executed, the result is reported.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Staged {
    version: Version,
    #[schemars(extend("const" = "staged"))]
    kind: String,
    /// The name of the flow. By default that of the file, without `.flow.yaml`.
    name: Option<String>,
    /// The variables that a run is given besides the request.
    variables: Option<Vec<String>>,
    limits: Option<Repairs>,
    agents: Agents,
    tasks: FileOr<StagedTasks>,
}

/// The tasks of a staged flow.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct StagedTasks {
    intent_recognition: Task,
    task_execution: Task,
    result_reporting: Task,
}

/// A router that answers or gives a brief and skills to a worker; on request, a stage that updates the memory.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Router {
    version: Version,
    #[schemars(extend("const" = "router"))]
    kind: String,
    /// The name of the flow. By default that of the file, without `.flow.yaml`.
    name: Option<String>,
    /// The variables that a run is given besides the request.
    variables: Option<Vec<String>>,
    limits: Option<Repairs>,
    agents: Agents,
    tasks: FileOr<RouterTasks>,
}

/// The tasks of a router flow.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct RouterTasks {
    router: Task,
    worker: Task,
    memory: Option<Task>,
}

/// A loop of planner, tools and reflection.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Planner {
    version: Version,
    #[schemars(extend("const" = "planner"))]
    kind: String,
    /// The name of the flow. By default that of the file, without `.flow.yaml`.
    name: Option<String>,
    /// The variables that a run is given besides the request.
    variables: Option<Vec<String>>,
    limits: Option<Rounds>,
    /// The text that describes the user: a template with the variable `user`.
    user_context: Option<String>,
    /// The scenarios: names with descriptions.
    scenarios: Option<BTreeMap<String, String>>,
    agents: Agents,
    tasks: FileOr<PlannerTasks>,
}

/// The tasks of a planner flow.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct PlannerTasks {
    scenario: Option<Task>,
    planner: Task,
    reflection: Task,
    output: Task,
    archive: Option<Task>,
}

/// Nodes and edges.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Graph {
    version: Version,
    #[schemars(extend("const" = "graph"))]
    kind: String,
    /// The name of the flow. By default that of the file, without `.flow.yaml`.
    name: Option<String>,
    /// The variables that a run is given besides the request.
    variables: Option<Vec<String>>,
    limits: Option<Visits>,
    /// The node at which the flow begins. By default the first one.
    start: Option<String>,
    /// The nodes, by their names.
    nodes: BTreeMap<String, Node>,
    /// The edges.
    edges: Vec<Edge>,
    agents: Agents,
    /// The tasks, by their names, or the name of a file that contains them.
    tasks: FileOr<BTreeMap<String, Task>>,
}

/// The version of the form of the file.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars", extend("const" = 1))]
#[serde(transparent)]
struct Version(u32);

/// The agents, by their names, or the name of a file that contains them.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(transparent)]
struct Agents(FileOr<BTreeMap<String, Agent>>);

/// A value, or the name of a file that contains it.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(untagged)]
enum FileOr<T> {
    File(String),
    Value(T),
}

/// An agent.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Agent {
    /// Its role, a template.
    role: String,
    /// Its goal, a template.
    goal: String,
    /// Its backstory, a template.
    backstory: String,
    /// The model of its requests. By default that of the provider.
    model: Option<String>,
    /// The names of the tools that it sees.
    tools: Option<Vec<String>>,
    /// The names of the skills that it can use.
    skills: Option<Vec<String>>,
    /// How many messages of the conversation a router sees. By default all.
    context_messages: Option<u32>,
}

/// A task.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Task {
    /// The name of the agent that does it.
    agent: String,
    /// The work to do, as a template.
    description: String,
    /// A description of the result, as a template.
    expected_output: String,
    output: Option<Output>,
    /// Descriptions of the members of the result, which models see in its schema: templates by the names of the members.
    fields: Option<BTreeMap<String, String>>,
}

/// The form of the result: `text`, or the JSON Schema of an object.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(untagged)]
enum Output {
    #[schemars(extend("const" = "text"))]
    Text(String),
    Schema(Map<String, Value>),
}

/// Limits of a flow.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Repairs {
    /// How many times a model may correct a result that does not fit.
    max_repairs: Option<u32>,
}

/// Limits of a planner flow.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Rounds {
    /// How many times a model may correct a result that does not fit.
    max_repairs: Option<u32>,
    /// How many times the planner may decide.
    #[schemars(range(min = 1))]
    max_rounds: Option<u32>,
}

/// Limits of a graph.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Visits {
    /// How many times a model may correct a result that does not fit.
    max_repairs: Option<u32>,
    /// How often nodes may be visited, by their names. Every loop needs a node with a limit.
    visits: Option<BTreeMap<String, Limit>>,
}

/// The number of visits of a node.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(untagged)]
enum Limit {
    Visits(#[schemars(range(min = 1))] u32),
    Exit(LimitWithExit),
}

/// The number of visits of a node, and what happens after them.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct LimitWithExit {
    /// The number of visits.
    #[schemars(range(min = 1))]
    visits: u32,
    /// The node that is visited instead, or `end`. Without one, the run fails.
    exit: Option<String>,
}

/// A node: an agent does a task, or a person is asked a question.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Node {
    /// The name of the task. By default that of the node.
    task: Option<String>,
    /// The question, a template.
    question: Option<String>,
    /// The time that an attempt may take.
    timeout_seconds: Option<u32>,
    /// The number of attempts.
    attempts: Option<u32>,
}

/// An edge, or a fork if it leads to several nodes.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Edge {
    /// The node at which it begins.
    from: String,
    /// The node to which it leads, or `end`; the nodes of a fork.
    to: OneOrMany,
    /// The route by which the node chooses it.
    route: Option<String>,
    /// The node in which the branches of a fork meet.
    join: Option<String>,
}

/// A name, or several.
#[derive(JsonSchema, Serialize)]
#[schemars(crate = "schemars")]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

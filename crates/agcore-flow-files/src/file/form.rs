//! The form of flow files as types: files are read as them, and the JSON Schema is derived from them.
//!
//! A required member is a [`Field`], an optional one an `Option<Field<…>>`, so that all problems of a file are found at once.

mod parts;

use std::fmt;

use agcore_cycle::typed::schemars::{self, JsonSchema, generate::SchemaSettings};
use agcore_document::{Field, Members, ScalarOr};
use serde::{
    Deserialize, Deserializer,
    de::{self, Unexpected, Visitor},
};
use serde_json::{Map, Value};

pub(super) use self::parts::{Limits, Tasks, parts};
use super::{kind::FlowKind, node::Node};

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
#[derive(JsonSchema)]
#[schemars(crate = "schemars", untagged)]
#[expect(dead_code, reason = "the kind is read before the form of a file is known")]
enum FlowFile {
    Staged(Box<Staged>),
    Router(Box<Router>),
    Planner(Box<Planner>),
    Graph(Box<Graph>),
}

/// Three stages: the intent is recognized, the task is executed, the result is reported.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the version and the kind are only checked")]
struct Staged {
    version: Field<Version>,
    #[schemars(with = "String", extend("const" = "staged"))]
    kind: Field<FlowKind>,
    /// The name of the flow. By default that of the file, without `.flow.yaml`.
    name: Option<Field<String>>,
    /// The variables that a run is given besides the request.
    variables: Option<Field<Vec<Field<String>>>>,
    limits: Option<Field<Repairs>>,
    /// The agents, by their names, or the name of a file that contains them.
    agents: Field<Agents>,
    /// The tasks, or the name of a file that contains them.
    tasks: Field<FileOr<StagedTasks>>,
}

/// The tasks of a staged flow.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct StagedTasks {
    intent_recognition: Field<Task>,
    task_execution: Field<Task>,
    result_reporting: Field<Task>,
}

/// A router that answers or gives a brief and skills to a worker; on request, a stage that updates the memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the version and the kind are only checked")]
struct Router {
    version: Field<Version>,
    #[schemars(with = "String", extend("const" = "router"))]
    kind: Field<FlowKind>,
    /// The name of the flow. By default that of the file, without `.flow.yaml`.
    name: Option<Field<String>>,
    /// The variables that a run is given besides the request.
    variables: Option<Field<Vec<Field<String>>>>,
    limits: Option<Field<Repairs>>,
    /// The agents, by their names, or the name of a file that contains them.
    agents: Field<Agents>,
    /// The tasks, or the name of a file that contains them.
    tasks: Field<FileOr<RouterTasks>>,
}

/// The tasks of a router flow.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct RouterTasks {
    router: Field<Task>,
    worker: Field<Task>,
    memory: Option<Field<Task>>,
}

/// A loop of planner, tools and reflection.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the version and the kind are only checked")]
struct Planner {
    version: Field<Version>,
    #[schemars(with = "String", extend("const" = "planner"))]
    kind: Field<FlowKind>,
    /// The name of the flow. By default that of the file, without `.flow.yaml`.
    name: Option<Field<String>>,
    /// The variables that a run is given besides the request.
    variables: Option<Field<Vec<Field<String>>>>,
    limits: Option<Field<Rounds>>,
    /// The text that describes the user: a template with the variable `user`.
    user_context: Option<Field<String>>,
    /// The scenarios: names with descriptions.
    scenarios: Option<Field<Members<Field<String>>>>,
    /// The agents, by their names, or the name of a file that contains them.
    agents: Field<Agents>,
    /// The tasks, or the name of a file that contains them.
    tasks: Field<FileOr<PlannerTasks>>,
}

/// The tasks of a planner flow.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct PlannerTasks {
    scenario: Option<Field<Task>>,
    planner: Field<Task>,
    reflection: Field<Task>,
    output: Field<Task>,
    archive: Option<Field<Task>>,
}

/// Nodes and edges.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the version and the kind are only checked")]
struct Graph {
    version: Field<Version>,
    #[schemars(with = "String", extend("const" = "graph"))]
    kind: Field<FlowKind>,
    /// The name of the flow. By default that of the file, without `.flow.yaml`.
    name: Option<Field<String>>,
    /// The variables that a run is given besides the request.
    variables: Option<Field<Vec<Field<String>>>>,
    limits: Option<Field<Visits>>,
    /// The node at which the flow begins. By default the first one.
    start: Option<Field<String>>,
    /// The nodes, by their names.
    nodes: Field<Members<Field<Node>>>,
    /// The edges.
    edges: Field<Vec<Field<Edge>>>,
    /// The agents, by their names, or the name of a file that contains them.
    agents: Field<Agents>,
    /// The tasks, by their names, or the name of a file that contains them.
    tasks: Field<FileOr<Members<Field<Task>>>>,
}

/// The version of the form of the file.
#[derive(Debug, JsonSchema)]
#[schemars(crate = "schemars", transparent, extend("const" = 1))]
pub(super) struct Version(#[expect(dead_code, reason = "there is only one")] u32);

/// The agents, by their names, or the name of a file that contains them.
pub(super) type Agents = FileOr<Members<Field<Agent>>>;

/// A value, or the name of a file that contains it.
pub(super) type FileOr<T> = ScalarOr<String, T>;

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VersionVisitor)
    }
}

struct VersionVisitor;

impl Visitor<'_> for VersionVisitor {
    type Value = Version;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the number 1, which is the only version")
    }

    fn visit_u64<E: de::Error>(self, version: u64) -> Result<Version, E> {
        match version {
            1 => Ok(Version(1)),
            other => Err(E::invalid_value(Unexpected::Unsigned(other), &self)),
        }
    }
}

/// An agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    /// Its role, a template.
    pub(super) role: Field<String>,
    /// Its goal, a template.
    pub(super) goal: Field<String>,
    /// Its backstory, a template.
    pub(super) backstory: Field<String>,
    /// The model of its requests. By default that of the provider.
    pub(super) model: Option<Field<String>>,
    /// The names of the tools that it sees.
    pub(super) tools: Option<Field<Vec<Field<String>>>>,
    /// The names of the skills that it can use.
    pub(super) skills: Option<Field<Vec<Field<String>>>>,
    /// How many messages of the conversation a router sees. By default all.
    pub(super) context_messages: Option<Field<u32>>,
}

/// A task.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    /// The name of the agent that does it.
    pub(super) agent: Field<String>,
    /// The work to do, as a template.
    pub(super) description: Field<String>,
    /// A description of the result, as a template.
    pub(super) expected_output: Field<String>,
    /// The form of the result: `text`, or the JSON Schema of an object.
    pub(super) output: Option<Field<Output>>,
    /// Descriptions of the members of the result, which models see in its schema: templates by the names of the members.
    pub(super) fields: Option<Field<Members<Field<String>>>>,
}

/// The form of the result: `text`, or the JSON Schema of an object.
pub(super) type Output = ScalarOr<TextOutput, Map<String, Value>>;

/// The name of the form of a text.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars", inline)]
#[serde(rename_all = "snake_case")]
pub(super) enum TextOutput {
    Text,
}

/// Limits of a flow.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Repairs {
    /// How many times a model may correct a result that does not fit.
    pub(super) max_repairs: Option<Field<u32>>,
}

/// Limits of a planner flow.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Rounds {
    /// How many times a model may correct a result that does not fit.
    pub(super) max_repairs: Option<Field<u32>>,
    /// How many times the planner may decide.
    #[schemars(range(min = 1))]
    pub(super) max_rounds: Option<Field<u32>>,
}

/// Limits of a graph.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
struct Visits {
    /// How many times a model may correct a result that does not fit.
    pub(super) max_repairs: Option<Field<u32>>,
    /// How often nodes may be visited, by their names. Every loop needs a node with a limit.
    visits: Option<Field<Members<Field<Limit>>>>,
}

/// The number of visits of a node, or a table with it.
pub(super) type Limit = ScalarOr<Count, LimitWithExit>;

/// A number of visits.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars", inline, extend("minimum" = 1))]
#[serde(transparent)]
pub(super) struct Count(pub(super) u32);

/// The number of visits of a node, and what happens after them.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct LimitWithExit {
    /// The number of visits.
    pub(super) visits: Field<Count>,
    /// The node that is visited instead, or `end`. Without one, the run fails.
    pub(super) exit: Option<Field<String>>,
}

/// An edge, or a fork if it leads to several nodes.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct Edge {
    /// The node at which it begins.
    pub(super) from: Field<String>,
    /// The node to which it leads, or `end`; the nodes of a fork.
    pub(super) to: Field<ScalarOr<String, Vec<Field<String>>>>,
    /// The route by which the node chooses it.
    pub(super) route: Option<Field<String>>,
    /// The node in which the branches of a fork meet.
    pub(super) join: Option<Field<String>>,
}

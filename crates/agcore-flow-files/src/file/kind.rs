//! [`FlowKind`]: the shape of the flow of a file, and the tasks that it needs.

use std::fmt;

use serde::Deserialize;

use super::members;

/// The shape of the flow of a [`FlowFile`](super::FlowFile).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlowKind {
    /// Intent recognition, execution, reporting: [`StagedFlow`](crate::StagedFlow).
    Staged,
    /// A router, a worker, and on request a stage that updates the memory: [`RouterFlow`](crate::RouterFlow).
    Router,
    /// A loop of planner, tools and reflection: [`PlannerFlow`](crate::PlannerFlow).
    Planner,
    /// Nodes and edges of the file: [`GraphFlow`](crate::GraphFlow).
    Graph,
}

/// A task that flows of a kind have.
pub(crate) struct TaskRole {
    pub(crate) name: &'static str,
    /// The variables of its templates besides those that the file declares.
    pub(crate) variables: &'static [&'static str],
    pub(super) outputs: Outputs,
    /// The members of its result that a file can describe.
    pub(super) members: Members,
}

/// The forms that a task may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outputs {
    /// The form cannot be chosen.
    Fixed,
    FixedOrText,
    Text,
    Any,
}

impl Outputs {
    pub(super) fn names(self) -> &'static str {
        match self {
            Self::Fixed => "the form of this result cannot be chosen; remove `output`",
            Self::FixedOrText | Self::Text => {
                "`text` is the only form that can be chosen here; remove `output` or use it"
            }
            Self::Any => "`text` or the JSON Schema of an object is expected here",
        }
    }
}

/// The names of the members of a result.
pub(super) type Members = &'static [&'static str];

/// The tasks of a staged flow, in order.
pub(crate) const STAGES: [&str; 3] = ["intent_recognition", "task_execution", "result_reporting"];

/// The tasks of a router flow: the router, the worker, and the memory stage.
pub(crate) const ROUTER: [&str; 3] = ["router", "worker", "memory"];

/// The tasks of a planner flow: scenario, planner, reflection, output, archive.
pub(crate) const PLANNER: [&str; 5] = ["scenario", "planner", "reflection", "output", "archive"];

/// The variables of all tasks of a planner flow.
const PLANNER_VARIABLES: &[&str] = &[
    "request",
    "turn",
    "history",
    "user_context",
    "memory",
    "scenario",
    "scenarios",
    "goals",
    "output_style",
    "output_structure",
    "files",
    "tables",
    "other_files",
    "todos",
    "actions",
    "tools",
];

const fn role(name: &'static str, variables: &'static [&'static str], outputs: Outputs) -> TaskRole {
    TaskRole {
        name,
        variables,
        outputs,
        members: &[],
    }
}

impl TaskRole {
    const fn returning(self, members: Members) -> Self {
        Self { members, ..self }
    }
}

const STAGED_ROLES: &[TaskRole] = &[
    role(STAGES[0], &["request"], Outputs::Fixed).returning(members::INTENT),
    role(STAGES[1], &["request", "intent"], Outputs::Fixed).returning(members::EXECUTION),
    role(STAGES[2], &["request", "intent", "execution"], Outputs::FixedOrText).returning(members::ORGANIZATION),
];

const ROUTER_ROLES: &[TaskRole] = &[
    role(ROUTER[0], &["request", "skills"], Outputs::Fixed).returning(members::ROUTER),
    role(ROUTER[1], &["request", "skills", "router"], Outputs::Any),
    role(ROUTER[2], &["request", "router", "answer"], Outputs::Text),
];

const PLANNER_ROLES: &[TaskRole] = &[
    role(PLANNER[0], PLANNER_VARIABLES, Outputs::Fixed).returning(members::SCENARIO),
    role(PLANNER[1], PLANNER_VARIABLES, Outputs::Fixed).returning(members::DECISION),
    role(PLANNER[2], PLANNER_VARIABLES, Outputs::Fixed).returning(members::REFLECTION),
    role(PLANNER[3], PLANNER_VARIABLES, Outputs::Text),
    role(PLANNER[4], PLANNER_VARIABLES, Outputs::Fixed).returning(members::NOTES),
];

/// The variables of the tasks of a graph.
pub(super) const GRAPH_VARIABLES: &[&str] = &["request", "results"];

impl FlowKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Staged, Self::Router, Self::Planner, Self::Graph];

    /// Returns the name of the kind, as it is in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Router => "router",
            Self::Planner => "planner",
            Self::Graph => "graph",
        }
    }

    /// Returns the tasks of the kind; none if a file chooses their names.
    pub(crate) const fn roles(self) -> &'static [TaskRole] {
        match self {
            Self::Staged => STAGED_ROLES,
            Self::Router => ROUTER_ROLES,
            Self::Planner => PLANNER_ROLES,
            Self::Graph => &[],
        }
    }
}

impl fmt::Display for FlowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

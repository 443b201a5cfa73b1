//! [`Parts`]: what the forms of all kinds have.

use agcore_document::{DocumentError, Field, Members, Node as Document, Placed, ScalarOr};
use serde::de::DeserializeOwned;

use super::{
    Agents, Edge, FileOr, Graph, Limit, Node, Planner, PlannerTasks, Router, RouterTasks, Staged, StagedTasks, Task,
};
use crate::file::kind::{FlowKind, PLANNER, ROUTER, STAGES};

/// The parts of a form: those of all kinds, and those of one kind only.
#[derive(Debug, Default)]
pub(in crate::file) struct Parts {
    pub(in crate::file) name: Option<Field<String>>,
    pub(in crate::file) variables: Option<Field<Vec<Field<String>>>>,
    pub(in crate::file) limits: Limits,
    pub(in crate::file) agents: Field<Agents>,
    pub(in crate::file) tasks: Tasks,
    pub(in crate::file) user_context: Option<Field<String>>,
    pub(in crate::file) scenarios: Option<Field<Members<Field<String>>>>,
    pub(in crate::file) start: Option<Field<String>>,
    /// The nodes and the edges of a graph.
    pub(in crate::file) graph: Option<(Nodes, Edges)>,
}

/// The nodes of a graph, by name.
pub(in crate::file) type Nodes = Field<Members<Field<Node>>>;

/// The edges of a graph.
pub(in crate::file) type Edges = Field<Vec<Field<Edge>>>;

/// The limits of all kinds.
#[derive(Debug, Default)]
pub(in crate::file) struct Limits {
    pub(in crate::file) max_repairs: Option<Field<u32>>,
    pub(in crate::file) max_rounds: Option<Field<u32>>,
    pub(in crate::file) visits: Option<Field<Members<Field<Limit>>>>,
}

/// Tasks with their names.
type Named = Vec<(String, Field<Task>)>;

/// The tasks of a flow.
#[derive(Debug, Default)]
pub(in crate::file) enum Tasks {
    /// Tasks that could not be read.
    #[default]
    Unknown,
    /// In the file of the flow.
    Here(Named),
    /// In another file, which is read as the form of the kind.
    File(Placed<String>, fn(&Document) -> (Option<Named>, Vec<DocumentError>)),
}

/// The tasks of a kind.
trait TaskForm: DeserializeOwned {
    fn named(self) -> Named;
}

impl TaskForm for StagedTasks {
    fn named(self) -> Named {
        let tasks = [self.intent_recognition, self.task_execution, self.result_reporting];
        named(STAGES, tasks.map(Some))
    }
}

impl TaskForm for RouterTasks {
    fn named(self) -> Named {
        named(ROUTER, [Some(self.router), Some(self.worker), self.memory])
    }
}

impl TaskForm for PlannerTasks {
    fn named(self) -> Named {
        let Self {
            scenario,
            planner,
            reflection,
            output,
            archive,
        } = self;
        named(
            PLANNER,
            [scenario, Some(planner), Some(reflection), Some(output), archive],
        )
    }
}

impl TaskForm for Members<Field<Task>> {
    fn named(self) -> Named {
        self.into_iter().map(|(name, task)| (name.value, task)).collect()
    }
}

fn named<const N: usize>(names: [&str; N], tasks: [Option<Field<Task>>; N]) -> Named {
    let tasks = names.into_iter().zip(tasks);
    tasks
        .filter_map(|(name, task)| Some((name.to_owned(), task?)))
        .collect()
}

fn tasks<T: TaskForm>(field: Field<FileOr<T>>) -> Tasks {
    match field.value {
        Some(ScalarOr::Other(tasks)) => Tasks::Here(tasks.named()),
        Some(ScalarOr::Scalar(file)) => Tasks::File(Placed::new(field.place, file), |root| {
            let (tasks, problems) = root.read_all::<T>();
            (tasks.map(T::named), problems)
        }),
        None => Tasks::Unknown,
    }
}

/// Reads a file of a kind, and returns all problems of its form.
pub(in crate::file) fn parts(root: &Document, kind: FlowKind) -> (Option<Parts>, Vec<DocumentError>) {
    match kind {
        FlowKind::Staged => read::<Staged>(root),
        FlowKind::Router => read::<Router>(root),
        FlowKind::Planner => read::<Planner>(root),
        FlowKind::Graph => read::<Graph>(root),
    }
}

fn read<T: DeserializeOwned + Into<Parts>>(root: &Document) -> (Option<Parts>, Vec<DocumentError>) {
    let (form, problems) = root.read_all::<T>();
    (form.map(T::into), problems)
}

impl From<Staged> for Parts {
    fn from(form: Staged) -> Self {
        let limits = form.limits.and_then(|limits| limits.value);
        Self {
            name: form.name,
            variables: form.variables,
            limits: Limits {
                max_repairs: limits.and_then(|limits| limits.max_repairs),
                ..Limits::default()
            },
            agents: form.agents,
            tasks: tasks(form.tasks),
            ..Self::default()
        }
    }
}

impl From<Router> for Parts {
    fn from(form: Router) -> Self {
        let limits = form.limits.and_then(|limits| limits.value);
        Self {
            name: form.name,
            variables: form.variables,
            limits: Limits {
                max_repairs: limits.and_then(|limits| limits.max_repairs),
                ..Limits::default()
            },
            agents: form.agents,
            tasks: tasks(form.tasks),
            ..Self::default()
        }
    }
}

impl From<Planner> for Parts {
    fn from(form: Planner) -> Self {
        let limits = form.limits.and_then(|limits| limits.value);
        let limits = limits.map(|limits| Limits {
            max_repairs: limits.max_repairs,
            max_rounds: limits.max_rounds,
            visits: None,
        });
        Self {
            name: form.name,
            variables: form.variables,
            limits: limits.unwrap_or_default(),
            agents: form.agents,
            tasks: tasks(form.tasks),
            user_context: form.user_context,
            scenarios: form.scenarios,
            ..Self::default()
        }
    }
}

impl From<Graph> for Parts {
    fn from(form: Graph) -> Self {
        let limits = form.limits.and_then(|limits| limits.value);
        let limits = limits.map(|limits| Limits {
            max_repairs: limits.max_repairs,
            max_rounds: None,
            visits: limits.visits,
        });
        Self {
            name: form.name,
            variables: form.variables,
            limits: limits.unwrap_or_default(),
            agents: form.agents,
            tasks: tasks(form.tasks),
            start: form.start,
            graph: Some((form.nodes, form.edges)),
            ..Self::default()
        }
    }
}

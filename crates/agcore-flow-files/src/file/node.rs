//! [`NodeTemplate`]: a node of a graph, its form in files and its checks.

use std::time::Duration;

use agcore_cycle::typed::schemars::{self, JsonSchema};
use agcore_document::{Field, Place, Placed};
use agcore_flow::{NodeOptions, Retry};
use agcore_prompt::PromptTemplate;
use serde::Deserialize;

use super::{
    problem::listed,
    report::Report,
    variables::{self, Known},
};

/// A node of a graph in a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NodeTemplate {
    /// The name.
    pub name: String,
    /// The work of the node.
    pub work: NodeWork,
    /// The time and the attempts that it is allowed.
    pub options: NodeOptions,
}

/// The work of a [`NodeTemplate`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum NodeWork {
    /// An agent does the task with this name.
    Task(String),
    /// A person is asked this question.
    Question(PromptTemplate),
}

/// A node: an agent does a task, or a person is asked a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    /// The name of the task. By default that of the node.
    task: Option<Field<String>>,
    /// The question, a template.
    question: Option<Field<String>>,
    /// The time that an attempt may take.
    timeout_seconds: Option<Field<u32>>,
    /// The number of attempts.
    attempts: Option<Field<u32>>,
}

/// The names that the work of a node may refer to.
pub(super) struct Scope<'s> {
    /// The names of all tasks, if they could be read.
    pub(super) tasks: Option<&'s [String]>,
    /// The variables of templates.
    pub(super) known: &'s Known,
}

impl Node {
    /// Returns the node. If its work is wrong, it is a task with the name of the node, so that edges to it are not wrong as well.
    pub(super) fn template(self, name: &Placed<String>, scope: &Scope<'_>, report: &mut Report<'_>) -> NodeTemplate {
        let value = |field: &Option<Field<u32>>| field.as_ref().and_then(|field| field.value);
        let mut options = NodeOptions::new();
        options.timeout = value(&self.timeout_seconds).map(|seconds| Duration::from_secs(u64::from(seconds)));
        if let Some(attempts) = value(&self.attempts) {
            options = options.with_retry(Retry::new(attempts.max(1)));
        }
        NodeTemplate {
            work: self.work(name, scope, report).unwrap_or_else(|| own_task(name)),
            name: name.value.clone(),
            options,
        }
    }

    /// Returns the work; `None` if it is wrong.
    fn work(self, name: &Placed<String>, scope: &Scope<'_>, report: &mut Report<'_>) -> Option<NodeWork> {
        match (self.question, self.task) {
            (Some(_), Some(task)) => {
                let problem = "a node has either a `task` or a `question`; remove one of them";
                report.problem(task.place, problem);
                None
            }
            (Some(question), None) => variables::compile(report, &question, scope.known).map(NodeWork::Question),
            (None, task) => {
                let place = task.as_ref().map_or(name.place, |task| task.place);
                let task = task.map_or_else(|| Some(name.value.clone()), |task| task.value)?;
                is_known(&task, place, scope, report).then_some(NodeWork::Task(task))
            }
        }
    }
}

/// Returns the node of a wrong value.
pub(super) fn unknown(name: &Placed<String>) -> NodeTemplate {
    NodeTemplate {
        work: own_task(name),
        name: name.value.clone(),
        options: NodeOptions::new(),
    }
}

fn own_task(name: &Placed<String>) -> NodeWork {
    NodeWork::Task(name.value.clone())
}

fn is_known(task: &str, place: Place, scope: &Scope<'_>, report: &mut Report<'_>) -> bool {
    let Some(tasks) = scope.tasks else { return true };
    let is_known = tasks.iter().any(|known| known == task);
    if !is_known {
        let tasks = listed(tasks);
        let message = format!("there is no task `{task}`; name one of {tasks}, or ask a `question`");
        report.problem(place, message);
    }
    is_known
}

//! The nodes and edges of files of the kind `graph`.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use agcore_prompt::PromptTemplate;

use super::{
    node::{Member, Node, Place, Value},
    problem::listed,
    reader::{Reader, Table},
    variables::{self, Known},
};
use crate::{
    graph::{Edge, ForkEdges, Graph, check},
    options::{Limit, NodeOptions, Retry},
    problem::FlowProblem,
    step::END,
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

/// An edge of a graph in a file, or a fork if it leads to several nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EdgeTemplate {
    /// The node at which it begins.
    pub from: String,
    /// The nodes to which it leads, or the end.
    pub to: Vec<String>,
    /// The route by which the node chooses it.
    pub route: Option<String>,
    /// The node in which the branches of a fork meet.
    pub join: Option<String>,
}

/// The places of names, one of each.
#[derive(Default)]
pub(super) struct Places(HashMap<String, Place>);

impl Places {
    pub(super) fn add(&mut self, name: &str, place: Place) {
        self.0.entry(name.to_owned()).or_insert(place);
    }

    /// Adds these places to others, which have precedence.
    pub(super) fn append_to(&mut self, others: &mut Self) {
        for (name, place) in self.0.drain() {
            others.add(&name, place);
        }
    }
}

/// Reads the nodes. Those that are wrong are among them, too, so that edges to them are not. `tasks` are the names of all tasks,
/// if they could be read.
pub(super) fn nodes(
    reader: &mut Reader<'_>,
    node: &Node,
    tasks: Option<&[String]>,
    known: &Known,
    places: &mut Places,
) -> Vec<NodeTemplate> {
    let mut nodes = Vec::new();
    for member in reader.table(node).map(Table::all).unwrap_or_default() {
        places.add(&member.name, member.place);
        let (work, options) = node_of(reader, member, tasks, known);
        nodes.push(NodeTemplate {
            name: member.name.clone(),
            work: work.unwrap_or_else(|| NodeWork::Task(member.name.clone())),
            options,
        });
    }
    nodes
}

/// Reads a node. Its work is `None` if that is wrong.
fn node_of(
    reader: &mut Reader<'_>,
    member: &Member,
    tasks: Option<&[String]>,
    known: &Known,
) -> (Option<NodeWork>, NodeOptions) {
    let mut options = NodeOptions::new();
    let Some(mut table) = reader.table(&member.node) else {
        return (None, options);
    };
    let timeout = table.take("timeout_seconds").and_then(|node| reader.number(node));
    let attempts = table.take("attempts").and_then(|node| reader.number(node));
    let work = match table.take("question") {
        Some(node) => variables::compile(reader, node, known).map(NodeWork::Question),
        None => {
            let named = table.take("task");
            let task = named.map_or_else(|| Some(member.name.clone()), |node| reader.text(node));
            let place = named.map_or(member.place, |node| node.place);
            task.filter(|task| tasks.is_none_or(|tasks| is_known(reader, task, tasks, place)))
                .map(NodeWork::Task)
        }
    };
    reader.no_more(table);
    options.timeout = timeout.map(|seconds| Duration::from_secs(u64::from(seconds)));
    if let Some(attempts) = attempts {
        options = options.with_retry(Retry::new(attempts.max(1)));
    }
    (work, options)
}

fn is_known(reader: &mut Reader<'_>, task: &str, tasks: &[String], place: Place) -> bool {
    let is_known = tasks.iter().any(|known| known == task);
    if !is_known {
        let tasks = listed(tasks);
        let message = format!("there is no task `{task}`; name one of {tasks}, or ask a `question`");
        reader.problem(place, message);
    }
    is_known
}

/// Reads the edges. Also returns whether all of them could be read.
pub(super) fn edges(reader: &mut Reader<'_>, node: &Node, places: &mut Places) -> (Vec<EdgeTemplate>, bool) {
    let Value::List(items) = &node.value else {
        reader.problem(node.place, "a list of edges is expected here");
        return (Vec::new(), false);
    };
    let edges: Vec<EdgeTemplate> = items.iter().filter_map(|item| edge(reader, item, places)).collect();
    let are_complete = edges.len() == items.len();
    (edges, are_complete)
}

fn edge(reader: &mut Reader<'_>, node: &Node, places: &mut Places) -> Option<EdgeTemplate> {
    let mut table = reader.table(node)?;
    let named = |reader: &mut Reader<'_>, node: &Node, places: &mut Places| {
        let name = reader.text(node)?;
        places.add(&name, node.place);
        Some(name)
    };
    let from = reader.required(&mut table, "from");
    let from = from.and_then(|node| named(reader, node, places));
    let to = match reader.required(&mut table, "to") {
        Some(node) => match &node.value {
            Value::List(items) => items.iter().filter_map(|item| named(reader, item, places)).collect(),
            _ => named(reader, node, places).into_iter().collect(),
        },
        None => Vec::new(),
    };
    let route = table.take("route").and_then(|node| reader.text(node));
    let join = table.take("join").and_then(|node| named(reader, node, places));
    reader.no_more(table);
    let problem = match (to.len(), &join) {
        (0, _) => return None,
        (1, Some(_)) => "only an edge that leads to several nodes has a `join`",
        (2.., None) => "an edge that leads to several nodes needs a `join`, the node in which they meet",
        _ => "",
    };
    if !problem.is_empty() {
        reader.problem(node.place, problem);
        return None;
    }
    Some(EdgeTemplate {
        from: from?,
        to,
        route,
        join,
    })
}

/// Checks the graph, and reports each problem at the place of the node that it is about. Where an edge that could not be read would
/// lead is unknown, so what depends on it is not reported.
pub(super) fn check_graph(
    reader: &mut Reader<'_>,
    graph: &Graph,
    places: &Places,
    at: Place,
    edges_are_complete: bool,
) {
    for problem in check::problems(graph) {
        if !edges_are_complete && depends_on_edges(&problem) {
            continue;
        }
        let place = subject(&problem).and_then(|name| places.0.get(name)).copied();
        reader.problem(place.unwrap_or(at), problem.to_string());
    }
}

/// Returns nodes and edges as plain data.
pub(super) fn graph_of(
    nodes: &[NodeTemplate],
    edges: &[EdgeTemplate],
    start: Option<&String>,
    visits: &BTreeMap<String, Limit>,
) -> Graph {
    let nodes: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let mut graph = Graph {
        name: "file".to_owned(),
        version: 1,
        start: start.or_else(|| nodes.first()).cloned().unwrap_or_default(),
        nodes,
        limits: visits.clone().into_iter().collect(),
        ..Graph::default()
    };
    for EdgeTemplate { from, to, route, join } in edges {
        match (to.as_slice(), join) {
            ([to], None) => graph.edges.push(Edge {
                from: from.clone(),
                to: to.clone(),
                route: route.clone(),
            }),
            (_, join) => graph.forks.push(ForkEdges {
                from: from.clone(),
                branches: to.clone(),
                join: join.clone().unwrap_or_else(|| END.to_owned()),
            }),
        }
    }
    graph
}

fn depends_on_edges(problem: &FlowProblem) -> bool {
    matches!(
        problem,
        FlowProblem::Unreachable(_)
            | FlowProblem::NoEnd(_)
            | FlowProblem::LoopWithoutLimit(_)
            | FlowProblem::JoinNeverFires { .. }
            | FlowProblem::JoinWithoutFork(_)
            | FlowProblem::InvalidFork(_)
    )
}

/// Returns the name of the node that a problem is about.
fn subject(problem: &FlowProblem) -> Option<&str> {
    match problem {
        FlowProblem::NoNodes => None,
        FlowProblem::LoopWithoutLimit(nodes) => nodes.first().map(String::as_str),
        FlowProblem::InvalidName { name, .. }
        | FlowProblem::DuplicateNode(name)
        | FlowProblem::UnknownNode { name, .. }
        | FlowProblem::DuplicateEdge { from: name, .. }
        | FlowProblem::Unreachable(name)
        | FlowProblem::NoEnd(name)
        | FlowProblem::ZeroLimit(name)
        | FlowProblem::InvalidFork(name)
        | FlowProblem::DuplicateFork(name)
        | FlowProblem::JoinNeverFires { fork: name, .. }
        | FlowProblem::JoinWithoutFork(name) => Some(name),
    }
}

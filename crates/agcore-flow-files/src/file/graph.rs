//! The nodes and edges of files of the kind `graph`.

use std::collections::{BTreeMap, HashMap};

use agcore_document::{Field, Members, Place, Placed, ScalarOr};
use agcore_flow::{END, Edge, FlowProblem, ForkEdges, Graph, Limit};

use super::{
    form,
    node::{self, Node, NodeTemplate, Scope},
    report::Report,
};

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
    pub(super) fn add(&mut self, name: &Placed<String>) {
        self.0.entry(name.value.clone()).or_insert(name.place);
    }
}

/// Checks the nodes. Those that are wrong are among them, too, so that edges to them are not.
pub(super) fn nodes(
    report: &mut Report<'_>,
    form: Members<Field<Node>>,
    scope: &Scope<'_>,
    places: &mut Places,
) -> Vec<NodeTemplate> {
    let nodes = form.into_iter().map(|(name, node)| {
        places.add(&name);
        match node.value {
            Some(node) => node.template(&name, scope, report),
            None => node::unknown(&name),
        }
    });
    nodes.collect()
}

/// Checks the edges. Also returns whether all of them could be read.
pub(super) fn edges(
    report: &mut Report<'_>,
    form: Vec<Field<form::Edge>>,
    places: &mut Places,
) -> (Vec<EdgeTemplate>, bool) {
    let count = form.len();
    let edges = form.into_iter().filter_map(|form| {
        let place = form.place;
        edge(report, form.value?, place, places)
    });
    let edges: Vec<EdgeTemplate> = edges.collect();
    let are_complete = edges.len() == count;
    (edges, are_complete)
}

fn edge(report: &mut Report<'_>, form: form::Edge, at: Place, places: &mut Places) -> Option<EdgeTemplate> {
    let mut named = |name: Option<Placed<String>>| {
        let name = name?;
        places.add(&name);
        Some(name.value)
    };
    let from = named(form.from.placed());
    let to_place = form.to.place;
    let to = match form.to.value? {
        ScalarOr::Scalar(name) => named(Some(Placed::new(to_place, name))).into_iter().collect(),
        ScalarOr::Other(names) => names
            .into_iter()
            .filter_map(|name| named(name.placed()))
            .collect::<Vec<_>>(),
    };
    let join = named(form.join.and_then(Field::placed));
    let problem = match (to.len(), &join) {
        (0, _) => return None,
        (1, Some(_)) => "only an edge that leads to several nodes has a `join`",
        (2.., None) => "an edge that leads to several nodes needs a `join`, the node in which they meet",
        _ => "",
    };
    if !problem.is_empty() {
        report.problem(at, problem);
        return None;
    }
    Some(EdgeTemplate {
        from: from?,
        to,
        route: form.route.and_then(|route| route.value),
        join,
    })
}

/// Checks the graph, and reports each problem at the place of the node that it is about. Where an edge that could not be read would
/// lead is unknown, so what depends on it is not reported.
pub(super) fn check_graph(
    report: &mut Report<'_>,
    graph: &Graph,
    places: &Places,
    at: Place,
    edges_are_complete: bool,
) {
    for problem in graph.problems() {
        if !edges_are_complete && depends_on_edges(&problem) {
            continue;
        }
        let place = problem.subject().and_then(|name| places.0.get(name)).copied();
        report.problem(place.unwrap_or(at), problem.to_string());
    }
}

/// Returns nodes and edges as plain data.
pub(super) fn graph_of(
    nodes: &[NodeTemplate],
    edges: &[EdgeTemplate],
    start: Option<&String>,
    visits: &BTreeMap<String, Limit>,
) -> Graph {
    let mut graph = Graph::new("file");
    graph.nodes = nodes.iter().map(|node| node.name.clone()).collect();
    graph.start = start.or_else(|| graph.nodes.first()).cloned().unwrap_or_default();
    graph.limits = visits.clone().into_iter().collect();
    for EdgeTemplate { from, to, route, join } in edges {
        match (to.as_slice(), join) {
            ([to], None) => {
                let edge = Edge::new(from, to);
                graph.edges.push(match route {
                    Some(route) => edge.with_route(route),
                    None => edge,
                });
            }
            (branches, join) => {
                let join = join.as_deref().unwrap_or(END);
                graph.forks.push(ForkEdges::new(from, branches, join));
            }
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

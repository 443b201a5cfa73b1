//! [`Graph`]: nodes, edges, forks and limits as plain data.

pub(crate) mod check;
mod reach;

use std::collections::HashMap;

use crate::{
    error::{FlowError, FlowErrorKind},
    options::Limit,
    step::Next,
};

/// The nodes and edges of a flow.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) start: String,
    pub(crate) nodes: Vec<String>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) forks: Vec<ForkEdges>,
    pub(crate) limits: HashMap<String, Limit>,
}

/// An edge from a node to a node or to [`END`](crate::END).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) route: Option<String>,
}

/// The branches that begin after a node, and where they are joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForkEdges {
    pub(crate) from: String,
    pub(crate) branches: Vec<String>,
    pub(crate) join: String,
}

impl Graph {
    pub(crate) fn contains(&self, node: &str) -> bool {
        self.nodes.iter().any(|name| name == node)
    }

    pub(crate) fn edges_of<'g>(&'g self, node: &'g str) -> impl Iterator<Item = &'g Edge> {
        self.edges.iter().filter(move |edge| edge.from == node)
    }

    pub(crate) fn fork_at(&self, node: &str) -> Option<&ForkEdges> {
        self.forks.iter().find(|fork| fork.from == node)
    }

    /// Returns the nodes that come next, as a node named them: several only at a fork.
    pub(crate) fn next(&self, node: &str, next: &Next) -> Result<Vec<String>, FlowError> {
        if let Some(fork) = self.fork_at(node) {
            return fork.chosen(next);
        }
        let found = match next {
            Next::Only => {
                let mut edges = self.edges_of(node);
                edges.next().filter(|_| edges.next().is_none())
            }
            Next::Nodes(names) => match names.as_slice() {
                [name] => self.edges_of(node).find(|edge| edge.to == *name),
                _ => None,
            },
            Next::Route(route) => self.edges_of(node).find(|edge| edge.route.as_ref() == Some(route)),
        };
        let found = found.ok_or_else(|| self.no_route(node, next))?;
        Ok(vec![found.to.clone()])
    }

    #[cold]
    fn no_route(&self, node: &str, next: &Next) -> FlowError {
        let possible: Vec<String> = self.edges_of(node).map(Edge::shown).collect();
        let possible = possible.join(", ");
        let problem = match next {
            Next::Only => format!("the node `{node}` has several edges and named none; choose one of {possible}"),
            Next::Nodes(names) => format!(
                "the node `{node}` named {names:?} as next, but its edges lead to {possible}; name one of them, or \
                 declare a fork"
            ),
            Next::Route(route) => {
                format!("the node `{node}` has no route {route:?}; choose one of {possible}")
            }
        };
        FlowError::new(FlowErrorKind::InvalidRoute, problem).at_node(node)
    }
}

impl Edge {
    fn shown(&self) -> String {
        match &self.route {
            Some(route) => format!("`{}` (route `{route}`)", self.to),
            None => format!("`{}`", self.to),
        }
    }
}

impl ForkEdges {
    fn chosen(&self, next: &Next) -> Result<Vec<String>, FlowError> {
        let Self { from, branches, .. } = self;
        let names = match next {
            Next::Only => return Ok(branches.clone()),
            Next::Nodes(names) => names,
            Next::Route(route) => std::slice::from_ref(route),
        };
        let is_branch = |name: &&String| branches.contains(name);
        let chosen: Vec<String> = branches
            .iter()
            .filter(|branch| names.contains(branch))
            .cloned()
            .collect();
        if names.is_empty() || !names.iter().all(|name| is_branch(&name)) {
            let message = format!("the fork at `{from}` has the branches {branches:?}, and its node named {names:?}");
            return Err(FlowError::new(FlowErrorKind::InvalidRoute, message).at_node(from));
        }
        Ok(chosen)
    }
}

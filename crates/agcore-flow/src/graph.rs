//! [`Graph`]: nodes, edges, forks and limits as plain data.

mod check;
mod reach;

use std::collections::HashMap;

use crate::{
    error::{FlowError, FlowErrorKind},
    options::Limit,
    step::Next,
};

/// The nodes and edges of a flow as plain data, to be checked before there is anything to run.
///
/// ```
/// use agcore_flow::{Edge, Graph};
///
/// let mut graph = Graph::new("article");
/// graph.nodes = vec!["write".to_owned(), "review".to_owned()];
/// graph.start = "write".to_owned();
/// graph.edges = vec![Edge::new("write", "review")];
/// let problems: Vec<String> = graph.problems().iter().map(ToString::to_string).collect();
/// assert!(problems[0].contains("`write`"), "{problems:?}");
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Graph {
    /// The name of the flow.
    pub name: String,
    /// The version of its states.
    pub version: u32,
    /// The node at which a run begins.
    pub start: String,
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The edges, without those of forks.
    pub edges: Vec<Edge>,
    /// The forks.
    pub forks: Vec<ForkEdges>,
    /// The numbers of visits that nodes are allowed, by their names.
    pub limits: HashMap<String, Limit>,
}

/// An edge from a node to a node or to [`END`](crate::END).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The node at which it begins.
    pub from: String,
    /// The node to which it leads.
    pub to: String,
    /// The route by which the node chooses it.
    pub route: Option<String>,
}

/// The branches that begin after a node, and the node in which they are joined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForkEdges {
    /// The node at which the fork begins.
    pub from: String,
    /// The first nodes of the branches.
    pub branches: Vec<String>,
    /// The node in which the branches are joined.
    pub join: String,
}

impl Graph {
    /// Creates the graph of the first version of a flow, without nodes.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: 1,
            ..Self::default()
        }
    }

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
    /// Creates an edge.
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
            route: None,
        }
    }

    /// Sets the route by which the node chooses it.
    #[must_use]
    pub fn with_route(mut self, route: impl Into<String>) -> Self {
        self.route = Some(route.into());
        self
    }

    fn shown(&self) -> String {
        match &self.route {
            Some(route) => format!("`{}` (route `{route}`)", self.to),
            None => format!("`{}`", self.to),
        }
    }
}

impl ForkEdges {
    /// Creates the edges of a fork.
    pub fn new<B: Into<String>>(
        from: impl Into<String>,
        branches: impl IntoIterator<Item = B>,
        join: impl Into<String>,
    ) -> Self {
        Self {
            from: from.into(),
            branches: branches.into_iter().map(Into::into).collect(),
            join: join.into(),
        }
    }

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

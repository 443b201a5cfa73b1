//! [`FlowBuilder`]: puts a flow together and checks it.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use agcore_chat::Clock;
use serde_json::Value;

use crate::{
    error::FlowError,
    flow::{Flow, Migration, NodeEntry, Parts},
    fork::Fork,
    graph::{Edge, ForkEdges, Graph},
    node::{FlowState, Node},
    options::{Limit, NodeOptions},
    progress::Merges,
};

/// Puts a [`Flow`] together: nodes, the edges between them, forks, limits.
///
/// ```
/// use agcore_chat::SystemClock;
/// use agcore_flow::{FlowBuilder, FlowProblem, Step};
///
/// // A loop without a limit that never ends, and an edge to a node that does not exist.
/// let error = FlowBuilder::new("broken", SystemClock::new())
///     .with_node("a", |state: u32, _| async move { Ok(Step::new(state)) })
///     .with_edge("a", "b")
///     .build()
///     .unwrap_err();
/// let problem = FlowProblem::UnknownNode { place: "the edge from `a`".into(), name: "b".into() };
/// assert_eq!(error.problems(), [problem]);
/// ```
#[must_use = "a builder does nothing before `build`"]
pub struct FlowBuilder<S> {
    graph: Graph,
    nodes: HashMap<String, Arc<dyn Node<S>>>,
    options: BTreeMap<String, NodeOptions>,
    merges: Merges<S>,
    migration: Option<Migration>,
    clock: Arc<dyn Clock>,
}

impl<S: FlowState> FlowBuilder<S> {
    /// Creates a flow with a name, by which checkpoints know it. The clock measures timeouts, waits and durations.
    pub fn new(name: impl Into<String>, clock: impl Clock + 'static) -> Self {
        let graph = Graph {
            name: name.into(),
            version: 1,
            ..Graph::default()
        };
        Self {
            graph,
            nodes: HashMap::new(),
            options: BTreeMap::new(),
            merges: Merges::new(),
            migration: None,
            clock: Arc::new(clock),
        }
    }

    /// Adds a node. The first one is the start, unless another is [set](Self::with_start).
    pub fn with_node(mut self, name: impl Into<String>, node: impl Node<S> + 'static) -> Self {
        let name = name.into();
        if self.graph.start.is_empty() {
            self.graph.start.clone_from(&name);
        }
        self.graph.nodes.push(name.clone());
        self.nodes.insert(name, Arc::new(node));
        self
    }

    /// Sets the time, attempts and visits that a node is allowed.
    pub fn with_options(mut self, node: impl Into<String>, options: NodeOptions) -> Self {
        self.options.insert(node.into(), options);
        self
    }

    /// Limits how often a node may be visited in a run.
    pub fn with_limit(mut self, node: impl Into<String>, limit: impl Into<Limit>) -> Self {
        self.options.entry(node.into()).or_default().limit = Some(limit.into());
        self
    }

    /// Adds an edge between nodes, or from a node to [`END`](crate::END).
    pub fn with_edge(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.edge(from.into(), to.into(), None)
    }

    /// Adds an edge that nodes [name by a route](crate::Step::via), like a value that a model returned.
    pub fn with_route(self, from: impl Into<String>, route: impl Into<String>, to: impl Into<String>) -> Self {
        self.edge(from.into(), to.into(), Some(route.into()))
    }

    /// Adds branches that run side by side until they are joined.
    pub fn with_fork(mut self, fork: Fork<S>) -> Self {
        let Fork {
            from,
            branches,
            join,
            merge,
        } = fork;
        self.merges.insert(join.clone(), merge);
        self.graph.forks.push(ForkEdges { from, branches, join });
        self
    }

    /// Sets the node at which runs begin.
    pub fn with_start(mut self, node: impl Into<String>) -> Self {
        self.graph.start = node.into();
        self
    }

    /// Sets the version of the state, from 1. Raise it when the form of the state changes.
    pub fn with_version(mut self, version: u32) -> Self {
        self.graph.version = version;
        self
    }

    /// Sets the function that converts states of older versions, each given with its version. Without one, they must fit as they
    /// are.
    pub fn with_migration(
        mut self,
        migration: impl Fn(u32, Value) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        self.migration = Some(Arc::new(migration));
        self
    }

    /// Checks the graph and builds the flow.
    ///
    /// # Errors
    /// [`InvalidGraph`](crate::FlowErrorKind::InvalidGraph) with all [problems](FlowError::problems) of the graph.
    pub fn build(self) -> Result<Flow<S>, FlowError> {
        let Self {
            mut graph,
            nodes,
            mut options,
            merges,
            migration,
            clock,
        } = self;
        for (node, options) in &options {
            let limit = options.limit.iter().cloned();
            graph.limits.extend(limit.map(|limit| (node.clone(), limit)));
        }
        let mut problems = graph.problems();
        let unknown = options
            .iter()
            .filter(|(node, options)| options.limit.is_none() && !nodes.contains_key(*node));
        problems.extend(unknown.map(|(node, _)| crate::error::FlowProblem::UnknownNode {
            place: "the options of a node".to_owned(),
            name: node.clone(),
        }));
        if !problems.is_empty() {
            return Err(FlowError::graph(&graph.name, problems));
        }
        let entry = |(name, node)| {
            let options = options.remove(&name).unwrap_or_default();
            (name, NodeEntry { node, options })
        };
        Ok(Flow::new(Parts {
            nodes: nodes.into_iter().map(entry).collect(),
            graph: Arc::new(graph),
            merges,
            migration,
            clock,
        }))
    }

    fn edge(mut self, from: String, to: String, route: Option<String>) -> Self {
        self.graph.edges.push(Edge { from, to, route });
        self
    }
}

impl<S> fmt::Debug for FlowBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowBuilder")
            .field("graph", &self.graph)
            .finish_non_exhaustive()
    }
}

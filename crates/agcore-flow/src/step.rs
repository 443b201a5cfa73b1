//! [`Step`]: the result of a node.

use agcore_chat::UsageTracker;
use serde::Serialize;
use serde_json::Value;

/// The name by which edges refer to the end of a run.
pub const END: &str = "end";

/// The result of a node: the new state, and which nodes come next.
///
/// ```
/// use agcore_flow::Step;
///
/// let _only_edge = Step::new(7);
/// let _named_node = Step::new(7).to("report");
/// let _named_route = Step::new(7).via("needs_execution");
/// let _end = Step::new(7).end();
/// ```
#[derive(Debug, Clone)]
#[must_use = "a step is returned from a node"]
pub struct Step<S> {
    pub(crate) state: S,
    pub(crate) next: Next,
    pub(crate) data: Option<Value>,
    pub(crate) usage: Option<Box<UsageTracker>>,
}

/// The way in which a node names what comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// The only edge, or all branches of a fork.
    Only,
    Nodes(Vec<String>),
    Route(String),
}

impl<S> Step<S> {
    /// Continues with the only edge of the node; at a fork, with all its branches.
    pub fn new(state: S) -> Self {
        Self {
            state,
            next: Next::Only,
            data: None,
            usage: None,
        }
    }

    /// Continues with a node, to which an edge must lead.
    pub fn to(mut self, node: impl Into<String>) -> Self {
        self.next = Next::Nodes(vec![node.into()]);
        self
    }

    /// Continues with some branches of a fork. The join waits for these only.
    pub fn to_all<T: Into<String>>(mut self, nodes: impl IntoIterator<Item = T>) -> Self {
        self.next = Next::Nodes(nodes.into_iter().map(Into::into).collect());
        self
    }

    /// Continues along the edge with this [route](crate::FlowBuilder::with_route).
    pub fn via(mut self, route: impl Into<String>) -> Self {
        self.next = Next::Route(route.into());
        self
    }

    /// Ends the run.
    pub fn end(self) -> Self {
        self.to(END)
    }

    /// Adds data about what the node did to its record. A value that has no JSON form is left out.
    pub fn with_data<T: Serialize>(mut self, data: T) -> Self {
        self.data = serde_json::to_value(data).ok();
        self
    }

    /// Adds the tokens that the node used to its record.
    pub fn with_usage(mut self, usage: UsageTracker) -> Self {
        self.usage = Some(Box::new(usage));
        self
    }
}

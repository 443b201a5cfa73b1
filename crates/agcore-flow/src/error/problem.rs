//! [`FlowProblem`]: a problem of a graph.

use std::fmt;

/// A problem of the graph of a flow.
///
/// [`FlowBuilder::build`](crate::FlowBuilder::build) reports all of them at once.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowProblem {
    /// A name cannot be used.
    InvalidName {
        /// The name.
        name: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// Two nodes have the same name.
    DuplicateNode(String),
    /// The flow has no nodes.
    NoNodes,
    /// A part of the flow refers to a node that does not exist.
    UnknownNode {
        /// The place that refers to it, like `the edge from plan`.
        place: String,
        /// The name.
        name: String,
    },
    /// Two edges of a node have the same route, or lead to the same node without a route.
    DuplicateEdge {
        /// The node.
        from: String,
        /// The route, or the node to which both lead.
        to: String,
    },
    /// A node cannot be reached from the start.
    Unreachable(String),
    /// From a node, the run can never end.
    NoEnd(String),
    /// The run could go around these nodes forever.
    LoopWithoutLimit(Vec<String>),
    /// A limit of 0 visits: the node could never run.
    ZeroLimit(String),
    /// A fork has fewer than two branches, or two branches that begin with the same node.
    InvalidFork(String),
    /// Two forks begin at the same node, or end in the same join.
    DuplicateFork(String),
    /// A branch of a fork can end, or enter the join of another fork, without having reached its own join, or never reaches it.
    JoinNeverFires {
        /// The node at which the branches begin.
        fork: String,
        /// The first node of the branch.
        branch: String,
        /// The join.
        join: String,
    },
    /// A join can be reached without the fork to which it belongs.
    JoinWithoutFork(String),
}

impl FlowProblem {
    /// Returns the name of the node that the problem is about. Of several nodes, it is the first.
    pub fn subject(&self) -> Option<&str> {
        match self {
            Self::NoNodes => None,
            Self::LoopWithoutLimit(nodes) => nodes.first().map(String::as_str),
            Self::InvalidName { name, .. }
            | Self::DuplicateNode(name)
            | Self::UnknownNode { name, .. }
            | Self::DuplicateEdge { from: name, .. }
            | Self::Unreachable(name)
            | Self::NoEnd(name)
            | Self::ZeroLimit(name)
            | Self::InvalidFork(name)
            | Self::DuplicateFork(name)
            | Self::JoinNeverFires { fork: name, .. }
            | Self::JoinWithoutFork(name) => Some(name),
        }
    }
}

impl fmt::Display for FlowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidName { name, rule } => write!(f, "the name {name:?} {rule}"),
            Self::DuplicateNode(name) => write!(f, "two nodes are named `{name}`; rename one of them"),
            Self::NoNodes => f.write_str("there are no nodes; add one"),
            Self::UnknownNode { place, name } => write!(f, "{place} refers to `{name}`, which is not a node"),
            Self::DuplicateEdge { from, to } => {
                write!(
                    f,
                    "two edges of `{from}` have the same name `{to}`; remove one, or give it a route"
                )
            }
            Self::Unreachable(name) => write!(f, "`{name}` cannot be reached from the start; add an edge to it"),
            Self::NoEnd(name) => write!(f, "a run that reaches `{name}` can never end; add an edge to `end`"),
            Self::LoopWithoutLimit(nodes) => {
                write!(
                    f,
                    "the loop {} has no limit; limit the visits of one of its nodes",
                    path(nodes)
                )
            }
            Self::ZeroLimit(name) => write!(f, "`{name}` may be visited 0 times; set its limit to 1 or more"),
            Self::InvalidFork(name) => {
                write!(
                    f,
                    "the fork at `{name}` needs two or more branches that begin with different nodes"
                )
            }
            Self::DuplicateFork(name) => write!(f, "two forks begin or end at `{name}`; give each its own nodes"),
            Self::JoinNeverFires { fork, branch, join } => write!(
                f,
                "the join `{join}` of the fork at `{fork}` never fires: the branch `{branch}` can end without it, or \
                 cannot reach it; lead every path of the branch to the join"
            ),
            Self::JoinWithoutFork(name) => {
                write!(
                    f,
                    "the join `{name}` can be reached without its fork; lead that edge to another node"
                )
            }
        }
    }
}

/// Prints a loop with its first node again at the end.
fn path(nodes: &[String]) -> String {
    let names = nodes.iter().chain(nodes.first()).map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(" → ")
}

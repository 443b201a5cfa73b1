//! [`Fork`]: branches that run side by side until they are joined.

use std::{fmt, sync::Arc};

use crate::{error::NodeError, record::Record};

/// Makes the state after a join of the states of its branches.
pub(crate) type Merge<S> = Arc<dyn Fn(Joined<S>) -> Result<S, NodeError> + Send + Sync>;

/// Branches that run side by side after a node, each with its own copy of the state, until all of them reach the join.
///
/// The function makes one state of theirs, with which the join runs.
///
/// ```
/// use agcore_flow::{Fork, Joined};
///
/// let fork = Fork::new("ask", ["cheap", "good"], "compare", |joined: Joined<Vec<String>>| {
///     Ok(joined.branches.into_iter().flat_map(|branch| branch.state).collect())
/// });
/// # let _ = fork;
/// ```
pub struct Fork<S> {
    pub(crate) from: String,
    pub(crate) branches: Vec<String>,
    pub(crate) join: String,
    pub(crate) merge: Merge<S>,
}

/// The states that meet at a join.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Joined<S> {
    /// The state at the fork.
    pub base: S,
    /// The branches, in the order in which the fork declares them.
    pub branches: Vec<BranchEnd<S>>,
}

/// A branch that has arrived at its join.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BranchEnd<S> {
    /// Its first node.
    pub start: String,
    /// Its state.
    pub state: S,
    /// The record of its last node.
    pub last: Option<Record>,
}

impl<S> Fork<S> {
    /// Creates a fork behind the node `from`, into branches that begin at these nodes and end before the node `join`.
    pub fn new<T: Into<String>>(
        from: impl Into<String>,
        branches: impl IntoIterator<Item = T>,
        join: impl Into<String>,
        merge: impl Fn(Joined<S>) -> Result<S, NodeError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            from: from.into(),
            branches: branches.into_iter().map(Into::into).collect(),
            join: join.into(),
            merge: Arc::new(merge),
        }
    }
}

impl<S> fmt::Debug for Fork<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork")
            .field("from", &self.from)
            .field("branches", &self.branches)
            .field("join", &self.join)
            .finish_non_exhaustive()
    }
}

impl<S> Joined<S> {
    pub(crate) fn new(base: S, branches: Vec<BranchEnd<S>>) -> Self {
        Self { base, branches }
    }
}

impl<S> BranchEnd<S> {
    pub(crate) fn new(start: &str, state: S, last: Option<Record>) -> Self {
        Self {
            start: start.to_owned(),
            state,
            last,
        }
    }
}

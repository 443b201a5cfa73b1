//! [`Progress`]: where a run is, as plain data with pure transitions.

mod held;
mod work;
mod advance;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{interrupt::Interrupt, record::Record};

pub(crate) use advance::Merges;
pub(crate) use held::{Held, TAKEN};
pub(crate) use work::{Work, WorkChange};

/// The id of the branch that is the run itself.
pub(crate) const ROOT: &str = "0";

/// Where a run is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Progress<S> {
    /// The number of nodes that have finished.
    pub(crate) records: u64,
    /// How often each node was visited.
    pub(crate) visits: BTreeMap<String, u32>,
    pub(crate) branches: BTreeMap<String, Branch<S>>,
}

/// One line of work with its own state.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Branch<S> {
    pub(crate) state: Held<S>,
    pub(crate) place: Place,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<Record>,
    #[serde(default, skip_serializing_if = "Work::is_empty")]
    pub(crate) work: Work,
}

/// Where a branch is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub(crate) enum Place {
    /// In a node, or about to enter it.
    Node { node: String, visit: u32 },
    /// In a node that waits for answers.
    Waiting {
        node: String,
        visit: u32,
        interrupts: Vec<Interrupt>,
    },
    /// Before a join, until all its branches have arrived.
    Forked { join: String, branches: Vec<String> },
    /// Arrived at the join of its fork.
    Arrived,
    /// Ended.
    Ended,
}

impl<S> Progress<S> {
    /// Begins a run.
    pub(crate) fn new(start: &str, state: S) -> Self {
        let root = Branch::new(state, start, 1);
        Self {
            records: 0,
            visits: BTreeMap::from([(start.to_owned(), 1)]),
            branches: BTreeMap::from([(ROOT.to_owned(), root)]),
        }
    }

    /// Returns the branches that can continue, each with its node and visit.
    pub(crate) fn ready(&self) -> impl Iterator<Item = (&String, &String, u32)> {
        self.branches.iter().filter_map(|(id, branch)| match &branch.place {
            Place::Node { node, visit } => Some((id, node, *visit)),
            _ => None,
        })
    }

    /// Returns the open questions.
    pub(crate) fn interrupts(&self) -> Vec<Interrupt> {
        let waiting = self.branches.values().filter_map(|branch| match &branch.place {
            Place::Waiting { interrupts, .. } => Some(interrupts),
            _ => None,
        });
        waiting.flatten().cloned().collect()
    }

    /// Returns the branch of the run itself if the run has ended.
    pub(crate) fn ended(&self) -> Option<&Branch<S>> {
        self.branches.get(ROOT).filter(|root| root.place == Place::Ended)
    }

    /// Returns the names of the nodes in which the run is.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &str> {
        self.branches.values().filter_map(|branch| match &branch.place {
            Place::Node { node, .. } | Place::Waiting { node, .. } => Some(node.as_str()),
            Place::Forked { join, .. } => Some(join.as_str()),
            Place::Arrived | Place::Ended => None,
        })
    }
}

impl<S> Branch<S> {
    fn new(state: S, node: &str, visit: u32) -> Self {
        Self {
            state: Held::Here(state),
            place: Place::Node {
                node: node.to_owned(),
                visit,
            },
            last: None,
            work: Work::default(),
        }
    }
}

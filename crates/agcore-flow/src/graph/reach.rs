//! Walks through a graph, for its checks.

use std::collections::{HashMap, HashSet};

use super::Graph;

/// The edges of a graph as a run can follow them.
pub(super) struct Steps<'g> {
    graph: &'g Graph,
    next: HashMap<&'g str, Vec<&'g str>>,
}

/// The nodes that a walk met.
#[derive(Default)]
pub(super) struct Walk<'g> {
    /// The nodes that are entered by an edge.
    pub(super) entered: HashSet<&'g str>,
    /// The joins that are reached because their forks are.
    pub(super) joined: HashSet<&'g str>,
}

impl<'g> Steps<'g> {
    /// Collects the edges. A node with a limit that has an exit can be passed by: the exit is reached from wherever the node
    /// is.
    pub(super) fn of(graph: &'g Graph) -> Self {
        let mut next: HashMap<&str, Vec<&str>> = HashMap::new();
        let edges = graph.edges.iter().map(|edge| (edge.from.as_str(), edge.to.as_str()));
        let forks = graph.forks.iter();
        let branches = forks.flat_map(|fork| fork.branches.iter().map(|to| (fork.from.as_str(), to.as_str())));
        for (from, to) in edges.chain(branches) {
            let all = next.entry(from).or_default();
            let mut to = to;
            // Exits of exits, each at most once.
            while !all.contains(&to) {
                all.push(to);
                match graph.limits.get(to).and_then(|limit| limit.exit.as_deref()) {
                    Some(exit) => to = exit,
                    None => break,
                }
            }
        }
        Self { graph, next }
    }

    /// Returns where a run can go from a node.
    pub(super) fn after(&self, node: &str) -> &[&'g str] {
        self.next.get(node).map_or(&[], Vec::as_slice)
    }

    /// Walks from a node, over forks to their joins, and stops where `stop` is entered by an edge.
    pub(super) fn level(&self, from: &'g str, stop: Option<&str>) -> Walk<'g> {
        let mut walk = Walk::default();
        let mut open = vec![(from, false)];
        while let Some((node, is_joined)) = open.pop() {
            let met = if is_joined { &mut walk.joined } else { &mut walk.entered };
            if !met.insert(node) || (Some(node) == stop && !is_joined) {
                continue;
            }
            match self.graph.fork_at(node) {
                Some(fork) => open.push((fork.join.as_str(), true)),
                None => open.extend(self.after(node).iter().map(|next| (*next, false))),
            }
        }
        walk
    }

    /// Returns all nodes that can be reached from some of them, with these.
    pub(super) fn all_from(&self, from: impl IntoIterator<Item = &'g str>) -> HashSet<&'g str> {
        let mut met = HashSet::new();
        let mut open: Vec<&str> = from.into_iter().collect();
        while let Some(node) = open.pop() {
            if met.insert(node) {
                open.extend(self.after(node));
                open.extend(self.graph.fork_at(node).map(|fork| fork.join.as_str()));
            }
        }
        met
    }
}

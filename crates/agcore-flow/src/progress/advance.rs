//! The transitions of a run: a node finishes, a node waits, a person answers.

use std::collections::HashMap;

use serde_json::Value;

use super::{Branch, Held, Place, Progress, Work};
use crate::{
    error::{FlowError, FlowErrorKind},
    fork::{BranchEnd, Joined, Merge},
    graph::Graph,
    interrupt::Interrupt,
    record::Record,
    step::END,
};

/// The functions of the joins, by the names of the joins.
pub(crate) type Merges<S> = HashMap<String, Merge<S>>;

impl<S: Clone> Progress<S> {
    /// A node has finished: routes its branch by the record.
    pub(crate) fn finish(
        &mut self,
        graph: &Graph,
        merges: &Merges<S>,
        state: S,
        record: Record,
    ) -> Result<(), FlowError> {
        self.records = record.id;
        let id = record.branch.clone();
        let next = record.next.clone();
        let fork = graph.fork_at(&record.node);
        let branch = self.branch(&id)?;
        branch.state = Held::Here(state);
        branch.work = Work::default();
        branch.last = Some(record);
        let Some(fork) = fork else {
            return self.enter(graph, merges, &id, next.first().map_or(END, String::as_str));
        };
        let state = branch.state.get()?.clone();
        let children: Vec<String> = next.iter().map(|node| format!("{id}.{node}")).collect();
        branch.place = Place::Forked {
            join: fork.join.clone(),
            branches: children.clone(),
        };
        for child in &children {
            self.branches.insert(child.clone(), Branch::new(state.clone(), "", 0));
        }
        for (child, node) in children.iter().zip(&next) {
            self.enter(graph, merges, child, node)?;
        }
        Ok(())
    }

    /// A node waits for answers.
    pub(crate) fn wait(&mut self, id: &str, interrupts: Vec<Interrupt>) -> Result<(), FlowError> {
        let branch = self.branch(id)?;
        if let Place::Node { node, visit } = &branch.place {
            branch.place = Place::Waiting {
                node: node.clone(),
                visit: *visit,
                interrupts,
            };
        }
        Ok(())
    }

    /// People answer. The nodes that asked run again, with the answers. Nothing changes if one of them fits no question.
    pub(crate) fn answer(&mut self, answers: Vec<(String, Value)>) -> Result<(), FlowError> {
        let open = self.interrupts();
        let mut found = Vec::new();
        for (id, answer) in answers {
            let Some(asked) = open.iter().find(|asked| asked.id == id) else {
                let open: Vec<&str> = open.iter().map(|open| open.id.as_str()).collect();
                return Err(FlowError::invalid_input(format!(
                    "the run has no open question {id:?}; the open ones are {open:?}"
                )));
            };
            found.push((asked, answer));
        }
        for (asked, answer) in found {
            let branch = self.branch(&asked.branch)?;
            branch.work.answers.insert(asked.key.clone(), answer);
            if let Place::Waiting { node, visit, .. } = &branch.place {
                branch.place = Place::Node {
                    node: node.clone(),
                    visit: *visit,
                };
            }
        }
        Ok(())
    }

    pub(crate) fn branch(&mut self, id: &str) -> Result<&mut Branch<S>, FlowError> {
        let missing = || FlowError::corrupt(format!("the run has no branch {id:?}"));
        self.branches.get_mut(id).ok_or_else(missing)
    }

    fn enter(&mut self, graph: &Graph, merges: &Merges<S>, id: &str, node: &str) -> Result<(), FlowError> {
        let mut node = node;
        // Each exit leads on at most once: the nodes are finite.
        for _ in 0..=graph.nodes.len() {
            if node == END {
                self.branch(id)?.place = Place::Ended;
                return Ok(());
            }
            if let Some(parent) = self.parent_at(id, node) {
                self.branch(id)?.place = Place::Arrived;
                return self.join(graph, merges, &parent);
            }
            let visits = self.visits.entry(node.to_owned()).or_default();
            match graph.limits.get(node).filter(|limit| *visits >= limit.visits) {
                None => {
                    *visits += 1;
                    let (node, visit) = (node.to_owned(), *visits);
                    self.branch(id)?.place = Place::Node { node, visit };
                    return Ok(());
                }
                Some(limit) => match &limit.exit {
                    Some(exit) => node = exit,
                    None => return Err(limit_reached(node, limit.visits)),
                },
            }
        }
        Err(limit_reached(node, self.visits.get(node).copied().unwrap_or_default()))
    }

    /// Returns the branch that waits at `join` for the branch `id`.
    fn parent_at(&self, id: &str, join: &str) -> Option<String> {
        let waits = |branch: &Branch<S>| match &branch.place {
            Place::Forked { join: own, branches } => own == join && branches.iter().any(|child| child == id),
            _ => false,
        };
        let parent = self.branches.iter().find(|(_, branch)| waits(branch));
        parent.map(|(parent, _)| parent.clone())
    }

    /// Continues behind a join if all branches have arrived.
    fn join(&mut self, graph: &Graph, merges: &Merges<S>, parent: &str) -> Result<(), FlowError> {
        let waiting = self.branch(parent)?;
        let Place::Forked { join, branches } = waiting.place.clone() else {
            return Ok(());
        };
        let base = waiting.state.get()?.clone();
        let has_arrived = |id: &String| self.branches.get(id).is_some_and(|child| child.place == Place::Arrived);
        if !branches.iter().all(has_arrived) {
            return Ok(());
        }
        let mut ends = Vec::with_capacity(branches.len());
        for id in &branches {
            let start = id.strip_prefix(parent).and_then(|id| id.strip_prefix('.'));
            if let (Some(start), Some(child)) = (start, self.branches.get(id)) {
                ends.push(BranchEnd::new(start, child.state.get()?.clone(), child.last.clone()));
            }
        }
        let joined = Joined::new(base, ends);
        let merge = merges
            .get(&join)
            .ok_or_else(|| FlowError::corrupt(format!("the fork has no join `{join}`")))?;
        let state = merge(joined).map_err(|error| error.into_flow_error(&join, 1))?;
        let last = branches.iter().filter_map(|id| self.branches.remove(id)?.last);
        let last = last.max_by_key(|record| record.id);
        let waiting = self.branch(parent)?;
        waiting.state = Held::Here(state);
        waiting.last = last;
        // The join itself is entered as any other node; it is not the join of a fork around this one.
        waiting.place = Place::Arrived;
        self.enter(graph, merges, parent, &join)
    }
}

#[cold]
fn limit_reached(node: &str, visits: u32) -> FlowError {
    let message = format!(
        "the node `{node}` was visited {visits} times, which is its limit; raise the limit, or give it an exit"
    );
    FlowError::new(FlowErrorKind::LimitReached, message).at_node(node)
}

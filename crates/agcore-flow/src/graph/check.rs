//! Checks a graph and reports everything that is wrong.

use std::collections::{HashMap, HashSet};

use super::{ForkEdges, Graph, reach::Steps};
use crate::{error::FlowProblem, step::END};

/// The longest name of a node or a flow, in bytes.
const MAX_NAME: usize = 128;

impl Graph {
    /// Returns everything that is wrong with the graph; nothing if it can run.
    pub fn problems(&self) -> Vec<FlowProblem> {
        let mut problems = Vec::new();
        names(self, &mut problems);
        references(self, &mut problems);
        forks(self, &mut problems);
        edges(self, &mut problems);
        // What can be reached is unknown while names are wrong.
        if problems.is_empty() {
            let steps = Steps::of(self);
            reachable(self, &steps, &mut problems);
            joins(self, &steps, &mut problems);
            loops(self, &steps, &mut problems);
        }
        problems
    }
}

fn names(graph: &Graph, problems: &mut Vec<FlowProblem>) {
    let mut seen = HashSet::new();
    for name in &graph.nodes {
        if !seen.insert(name) {
            problems.push(FlowProblem::DuplicateNode(name.clone()));
        }
    }
    let reserved = graph.nodes.iter().filter(|name| *name == END);
    problems.extend(reserved.map(|name| FlowProblem::InvalidName {
        name: name.clone(),
        rule: "is reserved for the end of a run; rename the node",
    }));
    for name in graph.nodes.iter().chain([&graph.name]) {
        let rule = match name.as_str() {
            "" => "is empty",
            name if name.len() > MAX_NAME => "is longer than 128 bytes",
            name if name.chars().any(char::is_control) => "contains control characters",
            _ => continue,
        };
        problems.push(FlowProblem::InvalidName {
            name: name.chars().take(MAX_NAME).collect(),
            rule,
        });
    }
    if graph.nodes.is_empty() {
        problems.push(FlowProblem::NoNodes);
    }
}

fn references(graph: &Graph, problems: &mut Vec<FlowProblem>) {
    let mut check = |place: String, name: &str, may_end: bool| {
        let is_known = graph.contains(name) || (may_end && name == END);
        if !is_known {
            let name = name.to_owned();
            problems.push(FlowProblem::UnknownNode { place, name });
        }
    };
    if !graph.nodes.is_empty() {
        check("the start".to_owned(), &graph.start, false);
    }
    for edge in &graph.edges {
        check(format!("the edge to `{}`", edge.to), &edge.from, false);
        check(format!("the edge from `{}`", edge.from), &edge.to, true);
    }
    for fork in &graph.forks {
        check("a fork".to_owned(), &fork.from, false);
        check(format!("the join of the fork at `{}`", fork.from), &fork.join, false);
        for branch in &fork.branches {
            check(format!("the fork at `{}`", fork.from), branch, false);
        }
    }
    let mut limits: Vec<_> = graph.limits.iter().collect();
    limits.sort_by_key(|(node, _)| *node);
    for (node, limit) in &limits {
        check("a limit".to_owned(), node, false);
        if let Some(exit) = &limit.exit {
            check(format!("the exit of `{node}`"), exit, true);
        }
    }
    let zero = limits.iter().filter(|(_, limit)| limit.visits == 0);
    problems.extend(zero.map(|(node, _)| FlowProblem::ZeroLimit((*node).clone())));
}

fn forks(graph: &Graph, problems: &mut Vec<FlowProblem>) {
    let (mut starts, mut joins) = (HashSet::new(), HashSet::new());
    for fork in &graph.forks {
        let different: HashSet<&String> = fork.branches.iter().collect();
        if different.len() < 2 || different.len() < fork.branches.len() {
            problems.push(FlowProblem::InvalidFork(fork.from.clone()));
        }
        if !starts.insert(&fork.from) || graph.edges_of(&fork.from).next().is_some() {
            problems.push(FlowProblem::DuplicateFork(fork.from.clone()));
        }
        if !joins.insert(&fork.join) {
            problems.push(FlowProblem::DuplicateFork(fork.join.clone()));
        }
    }
}

fn edges(graph: &Graph, problems: &mut Vec<FlowProblem>) {
    let mut seen = HashSet::new();
    for edge in &graph.edges {
        let name = edge.route.as_ref().unwrap_or(&edge.to);
        if !seen.insert((&edge.from, edge.route.is_some(), name)) {
            problems.push(FlowProblem::DuplicateEdge {
                from: edge.from.clone(),
                to: name.clone(),
            });
        }
    }
}

fn reachable(graph: &Graph, steps: &Steps<'_>, problems: &mut Vec<FlowProblem>) {
    let from_start = steps.all_from([graph.start.as_str()]);
    for node in &graph.nodes {
        if !from_start.contains(node.as_str()) {
            problems.push(FlowProblem::Unreachable(node.clone()));
        }
    }
    // Walks backwards from the end.
    let mut before: HashMap<&str, Vec<&str>> = HashMap::new();
    for node in &graph.nodes {
        for next in steps.after(node) {
            before.entry(next).or_default().push(node);
        }
    }
    let mut ending = HashSet::new();
    let mut open = vec![END];
    while let Some(node) = open.pop() {
        if ending.insert(node) {
            open.extend(before.get(node).into_iter().flatten());
        }
    }
    for node in &graph.nodes {
        if from_start.contains(node.as_str()) && !ending.contains(node.as_str()) {
            problems.push(FlowProblem::NoEnd(node.clone()));
        }
    }
}

fn joins(graph: &Graph, steps: &Steps<'_>, problems: &mut Vec<FlowProblem>) {
    let is_join = |node: &str| graph.forks.iter().any(|fork| fork.join == node);
    let top = steps.level(&graph.start, None);
    for ForkEdges { from, branches, join } in &graph.forks {
        if top.entered.contains(join.as_str()) {
            problems.push(FlowProblem::JoinWithoutFork(join.clone()));
        }
        for branch in branches {
            let walk = steps.level(branch, Some(join));
            let leaves = walk.entered.contains(END) || walk.joined.contains(join.as_str());
            let strays = walk.entered.iter().any(|node| *node != join && is_join(node));
            if leaves || strays || !walk.entered.contains(join.as_str()) {
                problems.push(FlowProblem::JoinNeverFires {
                    fork: from.clone(),
                    branch: branch.clone(),
                    join: join.clone(),
                });
            }
        }
    }
}

/// Finds loops of nodes without a limit, by a depth-first search over these nodes.
fn loops(graph: &Graph, steps: &Steps<'_>, problems: &mut Vec<FlowProblem>) {
    let is_free = |node: &str| graph.contains(node) && !graph.limits.contains_key(node);
    let mut done: HashSet<&str> = HashSet::new();
    for start in graph.nodes.iter().filter(|node| is_free(node)) {
        // The path from the start, each node with the number of its edges that were followed.
        let mut path: Vec<(&str, usize)> = Vec::new();
        if !done.contains(start.as_str()) {
            path.push((start, 0));
        }
        while let Some((node, followed)) = path.last_mut() {
            let node = *node;
            let next = steps.after(node).get(*followed).copied();
            *followed += 1;
            let Some(next) = next else {
                done.insert(node);
                path.pop();
                continue;
            };
            if let Some(at) = path.iter().position(|(name, _)| *name == next) {
                let nodes = path[at..].iter().map(|(name, _)| (*name).to_owned());
                problems.push(FlowProblem::LoopWithoutLimit(nodes.collect()));
            } else if is_free(next) && !done.contains(next) {
                path.push((next, 0));
            }
        }
    }
}

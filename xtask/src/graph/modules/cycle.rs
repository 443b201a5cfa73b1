//! Finding cycles among the references of one level.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use crate::graph::modules::level::{Level, Site};

/// A path from a module back to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cycle {
    pub(super) edges: Vec<Edge>,
}

/// One reference on the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) site: Site,
}

/// Returns a shortest cycle for each module that is in one; no module is the start of two cycles.
pub(super) fn find(level: &Level) -> Vec<Cycle> {
    let mut covered = BTreeSet::new();
    let mut cycles = Vec::new();
    for start in level.keys() {
        if covered.contains(start) {
            continue;
        }
        if let Some(cycle) = shortest(level, start) {
            covered.extend(cycle.edges.iter().map(|edge| edge.from.clone()));
            cycles.push(cycle);
        }
    }
    cycles
}

/// Searches breadth-first from `start` for a path that returns to it.
fn shortest(level: &Level, start: &str) -> Option<Cycle> {
    let mut predecessors: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for next in level.get(node).into_iter().flatten().map(|(next, _)| next.as_str()) {
            if next == start {
                return Some(trace_back(level, start, node, &predecessors));
            }
            if !predecessors.contains_key(next) {
                predecessors.insert(next, node);
                queue.push_back(next);
            }
        }
    }
    None
}

fn trace_back(level: &Level, start: &str, last: &str, predecessors: &BTreeMap<&str, &str>) -> Cycle {
    let mut nodes = vec![start, last];
    while let Some(previous) = nodes
        .last()
        .filter(|node| **node != start)
        .and_then(|node| predecessors.get(node))
    {
        nodes.push(previous);
    }
    // A level has no edge from a node to itself, so the path has at least two edges.
    nodes.reverse();
    let edges = nodes.windows(2).filter_map(|pair| {
        let site = level.get(pair[0])?.get(pair[1])?;
        Some(Edge {
            from: pair[0].to_owned(),
            to: pair[1].to_owned(),
            site: site.clone(),
        })
    });
    Cycle { edges: edges.collect() }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for edge in &self.edges {
            write!(f, "{} -> ", edge.from)?;
        }
        self.edges.first().map_or(Ok(()), |edge| f.write_str(&edge.from))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::graph::modules::level;
    use crate::source::module_tree::ModuleTree;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let text = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let tree = ModuleTree::read(Path::new("lib.rs"), &text).unwrap();
        let cycles: Vec<_> = level::all(&tree).iter().flat_map(find).collect();
        let shown: Vec<_> = cycles.iter().map(Cycle::to_string).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn references_in_one_direction_form_no_cycle() {
        check(
            &[
                ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
                ("a.rs", "pub struct A;"),
                ("b.rs", "use crate::A; pub struct B(A);"),
            ],
            &[],
        );
    }

    #[test]
    fn finds_two_siblings_that_use_each_other() {
        check(
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", "use crate::b::B; pub struct A(B);"),
                ("b.rs", "pub struct B; fn f() -> crate::a::A { todo() }"),
            ],
            &["crate::a -> crate::b -> crate::a"],
        );
    }

    #[test]
    fn finds_a_cycle_through_a_re_export() {
        check(
            &[
                ("lib.rs", "mod a; mod b; mod c; pub use c::C;"),
                ("a.rs", "use super::b::B; pub struct A;"),
                ("b.rs", "pub struct B(crate::C);"),
                ("c.rs", "pub struct C(super::a::A);"),
            ],
            &["crate::a -> crate::b -> crate::c -> crate::a"],
        );
    }

    #[test]
    fn finds_a_cycle_between_nested_siblings() {
        check(
            &[
                ("lib.rs", "mod wire;"),
                ("wire.rs", "mod encode; mod decode;"),
                ("wire/encode.rs", "pub fn f() { super::decode::g() }"),
                ("wire/decode.rs", "use crate::wire::encode; pub fn g() { encode::f() }"),
            ],
            &["crate::wire::decode -> crate::wire::encode -> crate::wire::decode"],
        );
    }

    #[test]
    fn finds_a_child_that_uses_an_item_built_from_it() {
        check(
            &[
                ("lib.rs", "mod tool;"),
                ("tool.rs", "mod kind; pub struct Tool(kind::Kind);"),
                ("tool/kind.rs", "pub enum Kind { Boxed(Box<super::Tool>) }"),
            ],
            &["crate::tool -> crate::tool::kind -> crate::tool"],
        );
    }

    #[test]
    fn accepts_a_child_that_uses_a_parent_that_only_re_exports_it() {
        check(
            &[
                ("lib.rs", "mod tool;"),
                ("tool.rs", "mod kind; pub use kind::Kind; pub struct Tool;"),
                ("tool/kind.rs", "pub enum Kind { Plain(super::Tool) }"),
            ],
            &[],
        );
    }
}

//! Finding circles among the uses of one level.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use crate::graph::modules::level::Level;
use crate::graph::modules::scope::Site;

/// A way from a module back to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Circle {
    pub(super) hops: Vec<Hop>,
}

/// One use on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) site: Site,
}

/// A shortest circle for each module that is in one, every module told once.
pub(super) fn find(level: &Level) -> Vec<Circle> {
    let mut told = BTreeSet::new();
    let mut circles = Vec::new();
    for start in level.keys() {
        if told.contains(start) {
            continue;
        }
        if let Some(circle) = shortest(level, start) {
            told.extend(circle.hops.iter().map(|hop| hop.from.clone()));
            circles.push(circle);
        }
    }
    circles
}

fn shortest(level: &Level, start: &str) -> Option<Circle> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(node) = waiting.pop_front() {
        for next in level.get(node).into_iter().flatten().map(|(next, _)| next.as_str()) {
            if next == start {
                return Some(way_back(level, start, node, &came_from));
            }
            if !came_from.contains_key(next) {
                came_from.insert(next, node);
                waiting.push_back(next);
            }
        }
    }
    None
}

fn way_back(level: &Level, start: &str, last: &str, came_from: &BTreeMap<&str, &str>) -> Circle {
    let mut nodes = vec![start, last];
    while let Some(previous) = nodes
        .last()
        .filter(|node| **node != start)
        .and_then(|node| came_from.get(node))
    {
        nodes.push(previous);
    }
    // A module that uses itself is no node of a level, so the last hop is there.
    nodes.reverse();
    let hops = nodes.windows(2).filter_map(|pair| {
        let site = level.get(pair[0])?.get(pair[1])?;
        Some(Hop {
            from: pair[0].to_owned(),
            to: pair[1].to_owned(),
            site: site.clone(),
        })
    });
    Circle { hops: hops.collect() }
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for hop in &self.hops {
            write!(f, "{} -> ", hop.from)?;
        }
        self.hops.first().map_or(Ok(()), |hop| f.write_str(&hop.from))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::graph::modules::{level, read};

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let text = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let tree = read::crate_modules(Path::new("lib.rs"), &text).unwrap();
        let circles: Vec<_> = level::all(&tree).iter().flat_map(find).collect();
        let shown: Vec<_> = circles.iter().map(Circle::to_string).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn one_way_uses_are_no_circle() {
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
    fn two_siblings_that_use_each_other_are_one() {
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
    fn a_circle_through_a_re_export_is_seen() {
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
    fn nested_siblings_are_compared_too() {
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
    fn a_child_must_not_use_what_its_parent_makes_of_it() {
        check(
            &[
                ("lib.rs", "mod tool;"),
                ("tool.rs", "mod kind; pub struct Tool(kind::Kind);"),
                ("tool/kind.rs", "pub enum Kind { Of(Box<super::Tool>) }"),
            ],
            &["crate::tool -> crate::tool::kind -> crate::tool"],
        );
    }

    #[test]
    fn a_child_may_use_its_parent_when_that_only_re_exports_it() {
        check(
            &[
                ("lib.rs", "mod tool;"),
                ("tool.rs", "mod kind; pub use kind::Kind; pub struct Tool;"),
                ("tool/kind.rs", "pub enum Kind { Of(super::Tool) }"),
            ],
            &[],
        );
    }
}

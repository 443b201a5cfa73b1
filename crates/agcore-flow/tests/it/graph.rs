//! Problems that are found when a flow is built.

use agcore_flow::FlowProblem::{self, *};
use agcore_flow::{END, FlowBuilder, FlowErrorKind, Fork, Limit};

use crate::support::{Path, clock, note};

fn builder(nodes: &[&str], edges: &[(&str, &str)]) -> FlowBuilder<Path> {
    let mut flow = FlowBuilder::new("f", clock());
    for node in nodes {
        flow = flow.with_node(*node, note);
    }
    for (from, to) in edges {
        flow = flow.with_edge(*from, *to);
    }
    flow
}

fn fork(from: &str, branches: &[&str], join: &str) -> Fork<Path> {
    Fork::new(from, branches.iter().copied(), join, |joined| Ok(joined.base))
}

#[track_caller]
fn check(flow: FlowBuilder<Path>, expected: &[FlowProblem]) {
    match flow.build() {
        Ok(_) => assert!(expected.is_empty(), "{expected:?} was not found"),
        Err(error) => {
            assert_eq!(error.kind(), FlowErrorKind::InvalidGraph);
            assert_eq!(error.problems(), expected);
        }
    }
}

fn s(text: &str) -> String {
    text.to_owned()
}

fn unknown(place: &str, name: &str) -> FlowProblem {
    UnknownNode {
        place: s(place),
        name: s(name),
    }
}

#[test]
fn names_and_references() {
    check(builder(&[], &[]), &[NoNodes]);
    let flow = builder(&["a", "a", END], &[("a", "x"), ("y", "a"), ("a", "x")])
        .with_start("z")
        .with_limit("w", Limit::new(0).with_exit("v"))
        .with_options("u", agcore_flow::NodeOptions::new());
    check(
        flow,
        &[
            DuplicateNode(s("a")),
            InvalidName {
                name: s("end"),
                rule: "is reserved for the end of a run; rename the node",
            },
            unknown("the start", "z"),
            unknown("the edge from `a`", "x"),
            unknown("the edge to `a`", "y"),
            unknown("the edge from `a`", "x"),
            unknown("a limit", "w"),
            unknown("the exit of `w`", "v"),
            ZeroLimit(s("w")),
            DuplicateEdge {
                from: s("a"),
                to: s("x"),
            },
            unknown("the options of a node", "u"),
        ],
    );
    let name = |name: &str, rule| InvalidName { name: s(name), rule };
    check(
        builder(&[""], &[("", END)]),
        &[name("", "is empty"), unknown("the start", "")][..1],
    );
    check(
        builder(&["a\nb"], &[("a\nb", END)]),
        &[name("a\nb", "contains control characters")],
    );
}

#[test]
fn ends() {
    check(builder(&["a", "b"], &[("a", END)]), &[Unreachable(s("b"))]);
    check(
        builder(&["a", "b"], &[("a", "b"), ("b", "a")]).with_limit("a", 3),
        &[NoEnd(s("a")), NoEnd(s("b"))],
    );
    check(builder(&["a"], &[]), &[NoEnd(s("a"))]);
    // The exit of a limit is a way out.
    let flow = builder(&["a", "b"], &[("a", "b"), ("b", "a")]);
    check(flow.with_limit("a", Limit::new(3).with_exit(END)), &[]);
}

#[test]
fn loops() {
    let edges = &[("a", "b"), ("b", "c"), ("c", "b"), ("c", END)];
    check(
        builder(&["a", "b", "c"], edges),
        &[LoopWithoutLimit(vec![s("b"), s("c")])],
    );
    check(builder(&["a", "b", "c"], edges).with_limit("c", 2), &[]);
    check(
        builder(&["a"], &[("a", "a"), ("a", END)]),
        &[LoopWithoutLimit(vec![s("a")])],
    );
    // The exit leads back to where the run came from: a loop around the limit.
    let flow = builder(&["a", "b"], &[("a", "b"), ("b", "a"), ("b", END)]);
    check(
        flow.with_limit("b", Limit::new(2).with_exit("a")),
        &[LoopWithoutLimit(vec![s("a")])],
    );
    // A diamond is not a loop.
    let edges = &[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", END)];
    check(builder(&["a", "b", "c", "d"], edges), &[]);
}

#[test]
fn forks() {
    let nodes = &["s", "a", "b", "j"];
    let edges = &[("a", "j"), ("b", "j"), ("j", END)];
    check(builder(nodes, edges).with_fork(fork("s", &["a", "b"], "j")), &[]);
    check(
        builder(nodes, edges).with_fork(fork("s", &["a", "a"], "j")),
        &[InvalidFork(s("s"))],
    );
    check(
        builder(nodes, &[("a", "j"), ("b", "j"), ("j", END), ("s", "a")]).with_fork(fork("s", &["a", "b"], "j")),
        &[DuplicateFork(s("s"))],
    );
    check(
        builder(nodes, edges).with_fork(fork("s", &["a", "x"], "y")),
        &[
            unknown("the join of the fork at `s`", "y"),
            unknown("the fork at `s`", "x"),
        ],
    );
}

#[test]
fn joins_that_never_fire() {
    let never = |branch: &str| JoinNeverFires {
        fork: s("s"),
        branch: s(branch),
        join: s("j"),
    };
    let nodes = &["s", "a", "b", "j"];
    let with = |edges: &[(&str, &str)]| builder(nodes, edges).with_fork(fork("s", &["a", "b"], "j"));
    // A branch that can end.
    check(with(&[("a", "j"), ("a", END), ("b", "j"), ("j", END)]), &[never("a")]);
    // A branch that never arrives.
    check(with(&[("a", END), ("b", "j"), ("j", END)]), &[never("a")]);
    // The exit of a limit leaves the branch.
    let flow = with(&[("a", "j"), ("b", "j"), ("j", END)]).with_limit("b", Limit::new(1).with_exit(END));
    check(flow, &[]);
    let flow = builder(
        &["s", "a", "b", "c", "j"],
        &[("a", "j"), ("b", "c"), ("c", "j"), ("j", END)],
    )
    .with_fork(fork("s", &["a", "b"], "j"))
    .with_limit("c", Limit::new(1).with_exit(END));
    check(flow, &[never("b")]);
    // The join is reached from outside.
    let flow = builder(
        &["x", "s", "a", "b", "j"],
        &[("x", "s"), ("x", "j"), ("a", "j"), ("b", "j"), ("j", END)],
    )
    .with_fork(fork("s", &["a", "b"], "j"));
    check(flow, &[JoinWithoutFork(s("j"))]);
}

#[test]
fn forks_inside_forks() {
    let nodes = &["s", "a", "b", "c", "d", "i", "j"];
    let inner = |edges: &[(&str, &str)]| {
        builder(nodes, edges)
            .with_fork(fork("s", &["a", "b"], "j"))
            .with_fork(fork("a", &["c", "d"], "i"))
    };
    check(
        inner(&[("b", "j"), ("c", "i"), ("d", "i"), ("i", "j"), ("j", END)]),
        &[],
    );
    // The inner branch skips its own join.
    check(
        inner(&[("b", "j"), ("c", "i"), ("d", "j"), ("i", "j"), ("j", END)]),
        &[JoinNeverFires {
            fork: s("a"),
            branch: s("d"),
            join: s("i"),
        }],
    );
}

#[test]
fn messages_say_what_to_do() {
    let error = builder(&["a", "b"], &[("a", "b"), ("b", "a")]).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the flow `f` cannot be built: a run that reaches `a` can never end; add an edge to `end`; a run that reaches \
         `b` can never end; add an edge to `end`; the loop `a` → `b` → `a` has no limit; limit the visits of one of its \
         nodes"
    );
}

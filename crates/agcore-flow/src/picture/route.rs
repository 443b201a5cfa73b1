//! [`route`]: the ways of edges, around the boxes of nodes.

use std::fmt::Write;

use super::layout::{Box, Layout, WIDTH};

/// The path of an edge, and the place of its label.
pub(super) type Route = (String, usize, usize);

/// The distance of lines from the boxes that they pass: a half of the gap between layers at most.
const LANE: usize = 25;

/// The radius of corners.
const CORNER: usize = 10;

/// Returns the way of an edge from one box to another.
pub(super) fn route(from: Box, to: Box, layout: &Layout) -> Route {
    if from.layer < to.layer {
        return match obstacle(from, to, layout) {
            None => down(from, to),
            Some(left) => {
                let out = left.min(from.x).min(to.x).saturating_sub(30);
                match is_blocked(from, out, layout) || is_blocked(to, out, layout) {
                    true => lanes(from, to, layout),
                    false => around(from, to, out),
                }
            }
        };
    }
    // Both curves to a higher layer begin and end on the right.
    let right = layout
        .boxes
        .iter()
        .map(|other| other.x + WIDTH)
        .max()
        .unwrap_or_default();
    match is_blocked(from, right, layout) || is_blocked(to, right, layout) {
        true => lanes(from, to, layout),
        false => back(from, to, layout),
    }
}

/// Returns a curve to a lower layer, and the place of its label.
fn down(from: Box, to: Box) -> Route {
    let (x1, y1) = (from.x + WIDTH / 2, from.y + from.height);
    let (x2, y2) = (to.x + WIDTH / 2, to.y);
    let middle = usize::midpoint(y1, y2);
    let path = format!("M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}");
    // Nearer to the target, where the edges of one node have parted.
    (path, (x1 + 2 * x2) / 3, (y1 + 2 * y2) / 3)
}

/// Returns the left edge of the boxes that a curve to a lower layer would cross; `None` if it crosses none.
fn obstacle(from: Box, to: Box, layout: &Layout) -> Option<usize> {
    let (low, high) = (from.x.min(to.x), from.x.max(to.x) + WIDTH);
    let between = layout
        .boxes
        .iter()
        .filter(|other| from.layer < other.layer && other.layer < to.layer);
    let crossed = between.filter(|other| other.x < high && low < other.x + WIDTH);
    crossed.map(|other| other.x).min()
}

/// Returns a curve to a lower layer, around the left side of the boxes in between, and the place of its label.
fn around(from: Box, to: Box, out: usize) -> Route {
    let (x1, y1) = (from.x, from.y + from.height / 2);
    let (x2, y2) = (to.x, to.y + to.height / 2);
    let middle = usize::midpoint(y1, y2);
    let path = format!("M{x1} {y1}Q{out} {y1} {out} {middle}Q{out} {y2} {x2} {y2}");
    (path, out, middle)
}

/// Returns whether a node of the same layer is between a box and `out`.
fn is_blocked(one: Box, out: usize, layout: &Layout) -> bool {
    let (low, high) = (one.x.min(out), (one.x + WIDTH).max(out));
    let mut others = layout
        .boxes
        .iter()
        .filter(|other| other.layer == one.layer && **other != one);
    others.any(|other| other.x < high && low < other.x + WIDTH)
}

/// Returns a line that leaves a box below its layer, passes all layers in between outside of their boxes, and comes from above. It
/// crosses no box, wherever they are.
fn lanes(from: Box, to: Box, layout: &Layout) -> Route {
    let bottoms = layout.boxes.iter().filter(|other| other.layer == from.layer);
    let below = bottoms.map(|other| other.y + other.height).max().unwrap_or_default() + LANE;
    let above = to.y.saturating_sub(LANE);
    // A line to a higher layer passes the layers of both boxes as well.
    let passed = |other: &&Box| match from.layer < to.layer {
        true => from.layer < other.layer && other.layer < to.layer,
        false => (to.layer..=from.layer).contains(&other.layer),
    };
    let lefts = layout.boxes.iter().filter(passed).map(|other| other.x);
    let left = lefts.min().unwrap_or(from.x).saturating_sub(LANE);
    let rights = layout.boxes.iter().filter(passed).map(|other| other.x + WIDTH);
    let right = rights.max().unwrap_or(from.x + WIDTH) + LANE;
    let (x1, x2) = (from.x + WIDTH / 2, to.x + WIDTH / 2);
    let way = |x: usize| x.abs_diff(x1) + x.abs_diff(x2);
    let out = if way(left) < way(right) { left } else { right };
    let points = [
        (x1, from.y + from.height),
        (x1, below),
        (out, below),
        (out, above),
        (x2, above),
        (x2, to.y),
    ];
    (rounded(&points), out, usize::midpoint(below, above))
}

/// Returns a line through points with round corners.
fn rounded(points: &[(usize, usize)]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let (before, after) = (
            index.checked_sub(1).and_then(|index| points.get(index)),
            points.get(index + 1),
        );
        // Writing to a string cannot fail.
        let _ = match (before, after) {
            (None, _) => write!(path, "M{x} {y}"),
            (_, None) => write!(path, "L{x} {y}"),
            (Some(before), Some(after)) => {
                let (x1, y1) = (toward(*x, before.0), toward(*y, before.1));
                let (x2, y2) = (toward(*x, after.0), toward(*y, after.1));
                write!(path, "L{x1} {y1}Q{x} {y} {x2} {y2}")
            }
        };
    }
    path
}

/// Moves a coordinate toward another one, by half of the distance at most.
fn toward(from: usize, to: usize) -> usize {
    let step = (from.abs_diff(to) / 2).min(CORNER);
    if to < from { from - step } else { from + step }
}

/// Returns a curve to the same or a higher layer, around the right side of all nodes in between, and the place of its label.
fn back(from: Box, to: Box, layout: &Layout) -> Route {
    let (x1, y1) = (from.x + WIDTH, from.y + from.height / 2);
    let (x2, y2) = (to.x + WIDTH, to.y + to.height / 2 + 6);
    // Curves over more layers are farther out, so that they do not cover each other.
    let farther = 14 * from.layer.saturating_sub(to.layer + 1).min(3);
    let between = layout
        .boxes
        .iter()
        .filter(|other| (to.layer..=from.layer).contains(&other.layer));
    let out = between.map(|other| other.x + WIDTH).max().unwrap_or(x1) + 30 + farther;
    let middle = usize::midpoint(y1, y2);
    let path = format!("M{x1} {y1}Q{out} {y1} {out} {middle}Q{out} {y2} {x2} {y2}");
    (path, out, middle)
}

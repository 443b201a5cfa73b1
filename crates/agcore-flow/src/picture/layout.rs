//! [`Layout`]: places of nodes in layers.

use super::drawing::Drawing;

pub(super) const WIDTH: usize = 170;
pub(super) const LINE: usize = 17;
const GAP_X: usize = 50;
const GAP_Y: usize = 60;
/// The space beside the boxes, in which the labels of edges fit.
const MARGIN_X: usize = 110;
const MARGIN_Y: usize = 50;

/// The number of passes that order the nodes of each layer.
const PASSES: usize = 4;

/// The places of the nodes of a picture, in pixels.
pub(super) struct Layout {
    pub(super) boxes: Vec<Box>,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// The rectangle of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Box {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) height: usize,
    pub(super) layer: usize,
}

impl Layout {
    /// Puts each node one layer below the last of those before it, edges that lead back excepted, and orders the layers so that
    /// few edges cross.
    pub(super) fn of(drawing: &Drawing) -> Self {
        let layers = layers(drawing);
        let ordered = ordered(drawing, &layers);
        let columns = ordered.iter().map(Vec::len).max().unwrap_or(1);
        let width = 2 * MARGIN_X + columns * (WIDTH + GAP_X);
        let mut boxes = vec![Box::default(); drawing.nodes.len()];
        let mut y = MARGIN_Y;
        for (layer, nodes) in ordered.iter().enumerate() {
            let height = |node: &usize| LINE * drawing.nodes[*node].lines().count() + LINE;
            let tallest = nodes.iter().map(height).max().unwrap_or_default();
            let taken = nodes.len() * (WIDTH + GAP_X) - GAP_X;
            let left = (width - taken) / 2;
            for (column, node) in nodes.iter().enumerate() {
                let x = left + column * (WIDTH + GAP_X);
                let height = height(node);
                boxes[*node] = Box { x, y, height, layer };
            }
            y += tallest + GAP_Y;
        }
        Self {
            boxes,
            width,
            height: y - GAP_Y + MARGIN_Y,
        }
    }
}

/// Returns the layer of each node: the longest path from the start, without the edges that close a loop.
fn layers(drawing: &Drawing) -> Vec<usize> {
    let forward = forward_edges(drawing);
    let mut layers = vec![0; drawing.nodes.len()];
    // Without loops, this settles after at most as many rounds as there are nodes.
    for _ in 0..drawing.nodes.len() {
        let mut has_changed = false;
        for (from, to) in &forward {
            if layers[*to] <= layers[*from] {
                layers[*to] = layers[*from] + 1;
                has_changed = true;
            }
        }
        if !has_changed {
            break;
        }
    }
    // The end is at the bottom.
    let bottom = layers.iter().copied().max().unwrap_or_default();
    if let Some(end) = layers.last_mut() {
        *end = bottom;
    }
    layers
}

/// Returns the edges without those that lead back, by a depth-first search from the start.
fn forward_edges(drawing: &Drawing) -> Vec<(usize, usize)> {
    let count = drawing.nodes.len();
    let mut next = vec![Vec::new(); count];
    for edge in &drawing.edges {
        next[edge.from].push(edge.to);
    }
    let (mut is_open, mut is_done) = (vec![false; count], vec![false; count]);
    let mut forward = Vec::new();
    let mut path = vec![(0, 0)];
    is_open[0] = true;
    while let Some((node, followed)) = path.last_mut() {
        let node = *node;
        let Some(to) = next[node].get(*followed).copied() else {
            is_open[node] = false;
            is_done[node] = true;
            path.pop();
            continue;
        };
        *followed += 1;
        if is_open[to] {
            continue;
        }
        forward.push((node, to));
        if !is_done[to] {
            is_open[to] = true;
            path.push((to, 0));
        }
    }
    forward
}

/// Orders each layer by the mean place of the neighbors in the layers above and below, in turns.
fn ordered(drawing: &Drawing, layers: &[usize]) -> Vec<Vec<usize>> {
    let bottom = layers.iter().copied().max().unwrap_or_default();
    let mut ordered = vec![Vec::new(); bottom + 1];
    for (node, layer) in layers.iter().enumerate() {
        ordered[*layer].push(node);
    }
    ordered.retain(|nodes| !nodes.is_empty());
    let mut places = vec![0.0; layers.len()];
    for pass in 0..PASSES {
        for nodes in &mut ordered {
            let mean = |node: &usize| {
                let above = drawing
                    .edges
                    .iter()
                    .filter(|edge| edge.to == *node)
                    .map(|edge| edge.from);
                let below = drawing
                    .edges
                    .iter()
                    .filter(|edge| edge.from == *node)
                    .map(|edge| edge.to);
                let near: Vec<usize> = if pass % 2 == 0 {
                    above.collect()
                } else {
                    below.collect()
                };
                let sum: f64 = near.iter().map(|other| places[*other]).sum();
                sum / f64::from(u32::try_from(near.len().max(1)).unwrap_or(u32::MAX))
            };
            let means: Vec<(f64, usize)> = nodes.iter().map(|node| (mean(node), *node)).collect();
            let mut sorted = means;
            sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
            *nodes = sorted.into_iter().map(|(_, node)| node).collect();
            for (place, node) in nodes.iter().enumerate() {
                // Places are centered, so that layers of different widths compare.
                let place = f64::from(u32::try_from(2 * place).unwrap_or(u32::MAX));
                places[*node] = place - f64::from(u32::try_from(nodes.len()).unwrap_or(u32::MAX));
            }
        }
    }
    ordered
}

//! Prints pictures as SVG.

use std::fmt::Write;

use super::{
    drawing::{Drawing, DrawnEdge, DrawnNode, Shape},
    layout::{Box, LINE, Layout, WIDTH},
    route::route,
};

/// The longest line of a label, in characters.
const MAX_CHARS: usize = 22;

const TAKEN: &str = "#2a7a2a";

/// Prints a picture.
pub(super) fn print(drawing: &Drawing) -> String {
    let layout = Layout::of(drawing);
    let Layout { width, height, .. } = layout;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" \
         markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for edge in &drawing.edges {
        print_edge(&mut svg, edge, &layout);
    }
    for (node, place) in drawing.nodes.iter().zip(&layout.boxes) {
        print_node(&mut svg, node, *place);
    }
    svg.push_str("</svg>\n");
    svg
}

fn print_node(svg: &mut String, node: &DrawnNode, place: Box) {
    let Box { x, y, height, .. } = place;
    let radius = match node.shape {
        Shape::Terminal => height / 2,
        Shape::Plain => 4,
        Shape::Fork | Shape::Join => 0,
    };
    let (fill, stroke) = if node.is_visited {
        ("#d8f0d8", TAKEN)
    } else {
        ("#f4f4f8", "#555555")
    };
    let dash = match node.shape {
        Shape::Fork | Shape::Join => " stroke-width=\"3\"",
        Shape::Terminal | Shape::Plain => "",
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{height}\" rx=\"{radius}\" fill=\"{fill}\" \
         stroke=\"{stroke}\"{dash}/>"
    );
    for (line, text) in node.lines().enumerate() {
        let (x, y) = (x + WIDTH / 2, y + LINE / 2 + 13 + line * LINE);
        let color = if line == 0 { "black" } else { "#666666" };
        let text = escape(&shortened(text));
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" fill=\"{color}\">{text}</text>"
        );
    }
}

fn print_edge(svg: &mut String, edge: &DrawnEdge, layout: &Layout) {
    let (from, to) = (layout.boxes[edge.from], layout.boxes[edge.to]);
    let (path, label_x, label_y) = route(from, to, layout);
    let (stroke, thickness) = if edge.is_taken { (TAKEN, 3) } else { ("#777777", 1) };
    let dash = if edge.is_exit { " stroke-dasharray=\"5 4\"" } else { "" };
    let _ = writeln!(
        svg,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{thickness}\"{dash} \
         marker-end=\"url(#arrow)\"/>"
    );
    if let Some(label) = &edge.label {
        let label = escape(&shortened(label));
        let _ = writeln!(
            svg,
            "<text x=\"{label_x}\" y=\"{label_y}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#333333\" stroke=\"white\" \
             stroke-width=\"4\" paint-order=\"stroke\">{label}</text>"
        );
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(MAX_CHARS - 1).collect();
    short.push('…');
    short
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            other if other.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

//! Prints pictures in the language of Graphviz.

use std::fmt::Write;

use super::drawing::{Drawing, Shape};

/// Prints a picture. Nodes have numbers as ids, so that names can contain anything.
pub(super) fn print(drawing: &Drawing) -> String {
    let mut text = String::from("digraph flow {\n    node [shape=box, fontname=\"sans-serif\"];\n");
    for (id, node) in drawing.nodes.iter().enumerate() {
        let lines: Vec<String> = node.lines().map(escape).collect();
        let shape = match node.shape {
            Shape::Terminal => ", shape=oval",
            Shape::Plain => "",
            Shape::Fork => ", shape=trapezium",
            Shape::Join => ", shape=invtrapezium",
        };
        let fill = if node.is_visited {
            ", style=filled, fillcolor=\"#d8f0d8\""
        } else {
            ""
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    n{id} [label=\"{}\"{shape}{fill}];", lines.join("\\n"));
    }
    for edge in &drawing.edges {
        let mut attributes = Vec::new();
        attributes.extend(
            edge.label
                .as_deref()
                .map(|label| format!("label=\"{}\"", escape(label))),
        );
        attributes.extend(edge.is_exit.then(|| "style=dashed".to_owned()));
        attributes.extend(edge.is_taken.then(|| "penwidth=3, color=\"#2a7a2a\"".to_owned()));
        let _ = writeln!(text, "    n{} -> n{} [{}];", edge.from, edge.to, attributes.join(", "));
    }
    text.push_str("}\n");
    text
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => escaped.extend(['\\', character]),
            other if other.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

//! Prints pictures in the language of Mermaid.

use std::fmt::Write;

use super::drawing::{Drawing, Shape};

/// Prints a picture. Nodes have numbers as ids, so that names can contain anything.
pub(super) fn print(drawing: &Drawing) -> String {
    let mut text = String::from("flowchart TD\n");
    for (id, node) in drawing.nodes.iter().enumerate() {
        let lines: Vec<String> = node.lines().map(escape).collect();
        let lines = lines.join("<br/>");
        let (open, close) = match node.shape {
            Shape::Terminal => ("([", "])"),
            Shape::Plain => ("[", "]"),
            Shape::Fork => ("[/", "\\]"),
            Shape::Join => ("[\\", "/]"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    n{id}{open}\"{lines}\"{close}");
    }
    for edge in &drawing.edges {
        let arrow = match (edge.is_exit, edge.is_taken) {
            (true, _) => "-.->",
            (false, true) => "==>",
            (false, false) => "-->",
        };
        let label = edge.label.as_deref().map(escape);
        let label = label.map_or_else(String::new, |label| format!("|\"{label}\"|"));
        let _ = writeln!(text, "    n{} {arrow}{label} n{}", edge.from, edge.to);
    }
    let visited = drawing.nodes.iter().enumerate().filter(|(_, node)| node.is_visited);
    let visited: Vec<String> = visited.map(|(id, _)| format!("n{id}")).collect();
    if !visited.is_empty() {
        let _ = writeln!(text, "    classDef visited fill:#d8f0d8,stroke:#2a7a2a");
        let _ = writeln!(text, "    class {} visited", visited.join(","));
    }
    text
}

/// Escapes the characters that end a quoted text or begin markup.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' => {
                let _ = write!(escaped, "#{};", u32::from(character));
            }
            other if other.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

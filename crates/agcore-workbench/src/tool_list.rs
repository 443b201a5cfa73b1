//! The list of tools, as shown to users.

use agcore::tools::{Permission, RegisteredTool, ToolAnnotations, ToolRegistry, ToolSession};
use agcore_terminal::render::sanitized_line;

use crate::policy::Policy;

/// Formats all tools: name and description, whether they may run, the permissions they need, and their annotations.
pub fn tool_list(tools: &ToolRegistry, policy: &Policy, session: Option<&ToolSession>) -> String {
    let tools = tools.list();
    let entry = |tool: &RegisteredTool| {
        let access = policy.access(tool, session);
        let (name, description) = (tool.name(), one_line(tool.tool().description()));
        format!("{name}: {description}\n  {access}\n  {}\n", requirements(tool))
    };
    tools.iter().map(entry).collect()
}

/// Joins the lines of a description, which are as long as in its source.
fn one_line(description: &str) -> String {
    let words: Vec<String> = description.split_whitespace().map(sanitized_line).collect();
    words.join(" ")
}

/// Formats what a tool needs and how it behaves: `needs write; not read-only, one at a time (notes)`.
fn requirements(tool: &RegisteredTool) -> String {
    let permissions: Vec<&str> = tool.permissions().iter().map(Permission::as_str).collect();
    let needs = match permissions.as_slice() {
        [] => "declares no permissions".to_owned(),
        permissions => format!("needs {}", permissions.join(", ")),
    };
    match annotations(tool.annotations()).as_slice() {
        [] => needs,
        annotations => format!("{needs}; {}", annotations.join(", ")),
    }
}

/// Lists the annotations that the tool declares.
fn annotations(annotations: &ToolAnnotations) -> Vec<String> {
    let known = [
        ("read-only", annotations.read_only),
        ("destructive", annotations.destructive),
        ("idempotent", annotations.idempotent),
        ("open-world", annotations.open_world),
    ];
    let word = |(name, value): (&str, Option<bool>)| match value {
        None => None,
        Some(true) => Some(name.to_owned()),
        Some(false) => Some(format!("not {name}")),
    };
    let key = annotations.concurrency_key.as_ref();
    let one_at_a_time = key.map(|key| format!("one at a time ({key})"));
    known.into_iter().filter_map(word).chain(one_at_a_time).collect()
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn descriptions_are_one_line_without_control_characters() {
        assert_eq!(
            one_line("Reads a file.\n\n  Long ones\nin parts."),
            "Reads a file. Long ones in parts."
        );
        assert_eq!(one_line("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
    }
}

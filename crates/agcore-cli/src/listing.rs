//! How tools are listed for people.

use agcore::tools::{Permission, RegisteredTool, ToolAnnotations, ToolRegistry, ToolSession};

use crate::policy::Policy;

/// All tools: name and description, how they stand, what they need and how they behave.
pub(crate) fn listing(tools: &ToolRegistry, policy: &Policy, session: Option<&ToolSession>) -> String {
    let tools = tools.list();
    let entry = |tool: &RegisteredTool| {
        let standing = policy.standing(tool, session);
        let (name, description) = (tool.name(), tool.tool().description());
        format!("{name}: {description}\n  {standing}\n  {}\n", traits(tool))
    };
    tools.iter().map(entry).collect()
}

/// `needs write; not read-only, one at a time (notes)`.
fn traits(tool: &RegisteredTool) -> String {
    let permissions: Vec<&str> = tool.permissions().iter().map(Permission::as_str).collect();
    let needs = match permissions.as_slice() {
        [] => "declares no needs".to_owned(),
        permissions => format!("needs {}", permissions.join(", ")),
    };
    match annotations(tool.annotations()).as_slice() {
        [] => needs,
        annotations => format!("{needs}; {}", annotations.join(", ")),
    }
}

/// What is known of a tool's behaviour.
fn annotations(annotations: &ToolAnnotations) -> Vec<String> {
    let known = [
        ("read-only", annotations.read_only),
        ("destructive", annotations.destructive),
        ("idempotent", annotations.idempotent),
        ("open-world", annotations.open_world),
    ];
    let word = |(name, holds): (&str, Option<bool>)| match holds {
        None => None,
        Some(true) => Some(name.to_owned()),
        Some(false) => Some(format!("not {name}")),
    };
    let key = annotations.concurrency_key.as_ref();
    let one_at_a_time = key.map(|key| format!("one at a time ({key})"));
    known.into_iter().filter_map(word).chain(one_at_a_time).collect()
}

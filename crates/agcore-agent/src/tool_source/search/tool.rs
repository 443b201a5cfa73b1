//! The tool `search_tools`.

use std::sync::Arc;

use agcore_chat::ToolAnnotations;
use agcore_tools::{
    Permission, RegisteredTool, ToolError, ToolOutput, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::catalog::{Catalog, Entry};

/// The name of the tool.
pub(crate) const SEARCH_TOOLS: &str = "search_tools";

/// The member of the structured result with the names of the loaded tools.
const LOADED: &str = "loaded";

/// The largest number of tools that a call loads by their names.
const MAX_NAMES: usize = 32;

const DESCRIPTION: &str = "Loads tools that you cannot call yet, by words or by names. You can call them in your next reply. A list \
                           of their names is in your instructions.";

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct SearchTools {
    /// Words that describe what the tools should do, such as `create issue`. The tools that fit best are loaded.
    #[serde(default)]
    query: Option<String>,
    /// The names of tools to load, exactly as they are listed.
    #[serde(default)]
    names: Vec<String>,
}

/// Returns the tool, for these tools.
pub(super) fn search_tool(catalog: Arc<Catalog>, max_results: usize) -> Result<RegisteredTool, ToolError> {
    let search = move |arguments: SearchTools| {
        let catalog = Arc::clone(&catalog);
        async move { search(&catalog, &arguments, max_results).await }
    };
    let tool = typed(SEARCH_TOOLS, DESCRIPTION, search)
        .with_permissions([Permission::Read])
        .with_annotations(ToolAnnotations::new().with_read_only(true).with_idempotent(true));
    let registry = ToolRegistry::new();
    registry.register(tool)?;
    registry
        .get(SEARCH_TOOLS)
        .ok_or_else(|| ToolError::not_found(SEARCH_TOOLS, Vec::new()))
}

/// Returns the names of the tools that a structured result of the tool lists.
pub(super) fn loaded_by(display: &Value) -> impl Iterator<Item = &str> {
    let names = display.get("structured").and_then(|result| result.get(LOADED));
    names
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

async fn search(catalog: &Catalog, arguments: &SearchTools, max_results: usize) -> Result<ToolOutput, ToolError> {
    let query = arguments.query.as_deref().unwrap_or_default().trim();
    if query.is_empty() && arguments.names.is_empty() {
        return Err(ToolError::failed("nothing to search for; set `query` or `names`"));
    }
    let (mut found, mut problems): (Vec<&Entry>, Vec<String>) = (Vec::new(), Vec::new());
    for name in arguments.names.iter().take(MAX_NAMES) {
        match catalog.get(name) {
            Some(entry) => found.push(entry),
            None => problems.push(unknown(catalog, name)),
        }
    }
    if arguments.names.len() > MAX_NAMES {
        problems.push(format!(
            "A call loads at most {MAX_NAMES} tools by their names; the others were not loaded."
        ));
    }
    if !query.is_empty() {
        let hits = catalog.search(query, max_results).await?;
        if hits.is_empty() {
            problems
                .push("No tool fits these words. Try others, or a name from the list in your instructions.".to_owned());
        }
        found.extend(hits);
    }
    let mut names: Vec<&str> = Vec::new();
    found.retain(|entry| {
        let is_new = !names.contains(&entry.name());
        if is_new {
            names.push(entry.name());
        }
        is_new
    });
    let mut lines = Vec::new();
    if !found.is_empty() {
        lines.push("These tools are loaded, and you can call them now:".to_owned());
        lines.extend(found.iter().map(|entry| format!("- {}: {}", entry.name(), entry.line)));
    }
    lines.extend(problems);
    Ok(ToolOutput::content_and_value(
        lines.join("\n"),
        json!({ LOADED: names }),
    ))
}

fn unknown(catalog: &Catalog, name: &str) -> String {
    let shown = agcore_chat::text::visible(agcore_chat::text::prefix(name, 128)).into_owned();
    match catalog.near(name).as_slice() {
        [] => format!("There is no tool `{shown}` to load; search by words."),
        near => format!(
            "There is no tool `{shown}` to load; did you mean {}?",
            near.join(" or ")
        ),
    }
}

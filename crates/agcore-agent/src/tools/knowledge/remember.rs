//! The tool `remember`.

use std::sync::Arc;

use agcore_chat::{Actor, ToolAnnotations};
use agcore_memory::{MemoryErrorKind, knowledge::KnowledgePage};
use agcore_tools::{BaseTool, Permission, ToolContext, ToolError, ToolOutput, typed};
use serde_json::json;

use super::{
    arguments::Remember,
    wiki::{Wiki, failed},
};

const DESCRIPTION: &str = "Saves a new page in the wiki, for facts that later conversations need. Look with `retrieve` first: if \
                           there is a page about the subject, change it with `update_page`.";

pub(super) fn tool(wiki: Arc<Wiki>) -> impl BaseTool + 'static {
    let remember = move |arguments: Remember, context: ToolContext| {
        let wiki = Arc::clone(&wiki);
        async move { remember(&wiki, arguments, context.actor()).await }
    };
    typed("remember", DESCRIPTION, remember)
        .with_permissions([Permission::Write])
        .with_annotations(ToolAnnotations::new().with_read_only(false).with_destructive(false))
}

async fn remember(wiki: &Wiki, arguments: Remember, actor: &Actor) -> Result<ToolOutput, ToolError> {
    let id = arguments.id.unwrap_or_else(|| id_of(&arguments.title));
    let mut page = KnowledgePage::new(id.as_str(), arguments.title, arguments.content).with_owner(actor.clone());
    page.summary = arguments.summary.unwrap_or_default();
    for tag in arguments.tags {
        page = page.with_tag(tag);
    }
    for reference in arguments.references {
        page = page.with_reference(reference);
    }
    wiki.store().add(page).await.map_err(|error| match error.kind() {
        MemoryErrorKind::AlreadyExists => ToolError::failed(format!(
            "there is a page `{id}` already; change it with `update_page`, or choose another id"
        )),
        _ => failed(error),
    })?;
    Ok(ToolOutput::value(json!({ "saved": id })))
}

/// Returns the id of a page with this title: its words, joined with hyphens.
fn id_of(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_ids() {
        for (title, id) in [
            ("Growing tomatoes!", "growing-tomatoes"),
            ("种番茄", "种番茄"),
            ("?", ""),
        ] {
            assert_eq!(id_of(title), id);
        }
    }
}

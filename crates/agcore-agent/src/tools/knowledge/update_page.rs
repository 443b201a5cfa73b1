//! The tool `update_page`.

use std::sync::Arc;

use agcore_chat::{Actor, ToolAnnotations};
use agcore_tools::{BaseTool, Permission, ToolContext, ToolError, ToolOutput, typed};
use serde_json::json;

use super::{
    arguments::UpdatePage,
    wiki::{Wiki, failed},
};

const DESCRIPTION: &str = "Changes a page of the wiki. What is not passed stays as it is; a text that is passed replaces the whole \
                           text, so read the whole page with `read_page` first.";

pub(super) fn tool(wiki: Arc<Wiki>) -> impl BaseTool + 'static {
    let update = move |arguments: UpdatePage, context: ToolContext| {
        let wiki = Arc::clone(&wiki);
        async move { update(&wiki, arguments, context.actor()).await }
    };
    typed("update_page", DESCRIPTION, update)
        .with_permissions([Permission::Write])
        .with_annotations(ToolAnnotations::new().with_read_only(false).with_idempotent(true))
}

async fn update(wiki: &Wiki, arguments: UpdatePage, actor: &Actor) -> Result<ToolOutput, ToolError> {
    let mut page = wiki.changeable(actor, &arguments.id).await?;
    let before = page.clone();
    page.title = arguments.title.unwrap_or(page.title);
    page.summary = arguments.summary.unwrap_or(page.summary);
    if let Some(content) = arguments.content {
        page.content = content;
        // The text is no longer that of the file.
        page.source = None;
    }
    if let Some(tags) = arguments.tags {
        page.tags.clear();
        for tag in tags {
            page = page.with_tag(tag);
        }
    }
    if let Some(references) = arguments.references {
        page.references.clear();
        for reference in references {
            page = page.with_reference(reference);
        }
    }
    if page == before {
        return Err(ToolError::failed(format!(
            "nothing would change in the page `{}`; pass what should be different",
            arguments.id
        )));
    }
    wiki.store().update(page).await.map_err(failed)?;
    Ok(ToolOutput::value(json!({ "updated": arguments.id })))
}

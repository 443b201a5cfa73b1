//! The tool `forget`.

use std::sync::Arc;

use agcore_chat::ToolAnnotations;
use agcore_tools::{BaseTool, Permission, ToolContext, ToolOutput, typed};
use serde_json::json;

use super::{
    arguments::Forget,
    wiki::{Wiki, failed},
};

const DESCRIPTION: &str = "Deletes a page of the wiki, because it is wrong or was asked to be forgotten.";

pub(super) fn tool(wiki: Arc<Wiki>) -> impl BaseTool + 'static {
    let forget = move |arguments: Forget, context: ToolContext| {
        let wiki = Arc::clone(&wiki);
        async move {
            let actor = context.actor();
            let page = wiki.changeable(actor, &arguments.id).await?;
            let deleted = wiki.store().delete(&actor.tenant, &page.id).await.map_err(failed)?;
            Ok(ToolOutput::value(json!({ "deleted": deleted })))
        }
    };
    typed("forget", DESCRIPTION, forget)
        .with_permissions([Permission::Delete])
        .with_annotations(ToolAnnotations::new().with_read_only(false).with_destructive(true))
}

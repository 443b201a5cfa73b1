//! `agcore knowledge export`.

use agcore::memory::knowledge::{KnowledgeStore, markdown};
use agcore_args::KnowledgeExportArgs;
use serde_json::json;

use super::wiki::{counted, filter, open, pages_of};

use crate::{command::stored::database::shown, exit::Failure};

/// Writes pages to a folder.
///
/// # Errors
/// When the database cannot be read, no page is selected, or a file cannot be written.
pub(super) async fn export(args: &KnowledgeExportArgs) -> Result<(), Failure> {
    let (database, store) = open(&args.database).await?;
    let pages = KnowledgeStore::list(&store, &filter(&args.pages)).await?;
    let ids: Vec<String> = pages.into_iter().map(|page| page.id).collect();
    if ids.is_empty() {
        return Err(Failure::usage(
            "there are no such pages; nothing was written\nRun `agcore knowledge list` to see all pages.",
        ));
    }
    let pages = pages_of(&store, &ids).await?;
    let written = markdown::write_folder(&args.folder, &pages)?;
    let folder = shown(&args.folder);
    let text = format!("{} written to {folder}.", counted(written, "was", "were"));
    database.print(json!({ "folder": folder, "written": written }), &text)
}

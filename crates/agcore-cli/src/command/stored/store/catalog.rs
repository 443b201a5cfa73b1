//! `agcore store catalog`: the catalog of models in the database.

use agcore::catalog::Format;
use agcore_args::{CatalogDocumentCommand, PutArgs, ShowCatalogArgs};
use agcore_server::StoredCatalog;
use agcore_terminal::render::sanitized_line;
use serde_json::json;

use super::opened::{Opened, text_of};

use crate::{exit::Failure, stdout::print};

/// Stores or shows the catalog.
///
/// # Errors
/// When the catalog is not valid, there is none, or the database cannot be used.
pub(super) async fn run(command: &CatalogDocumentCommand) -> Result<(), Failure> {
    match command {
        CatalogDocumentCommand::Put(args) => put(args).await,
        CatalogDocumentCommand::Show(args) => show(args).await,
    }
}

fn stored(opened: &Opened) -> StoredCatalog {
    StoredCatalog::new(opened.journal(), opened.clock.clone())
}

async fn put(args: &PutArgs) -> Result<(), Failure> {
    let name = sanitized_line(&args.path.display().to_string());
    let format = Format::of_file(&args.path.display().to_string()).ok_or_else(|| {
        Failure::usage(format!(
            "{name} is not a catalog: its name must end in .toml, .yaml, .yml or .json"
        ))
    })?;
    let text = text_of(&args.path)?;
    let opened = Opened::of(args.file.as_deref()).await?;
    let stored = stored(&opened);
    let version = stored.get().await?.map_or(0, |(version, ..)| version);
    let version = stored.save(format, &text, version).await?;
    print(&format!(
        "{name} is version {version} of the catalog in {}.\n",
        opened.name
    ))
}

async fn show(args: &ShowCatalogArgs) -> Result<(), Failure> {
    let opened = Opened::of(args.file.as_deref()).await?;
    let Some((version, format, text)) = stored(&opened).get().await? else {
        return Err(Failure::task(format!(
            "{} has no catalog\n`agcore store catalog put FILE` stores one.",
            opened.name
        )));
    };
    if args.json {
        let format = match format {
            Format::Toml => "toml",
            _ => "yaml",
        };
        let result = json!({"file": opened.name, "version": version, "format": format, "text": text});
        return print(&format!("{result:#}\n"));
    }
    print(&format!("{}\n", text.trim_end()))
}

//! Arguments of `knowledge`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::store::FileArgs;

#[derive(Debug, Subcommand)]
pub enum KnowledgeCommand {
    /// Make files, or all files of a folder, searchable
    #[command(after_help = ADD_HELP)]
    Add(KnowledgeAddArgs),
    /// List the files that were added
    #[command(after_help = FILES_HELP)]
    Files(KnowledgeFilesArgs),
    /// Remove files that were added, with their pages
    #[command(after_help = REMOVE_HELP)]
    Remove(KnowledgeRemoveArgs),
    /// Find the pages that match a question best
    #[command(after_help = SEARCH_HELP)]
    Search(KnowledgeSearchArgs),
    /// List pages
    #[command(after_help = LIST_HELP)]
    List(KnowledgeListArgs),
    /// Print a page as Markdown
    #[command(after_help = SHOW_HELP)]
    Show(KnowledgeShowArgs),
    /// Delete pages
    #[command(after_help = DELETE_HELP)]
    Delete(KnowledgeDeleteArgs),
    /// Save the pages of a folder, as `export` writes it
    #[command(after_help = IMPORT_HELP)]
    Import(KnowledgeImportArgs),
    /// Write pages to a folder of Markdown files
    #[command(after_help = EXPORT_HELP)]
    Export(KnowledgeExportArgs),
    /// Build the index of the pages again
    #[command(after_help = REBUILD_HELP)]
    Rebuild(FileArgs),
}

const ADD_HELP: &str = "\
Markdown, text, PDF, DOCX, XLSX, HTML, CSV, TSV and JSON files become pages, with their places for citations: page, sheet and cells, \
heading, or lines. A note is one page; its id is the path of the file without its extension, unless the front matter or --id sets \
another. Everything else becomes several pages. A file is read again only after it has changed; files that were deleted from a folder \
are removed. If the command is interrupted, run it again: it continues. Files that cannot be read are listed, and the others are \
saved. Links are not followed.

Examples:
  agcore knowledge add handbook
  agcore knowledge add report.pdf prices.xlsx --tag 2026
  echo 'Water them in the morning.' | agcore knowledge add - --id garden/tomatoes --title Tomatoes";

const FILES_HELP: &str = "\
Each file is listed with the number of its pages, the day on which it was read, and why it could not be read, if it could not.

Examples:
  agcore knowledge files
  agcore knowledge files --prefix handbook/ --failed
  agcore knowledge files --json | jq -r '.files[].id'";

const REMOVE_HELP: &str = "\
The names are those that `agcore knowledge files` shows; the name of a folder stands for all files below it. The files themselves are \
left alone. If one of the names does not exist, nothing is removed.

Examples:
  agcore knowledge remove handbook/travel.pdf
  agcore knowledge remove handbook";

const SEARCH_HELP: &str = "\
English words are found in all their forms; Chinese, Japanese and Korean ones by pairs of characters. The question is plain \
text without operators. Each result has its score, from 0 to 1, the id, the title, the place in its file, and the line that matches best.

Examples:
  agcore knowledge search 'When do I water tomatoes?'
  agcore knowledge search 番茄什么时候浇水 --limit 3
  agcore knowledge search tomatoes --json | jq -r '.hits[].page.id'";

const LIST_HELP: &str = "\
Examples:
  agcore knowledge list
  agcore knowledge list --prefix garden/ --tag food
  agcore knowledge list --json | jq -r '.pages[].id'";

const SHOW_HELP: &str = "\
Examples:
  agcore knowledge show garden/tomatoes
  agcore knowledge show garden/tomatoes --json";

const DELETE_HELP: &str = "\
References of other pages to a deleted page are kept. If one of the ids does not exist, nothing is deleted.

Example:
  agcore knowledge delete garden/tomatoes garden/roses";

const IMPORT_HELP: &str = "\
Pages with the same ids are replaced, unless they are the same. With --delete-others, the pages become those of the folder: \
all others are deleted. If a file cannot be read as a page, nothing is changed and the exit code is 2.

Examples:
  agcore knowledge import wiki
  agcore knowledge import wiki --delete-others";

const EXPORT_HELP: &str = "\
The files can be edited and imported again. Files of the same names are replaced, and other files are left alone.

Examples:
  agcore knowledge export wiki
  agcore knowledge export garden --tag garden";

const REBUILD_HELP: &str = "\
The index is in the database and follows the pages by itself. This is only needed if a search reports that it is damaged.

Example:
  agcore knowledge rebuild";

/// Arguments of `knowledge add`.
#[derive(Debug, Parser)]
pub struct KnowledgeAddArgs {
    /// Files and folders; `-` is standard input
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Id of the page, for a single file or standard input
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Title of the page, for a single file or standard input
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Tag to add to each page; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Name of the file or folder in citations; by default its own name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub database: FileArgs,
}

/// Arguments of `knowledge files`.
#[derive(Debug, Parser)]
pub struct KnowledgeFilesArgs {
    /// Only files whose names begin with TEXT
    #[arg(long, value_name = "TEXT")]
    pub prefix: Option<String>,
    /// Only files that could not be read
    #[arg(long)]
    pub failed: bool,
    #[command(flatten)]
    pub database: FileArgs,
}

/// Arguments of `knowledge remove`.
#[derive(Debug, Parser)]
pub struct KnowledgeRemoveArgs {
    /// Names of files or folders
    #[arg(value_name = "NAME", required = true)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub database: FileArgs,
}

/// Which pages.
#[derive(Debug, Parser)]
pub struct PageArgs {
    /// Only pages whose ids begin with TEXT
    #[arg(long, value_name = "TEXT")]
    pub prefix: Option<String>,
    /// Only pages with this tag; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

/// Arguments of `knowledge search`.
#[derive(Debug, Parser)]
pub struct KnowledgeSearchArgs {
    /// Question or words
    #[arg(value_name = "TEXT", required = true)]
    pub query: Vec<String>,
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    #[command(flatten)]
    pub database: FileArgs,
}

/// Arguments of `knowledge list`.
#[derive(Debug, Parser)]
pub struct KnowledgeListArgs {
    #[command(flatten)]
    pub pages: PageArgs,
    /// Maximum number of pages; by default all
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    #[command(flatten)]
    pub database: FileArgs,
}

/// Arguments of `knowledge show`.
#[derive(Debug, Parser)]
pub struct KnowledgeShowArgs {
    /// Id of the page
    #[arg(value_name = "ID")]
    pub id: String,
    #[command(flatten)]
    pub database: FileArgs,
}

/// Arguments of `knowledge delete`.
#[derive(Debug, Parser)]
pub struct KnowledgeDeleteArgs {
    /// Ids of the pages
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub database: FileArgs,
}

/// Arguments of `knowledge import`.
#[derive(Debug, Parser)]
pub struct KnowledgeImportArgs {
    /// Folder of Markdown files
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Delete all pages that are not in the folder
    #[arg(long)]
    pub delete_others: bool,
    #[command(flatten)]
    pub database: FileArgs,
}

/// Arguments of `knowledge export`.
#[derive(Debug, Parser)]
pub struct KnowledgeExportArgs {
    /// Folder to write to; it is created if it does not exist
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub pages: PageArgs,
    #[command(flatten)]
    pub database: FileArgs,
}

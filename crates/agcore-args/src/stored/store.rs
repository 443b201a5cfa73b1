//! Arguments of `store`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::documents::{CATALOG_HELP, CatalogDocumentCommand, PROFILES_HELP, ProfilesCommand};

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Create the database, or bring its tables to the newest version
    #[command(after_help = MIGRATE_HELP)]
    Migrate(FileArgs),
    /// Look for damage without changing anything
    #[command(after_help = CHECK_HELP)]
    Check(FileArgs),
    /// Copy the database to another file while it is in use
    #[command(after_help = BACKUP_HELP)]
    Backup(BackupArgs),
    /// Rewrite the database without unused space
    #[command(after_help = VACUUM_HELP)]
    Vacuum(FileArgs),
    /// Rebuild the indexes from the tables
    #[command(after_help = REBUILD_HELP)]
    Rebuild(FileArgs),
    /// Remove old sessions, runs, events and audit messages
    #[command(after_help = PRUNE_HELP)]
    Prune(PruneArgs),
    /// Store, list, show or delete the profiles of users
    #[command(after_help = PROFILES_HELP, arg_required_else_help = true)]
    Profiles {
        #[command(subcommand)]
        command: ProfilesCommand,
    },
    /// Store or show the catalog of models
    #[command(after_help = CATALOG_HELP, arg_required_else_help = true)]
    Catalog {
        #[command(subcommand)]
        command: CatalogDocumentCommand,
    },
    /// Print everything that is kept of a user, as JSON Lines
    #[command(after_help = EXPORT_HELP)]
    ExportUser(UserArgs),
    /// Erase everything that is kept of a user, except for the bill
    #[command(after_help = ERASE_HELP)]
    EraseUser(EraseUserArgs),
}

const MIGRATE_HELP: &str = "\
Programs migrate a database when they open it. This command does it beforehand, for example before several of them start. \
A database of a newer version is left unchanged, and the exit code is 2. With AGCORE_STORE and without --file, the database is that \
of the server.

Examples:
  agcore store migrate
  agcore store migrate --file /var/lib/bot/agcore.db";

const CHECK_HELP: &str = "\
Checks the pages and indexes of the file, references between tables, gaps in the streams of the journal, and stored JSON \
that cannot be read. Lists what is damaged; the exit code is then 1. With AGCORE_STORE and without --file, nothing is checked: the \
message names the program that checks a PostgreSQL server, and the exit code is 2.

Examples:
  agcore store check
  agcore store check --file agcore.db --json | jq '.damage[].message'";

const BACKUP_HELP: &str = "\
The copy contains the database as it is at one moment. Other programs can write meanwhile. TARGET appears when the copy is \
complete, and only its owner can read it. With AGCORE_STORE and without --file, nothing is copied: the message names the command of \
PostgreSQL that does it, and the exit code is 2.

Examples:
  agcore store backup agcore-backup.db
  agcore store backup --file agcore.db --force /backups/agcore.db";

const VACUUM_HELP: &str = "\
Prints the size before and after, including the write-ahead log, which is emptied. With AGCORE_STORE and without --file, the tables \
of the database server are rewritten, so that nothing of erased rows is left in their files; each table is locked meanwhile. Needs free space for a second copy. If \
another program is using the database for too long, the exit code is 4.

Example:
  agcore store vacuum --file agcore.db";

const REBUILD_HELP: &str = "\
Rebuilds all indexes (SQLite's REINDEX). The tables stay as they are: messages and events of sessions are not rebuilt from \
their records. With AGCORE_STORE and without --file, nothing is rebuilt: the message names the command of PostgreSQL that does it, and \
the exit code is 2.

Example:
  agcore store rebuild --file agcore.db";

const PRUNE_HELP: &str = "\
Tokens and costs are always kept, and so is what an open run or question needs: erased sessions keep their messages without \
content. `agcore serve` does the same regularly with [serve.retention] in agcore.toml. With AGCORE_STORE and without --file, the \
database is that of the server.

Examples:
  agcore store prune --events-days 7 --runs-days 30 --dry-run
  agcore store prune --runs-per-session 100 --file /var/lib/bot/agcore.db
  agcore store prune --files-days 90 --files /var/lib/bot/uploads";

const EXPORT_HELP: &str = "\
Memory items, pages, entities and their relations, conversations, sessions with their parts and all that belongs to them, uploaded \
files, tokens without their text, and the profile, in all lines of business. The content of a file is under its \"path\" in the folder \
of uploads. Stored answers to questions about tools are included unless --file names a database. Each line is a JSON object; \"row\" \
names its kind. With AGCORE_STORE and without --file, the database is that of the server.

Examples:
  agcore store export-user --tenant acme --user ann > ann.jsonl
  agcore store export-user | jq -r 'select(.row == \"message\") | .message.content'";

const ERASE_HELP: &str = "\
Stop the user's runs first. Uploaded files are deleted from the folder of --files, and stored answers to questions about tools are \
removed unless --file names a database. What is left is the bill: sessions under new IDs with the user's name, and their messages with tokens \
and costs, but without content. If the command is interrupted, run it again. Backups are not changed. A PostgreSQL server keeps \
deleted rows in its files until it vacuums its tables.

Example:
  agcore store erase-user --tenant acme --user ann --files /var/lib/bot/uploads --yes";

/// Arguments of `store prune`.
#[derive(Debug, Parser)]
pub struct PruneArgs {
    /// Erase sessions that did not change for N days
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sessions_days: Option<u32>,
    /// Keep the N sessions of each user that changed last
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub sessions_per_user: Option<u64>,
    /// Delete runs that ended N days ago
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs_days: Option<u32>,
    /// Keep the newest N runs of each session
    #[arg(long, value_name = "N")]
    pub runs_per_session: Option<u64>,
    /// Delete the events of runs that ended N days ago
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub events_days: Option<u32>,
    /// Remove the content of audit messages that are N days old
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub audit_days: Option<u32>,
    /// Delete uploaded files that are N days old
    #[arg(long, value_name = "N", requires = "files", value_parser = clap::value_parser!(u32).range(1..))]
    pub files_days: Option<u32>,
    /// Keep the newest N uploaded files of each user
    #[arg(long, value_name = "N", requires = "files")]
    pub files_per_user: Option<u64>,
    /// Folder of uploaded files, as `files` of [serve]
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// Only count what would be removed
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub database: FileArgs,
}

/// A user.
#[derive(Debug, Parser)]
pub struct UserArgs {
    /// Name of the user
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub user: String,
    /// Tenant of the user
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// SQLite file; by default agcore.db in the directory of the program's state
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `store erase-user`.
#[derive(Debug, Parser)]
pub struct EraseUserArgs {
    /// Erase; without it, only print what would be erased
    #[arg(long)]
    pub yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Folder of uploaded files, as `files` of [serve]; needed if the user has uploaded files
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    #[command(flatten)]
    pub user: UserArgs,
}

/// The database.
#[derive(Debug, Parser)]
pub struct FileArgs {
    /// SQLite file; by default agcore.db in the directory of the program's state
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `store backup`.
#[derive(Debug, Parser)]
pub struct BackupArgs {
    /// File to write
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,
    /// Replace TARGET if it exists
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub database: FileArgs,
}

//! Arguments of `store`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
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
}

const MIGRATE_HELP: &str = "\
Programs migrate a database when they open it. This command does it beforehand, for example before several of them start. \
A database of a newer version is left unchanged, and the exit code is 2.

Examples:
  agcore store migrate
  agcore store migrate --file /var/lib/bot/agcore.db";

const CHECK_HELP: &str = "\
Checks the pages and indexes of the file, references between tables, gaps in the streams of the journal, and stored JSON \
that cannot be read. Lists what is damaged; the exit code is then 1.

Examples:
  agcore store check
  agcore store check --file agcore.db --json | jq '.damage[].message'";

const BACKUP_HELP: &str = "\
The copy contains the database as it is at one moment. Other programs can write meanwhile. TARGET appears when the copy is \
complete, and only its owner can read it.

Examples:
  agcore store backup agcore-backup.db
  agcore store backup --file agcore.db --force /backups/agcore.db";

const VACUUM_HELP: &str = "\
Prints the size before and after, including the write-ahead log, which is emptied. Needs free space for a second copy. If \
another program is using the database for too long, the exit code is 4.

Example:
  agcore store vacuum --file agcore.db";

const REBUILD_HELP: &str = "\
Rebuilds all indexes (SQLite's REINDEX). The tables stay as they are: messages and events of sessions are not rebuilt from \
their records.

Example:
  agcore store rebuild --file agcore.db";

/// The database.
#[derive(Debug, Parser)]
pub(crate) struct FileArgs {
    /// SQLite file; by default agcore.db in the directory of the program's state
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `store backup`.
#[derive(Debug, Parser)]
pub(crate) struct BackupArgs {
    /// File to write
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,
    /// Replace TARGET if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) database: FileArgs,
}

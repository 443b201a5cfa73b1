//! `agcore store`: creates, checks, copies and compacts a database, and removes or exports rows.

mod opened;
mod catalog;
mod profiles;
mod prune;
mod user;

use std::path::Path;

use agcore::store::sqlite::maintenance::{self, CheckReport, NEWEST_VERSION};
use agcore_args::{BackupArgs, FileArgs, StoreCommand};
use agcore_settings::STORE;
use agcore_terminal::{
    process::{shell_word, variable},
    render::sanitized_line,
};
use serde_json::{Value, json};

use super::database::{Database, shown};

use crate::{exit::Failure, stdout::print};

/// Runs `agcore store`.
///
/// # Errors
/// When the database is damaged, or cannot be opened, read or written.
pub(crate) async fn run(command: &StoreCommand) -> Result<(), Failure> {
    match command {
        StoreCommand::Migrate(args) => migrate(args).await,
        StoreCommand::Check(args) => check(args).await,
        StoreCommand::Backup(args) => backup(args).await,
        StoreCommand::Vacuum(args) => vacuum(args).await,
        StoreCommand::Rebuild(args) => rebuild(args).await,
        StoreCommand::Prune(args) => prune::run(args).await,
        StoreCommand::Profiles { command } => profiles::run(command).await,
        StoreCommand::Catalog { command } => catalog::run(command).await,
        StoreCommand::ExportUser(args) => user::export(args).await,
        StoreCommand::EraseUser(args) => user::erase(args).await,
    }
}

async fn migrate(args: &FileArgs) -> Result<(), Failure> {
    if let Some(url) = server_of(args.file.as_deref()) {
        opened::migrate_server(&url).await?;
        let name = format!("the database of {STORE}");
        return print(&match args.json {
            true => format!("{:#}\n", json!({ "file": name })),
            false => format!("The tables of {name} have the newest version.\n"),
        });
    }
    let database = Database::of(args)?;
    database.create_directory()?;
    let migrated = maintenance::migrate(&database.options).await?;
    let (name, from, to) = (&database.name, migrated.from, migrated.to);
    let text = match from {
        0 => format!("{name} was created with version {to}."),
        _ if from == to => format!("{name} has the newest version, {to}."),
        _ => format!("{name} was migrated from version {from} to {to}."),
    };
    database.print(json!({ "from": from, "to": to }), &text)
}

async fn check(args: &FileArgs) -> Result<(), Failure> {
    refuse_server(
        args,
        "checks files of SQLite",
        &["pg_amcheck --install-missing --dbname=\"$AGCORE_STORE\""],
    )?;
    let database = Database::of(args)?;
    let report = maintenance::check(&database.options).await?;
    let name = &database.name;
    let version = match report.version {
        NEWEST_VERSION => format!("version {NEWEST_VERSION}"),
        older => format!("version {older} of {NEWEST_VERSION}; `agcore store migrate` updates it"),
    };
    if report.is_intact() {
        return database.print(as_json(&report), &format!("{name} is intact ({version})."));
    }
    let damage: Vec<String> = report
        .damage
        .iter()
        .map(|damage| sanitized_line(&damage.to_string()))
        .collect();
    database.print(as_json(&report), &damage.join("\n"))?;
    Err(Failure::task(format!(
        "{name} is damaged ({} problems, {version})\nRestore a backup. To keep what is readable, copy the file first.",
        damage.len()
    )))
}

fn as_json(report: &CheckReport) -> Value {
    let damage = report.damage.iter();
    let damage: Vec<Value> = damage
        .map(|damage| json!({"kind": damage.kind(), "message": damage.to_string()}))
        .collect();
    json!({
        "version": report.version,
        "newest_version": NEWEST_VERSION,
        "damage": damage,
    })
}

async fn backup(args: &BackupArgs) -> Result<(), Failure> {
    let target = shell_word(&shown(&args.target));
    let dump = format!("pg_dump --format=custom --schema=agcore --file={target} --dbname=\"$AGCORE_STORE\"");
    let restore = format!("pg_restore --clean --if-exists --dbname=\"$AGCORE_STORE\" {target}   (restores it)");
    refuse_server(&args.database, "copies files of SQLite", &[&dump, &restore])?;
    let database = Database::of(&args.database)?;
    let bytes = maintenance::backup(&database.options, &args.target, args.force).await?;
    let target = shown(&args.target);
    let text = format!("{} was copied to {target} ({bytes} bytes).", database.name);
    database.print(json!({ "target": target, "bytes": bytes }), &text)
}

async fn vacuum(args: &FileArgs) -> Result<(), Failure> {
    if let Some(url) = server_of(args.file.as_deref()) {
        opened::vacuum_server(&url).await?;
        let name = format!("the database of {STORE}");
        return print(&match args.json {
            true => format!("{:#}\n", json!({ "file": name })),
            false => format!("The tables of {name} were rewritten without erased rows.\n"),
        });
    }
    let database = Database::of(args)?;
    let vacuumed = maintenance::vacuum(&database.options).await?;
    let (before, after) = (vacuumed.before, vacuumed.after);
    let text = format!("{} had {before} bytes and has {after} now.", database.name);
    database.print(json!({ "before": before, "after": after }), &text)
}

async fn rebuild(args: &FileArgs) -> Result<(), Failure> {
    refuse_server(
        args,
        "rebuilds files of SQLite",
        &["psql \"$AGCORE_STORE\" -c 'REINDEX SCHEMA agcore'"],
    )?;
    let database = Database::of(args)?;
    let rebuilt = maintenance::rebuild(&database.options).await?;
    let text = format!("{} indexes of {} were rebuilt.", rebuilt.indexes, database.name);
    database.print(json!({ "indexes": rebuilt.indexes }), &text)
}

/// Returns the URL of the database server, unless a file is named.
fn server_of(file: Option<&Path>) -> Option<String> {
    match file {
        Some(_) => None,
        None => variable(STORE),
    }
}

/// Fails if the database is that of a server, for which there is another program.
fn refuse_server(args: &FileArgs, what: &str, lines: &[&str]) -> Result<(), Failure> {
    if server_of(args.file.as_deref()).is_none() {
        return Ok(());
    }
    let lines: String = lines.iter().map(|line| format!("\n  {line}")).collect();
    Err(Failure::usage(format!(
        "nothing was done: this command {what}, and {STORE} names a database server\nFor the server, use:{lines}\n\
         To work on a file in spite of {STORE}, name it with --file."
    )))
}

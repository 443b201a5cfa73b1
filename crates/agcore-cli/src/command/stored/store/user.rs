//! `agcore store export-user` and `erase-user`.

use std::{
    collections::BTreeMap,
    io::{self, BufWriter, Write},
};

use agcore::{
    chat::Actor,
    files::FileStorage,
    store::{
        StoreError, StoreErrorKind,
        user_data::{UserDataRow, erase_user_data, export_user_data},
    },
};
use agcore_args::{EraseUserArgs, UserArgs};
use agcore_server::{erase_files, erase_server_data, export_files, export_server_data};
use agcore_terminal::render::sanitized_line;
use agcore_workbench::grants::{erase_grants_of, grants_of};
use serde_json::{Value, json};

use super::opened::{Opened, open_files};

use crate::{exit::Failure, stdout::print};

/// Prints everything that is kept of a user.
///
/// # Errors
/// When the database cannot be read, or the output cannot be written.
pub(super) async fn export(args: &UserArgs) -> Result<(), Failure> {
    let opened = Opened::of(args.file.as_deref()).await?;
    let mut output = BufWriter::new(io::stdout());
    let mut failed = None;
    for row in grant_rows(args)? {
        writeln!(output, "{row}").map_err(|error| Failure::output(&error))?;
    }
    let exported = for_each_row(&opened, &actor(args), &mut |row| {
        writeln!(output, "{row}").map_err(|error| {
            failed = Some(error);
            StoreError::new(StoreErrorKind::Storage, "the output cannot be written")
        })
    })
    .await;
    if let Some(error) = failed {
        return Err(Failure::output(&error));
    }
    exported?;
    output.flush().map_err(|error| Failure::output(&error))
}

/// Erases everything that is kept of a user, or reports what would be erased.
///
/// # Errors
/// When it is not confirmed, or the database cannot be used.
pub(super) async fn erase(args: &EraseUserArgs) -> Result<(), Failure> {
    let opened = Opened::of(args.user.file.as_deref()).await?;
    let user = actor(&args.user);
    if !args.yes {
        return Err(not_confirmed(&opened, &user, grant_rows(&args.user)?).await?);
    }
    let storage = open_files(args.files.as_deref())?;
    let files = export_files(&*opened.store, &user).await?.len();
    if files > 0 && storage.is_none() {
        return Err(Failure::usage(format!(
            "nothing was erased: {} has uploaded {files} files\nPass --files DIR with the folder in which `agcore serve` keeps them: \
             `files` of [serve].",
            sanitized_line(&user.to_string())
        )));
    }
    // Requests of the user fail from here on.
    let server = erase_server_data(&opened.journal(), &opened.clock, &user).await?;
    let storage = storage.as_ref().map(|storage| storage as &dyn FileStorage);
    let files = erase_files(&*opened.store, storage, &user).await?;
    let erased = erase_user_data(&*opened.store, &user).await?;
    let grants = match args.user.file {
        None => erase_grants_of(&user).map_err(Failure::usage)?,
        Some(_) => 0,
    };
    if args.json {
        let mut result = json!(erased);
        result["tokens"] = server.tokens.into();
        result["profiles"] = server.profiles.into();
        result["files"] = files.into();
        result["grants"] = grants.into();
        result["file"] = opened.name.into();
        return print(&format!("{result:#}\n"));
    }
    print(&format!(
        "Erased {} in {}: {} sessions, {} conversations, {} memory items, {} pages, {} entities, {} tokens, {} profiles, \
         {files} uploaded files, {grants} stored answers about tools. Tokens and costs of the sessions are kept.\n",
        sanitized_line(&user.to_string()),
        opened.name,
        erased.sessions,
        erased.conversations,
        erased.items,
        erased.pages,
        erased.entities,
        server.tokens,
        server.profiles
    ))
}

/// Returns the message of an erasure that was not confirmed: what would be erased.
async fn not_confirmed(opened: &Opened, user: &Actor, grants: Vec<Value>) -> Result<Failure, Failure> {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let count = &mut |row: &Value| {
        let kind = row["row"].as_str().unwrap_or("?");
        *kinds.entry(kind.to_owned()).or_default() += 1;
        Ok(())
    };
    for_each_row(opened, user, &mut *count).await?;
    grants.iter().try_for_each(count)?;
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let found = match kinds.is_empty() {
        true => "nothing".to_owned(),
        false => format!("these rows ({})", kinds.join(", ")),
    };
    let name = sanitized_line(&user.to_string());
    Ok(Failure::usage(format!(
        "nothing was erased: {} has {found} of {name}\n\
         Pass --yes to erase everything except for tokens and costs. It cannot be undone.",
        opened.name
    )))
}

fn actor(args: &UserArgs) -> Actor {
    Actor::new(args.tenant.as_str(), args.user.as_str())
}

/// Returns the stored answers of a user about tools, which are kept beside the database of the program, as rows.
fn grant_rows(args: &UserArgs) -> Result<Vec<Value>, Failure> {
    if args.file.is_some() {
        return Ok(Vec::new());
    }
    let grants = grants_of(&actor(args)).map_err(Failure::usage)?.into_iter();
    Ok(grants
        .map(|(folder, grant)| json!({"row": "grant", "folder": folder, "grant": grant}))
        .collect())
}

/// Passes on each row that the database keeps of a user.
async fn for_each_row(
    opened: &Opened,
    user: &Actor,
    write: &mut (dyn FnMut(&Value) -> Result<(), StoreError> + Send),
) -> Result<(), StoreError> {
    for row in export_server_data(&opened.journal(), &opened.clock, user).await? {
        write(&row)?;
    }
    for row in export_files(&*opened.store, user).await? {
        write(&row)?;
    }
    let mut write = |row: UserDataRow| {
        let row = serde_json::to_value(row).map_err(|error| {
            let message = "a row cannot be written as JSON";
            StoreError::with_source(StoreErrorKind::Serialization, message, error)
        })?;
        write(&row)
    };
    export_user_data(&*opened.store, user, &mut write).await.map(drop)
}

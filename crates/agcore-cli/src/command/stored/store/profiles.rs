//! `agcore store profiles`: the profiles of users in the database.

use agcore::{
    profile::{ProfileDocument, ProfileSource, Uuid},
    session::id,
};
use agcore_args::{ListProfilesArgs, ProfileArgs, ProfilesCommand, PutProfilesArgs};
use agcore_server::StoredProfiles;
use agcore_terminal::render::sanitized_line;
use serde_json::{Value, json};

use super::opened::{Opened, text_of};

use crate::{exit::Failure, stdout::print};

/// The number of profiles that are listed at once.
const PAGE: u64 = 200;

/// Stores, lists, shows or deletes profiles.
///
/// # Errors
/// When a profile is not valid, there is none, or the database cannot be used.
pub(super) async fn run(command: &ProfilesCommand) -> Result<(), Failure> {
    match command {
        ProfilesCommand::Put(args) => put(args).await,
        ProfilesCommand::List(args) => list(args).await,
        ProfilesCommand::Show(args) => show(args).await,
        ProfilesCommand::Delete(args) => delete(args).await,
    }
}

fn stored(opened: &Opened, tenant: &str) -> StoredProfiles {
    StoredProfiles::new(opened.journal(), opened.clock.clone(), tenant)
}

async fn put(args: &PutProfilesArgs) -> Result<(), Failure> {
    let name = sanitized_line(&args.document.path.display().to_string());
    let text = text_of(&args.document.path)?;
    let is_toml = args
        .document
        .path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    // All of them are checked before one is stored.
    let document = match is_toml {
        true => ProfileDocument::from_toml(&text),
        false => ProfileDocument::from_yaml(&text),
    };
    let document = document.map_err(|error| Failure::task(format!("{name} is not valid: {error}")))?;
    let opened = Opened::of(args.document.file.as_deref()).await?;
    let (stored, mut lines) = (stored(&opened, &args.tenant), String::new());
    for user in document.users() {
        let found = document.profile(user).await;
        let Some(profile) = found.map_err(|error| Failure::task(error.to_string()))? else {
            continue;
        };
        let version = stored.get(user).await?.map_or(0, |(version, _)| version);
        let version = stored.save(&profile, version).await?;
        lines += &format!("{user} has version {version}.\n");
    }
    print(&lines)
}

async fn list(args: &ListProfilesArgs) -> Result<(), Failure> {
    let opened = Opened::of(args.file.as_deref()).await?;
    let stored = stored(&opened, &args.tenant);
    let prefix = id::prefix(["profile", args.tenant.as_str()]);
    let (mut rows, mut last): (Vec<Value>, Option<String>) = (Vec::new(), None);
    loop {
        let page = opened.store.streams(&prefix, last.as_deref(), PAGE).await?;
        let Some(end) = page.last() else { break };
        last = Some(end.clone());
        for stream in page {
            let user = stream.strip_prefix(&prefix).and_then(|user| Uuid::parse_str(user).ok());
            let Some(user) = user else { continue };
            if let Some((version, profile)) = stored.get(user).await? {
                rows.push(json!({"user": user.to_string(), "name": profile.username, "version": version}));
            }
        }
    }
    if args.json {
        return print(&format!("{:#}\n", json!({"file": opened.name, "profiles": rows})));
    }
    let line = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        sanitized_line(&format!(
            "{}  version {}  {}",
            text("user"),
            row["version"],
            text("name")
        )) + "\n"
    };
    print(&rows.iter().map(line).collect::<String>())
}

async fn show(args: &ProfileArgs) -> Result<(), Failure> {
    let opened = Opened::of(args.file.as_deref()).await?;
    let Some((version, profile)) = stored(&opened, &args.tenant).get(args.user).await? else {
        return Err(missing(args, &opened));
    };
    let result = json!({
        "user": args.user.to_string(),
        "version": version,
        "username": profile.username,
        "bio": profile.bio,
        "settings": profile.settings,
    });
    print(&format!("{result:#}\n"))
}

async fn delete(args: &ProfileArgs) -> Result<(), Failure> {
    let opened = Opened::of(args.file.as_deref()).await?;
    match stored(&opened, &args.tenant).delete(args.user).await? {
        true => print(&format!("The profile of {} is deleted.\n", args.user)),
        false => Err(missing(args, &opened)),
    }
}

fn missing(args: &ProfileArgs, opened: &Opened) -> Failure {
    Failure::task(format!(
        "{} has no profile of {}\n`agcore store profiles list` lists them.",
        opened.name, args.user
    ))
}

//! `agcore trust`: remembers that the user trusts the files of a folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use agcore::{chat::Clock, llm::SystemClock};
use agcore_args::TrustArgs;
use agcore_settings::{
    Choices, Folder, SettingsOptions,
    trust::{Trust, TrustStore, TrustedFolder},
};
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Color, sanitized_line},
    table::table,
};
use serde_json::json;

use crate::{
    exit::Failure,
    stdout::print,
    trust_dialog::{ask, description, fitting, fitting_path, is_at_terminal, print_question},
};

/// Runs `agcore trust`.
///
/// # Errors
/// When the files or the list of trusted folders cannot be read or written, or there is no terminal at which to ask.
pub(crate) async fn run(args: &TrustArgs, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    let store = TrustStore::of_user();
    if args.list {
        return list(&store, args.json);
    }
    if let Some(folder) = &args.revoke {
        return revoke(&store, folder);
    }
    let folder = Choices::open_folder(&SettingsOptions::default())?;
    let path = shown(folder.snapshot.folder.as_deref().unwrap_or(Path::new(".")));
    if folder.trust == Trust::Remembered {
        let head = fitting_path(&format!("{path} is already trusted."));
        return print(&format!("{head}\n{}", fitting(&description(&folder))));
    }
    if folder.snapshot.files.is_empty() {
        return print(&fitting_path(&format!("{path} contains no files that need trust.\n")));
    }
    if !args.yes && !is_at_terminal() {
        return Err(Failure::usage(format!(
            "cannot ask whether to trust this folder, because there is no terminal\nReview these files and pass --yes to trust \
             them:\n{}",
            description(&folder).trim_end()
        )));
    }
    decide(args, &store, &folder, interrupts, color).await?;
    print(&fitting_path(&format!(
        "{path} is trusted. If its files change, you are asked again.\n"
    )))
}

/// Shows the files, asks, and remembers the answer.
async fn decide(
    args: &TrustArgs,
    store: &TrustStore,
    folder: &Folder,
    interrupts: &Interrupts,
    color: Color,
) -> Result<(), Failure> {
    if args.yes {
        print(&fitting(&description(folder)))?;
    } else {
        print_question(folder, color, "")?;
        if !ask(interrupts).await? {
            return Err(Failure::task("the folder is not trusted: you answered no"));
        }
    }
    store
        .add(&folder.snapshot, SystemClock::new().now())
        .map_err(Failure::usage)
}

fn list(store: &TrustStore, as_json: bool) -> Result<(), Failure> {
    let folders = store.folders().map_err(Failure::usage)?;
    if as_json {
        let entry = |(folder, TrustedFolder { trusted_at, files }): (String, TrustedFolder)| json!({"folder": folder, "trusted_at": trusted_at, "files": files});
        let folders: Vec<_> = folders.into_iter().map(entry).collect();
        return print(&format!("{:#}\n", json!({"folders": folders})));
    }
    if folders.is_empty() {
        return print("No folder is trusted.\n");
    }
    let row = |(folder, trusted): (&String, &TrustedFolder)| {
        let files: Vec<String> = trusted.files.keys().map(|name| sanitized_line(name)).collect();
        [sanitized_line(folder), trusted.trusted_at.clone(), files.join(", ")]
    };
    print(&table(&folders.iter().map(row).collect::<Vec<_>>()))
}

fn revoke(store: &TrustStore, folder: &Path) -> Result<(), Failure> {
    // A folder that no longer exists is named by its path.
    let folder: PathBuf = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    match store.remove(&folder).map_err(Failure::usage)? {
        true => print(&fitting_path(&format!("{} is no longer trusted.\n", shown(&folder)))),
        false => Err(Failure::task(format!(
            "{} is not trusted; `agcore trust --list` shows the trusted folders",
            shown(&folder)
        ))),
    }
}

fn shown(path: &Path) -> String {
    sanitized_line(&path.display().to_string())
}

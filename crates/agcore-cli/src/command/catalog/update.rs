//! `agcore catalog update`: takes list prices from a public list.

mod origin;

use std::{fs, io, path::Path};

use agcore::{
    catalog::{ChangeKind, Snapshot, SnapshotChange, SnapshotImport, SnapshotSource, SourceFormat},
    chat::Clock,
    llm::SystemClock,
    session::Timestamp,
};
use agcore_args::UpdateArgs;
use agcore_settings::places::user_snapshot;
use agcore_terminal::{interrupt::Interrupts, render::sanitized_line};

use self::origin::Origin;

use crate::{
    exit::Failure,
    prices::snapshot,
    stdout::print,
    trust_dialog::{ask_yes_or_no, is_at_terminal},
};

/// The most differences that are shown without `--all`.
const SHOWN: usize = 40;

/// Shows how a list differs from the prices in force, and writes it if the user agrees.
///
/// # Errors
/// When the list cannot be read, is damaged or hostile, when no one agrees, or the file cannot be written.
pub(super) async fn run(args: &UpdateArgs, interrupts: &Interrupts) -> Result<(), Failure> {
    let path = user_snapshot().ok_or_else(|| {
        Failure::usage("there is no place for the list: no variable names the directory of your settings; set HOME")
    })?;
    let origin = Origin::of(&args.from)?;
    // A damaged file is replaced.
    let (before, title) = snapshot::in_force().unwrap_or_else(|_| snapshot::built_in());
    let text = origin.read().await?;
    let import = import(&before, &origin, &text)?;
    let changes = before.changes_to(&import.snapshot);
    print(&described(&changes, &import, &title, args.all))?;
    if changes.is_empty() {
        return print("Nothing is written, because nothing is different.\n");
    }
    if !args.yes {
        if !is_at_terminal() {
            let shown = path.display();
            let message = format!("{shown} was not written: there is no terminal at which to ask; pass --yes");
            return Err(Failure::usage(message));
        }
        let prompt = format!("Write these prices to {}? [y]es, [n]o: ", path.display());
        if !ask_yes_or_no(&prompt, interrupts).await? {
            return Err(Failure::task("nothing was written: you answered no"));
        }
    }
    write(&path, import.snapshot.as_text())
        .map_err(|error| Failure::task(format!("cannot write {}: {error}", path.display())))?;
    print(&format!("{} is written.\n", path.display()))
}

/// Reads the list into the prices in force.
fn import(before: &Snapshot, origin: &Origin, text: &str) -> Result<SnapshotImport, Failure> {
    let name = origin.name();
    let refused = |reason: &str| {
        Failure::task(format!(
            "the list of {name} is refused, and nothing was written: {reason}"
        ))
    };
    let format = SourceFormat::of(text).ok_or_else(|| {
        refused("it is not JSON of LiteLLM or models.dev, or it names a member twice; check the address or the file")
    })?;
    if format == SourceFormat::Snapshot {
        // It would also decide which hosts are those of a vendor, and its prices were compared with nothing.
        return Err(refused(
            "it is a list of this program, not one of LiteLLM or models.dev",
        ));
    }
    let today = Timestamp::from(SystemClock::new().now()).to_string();
    let source = SnapshotSource {
        key: origin.key(format).to_owned(),
        name: origin.key(format).to_owned(),
        date: today.get(..10).unwrap_or_default().to_owned(),
        url: origin.url().unwrap_or_default().to_owned(),
        ..SnapshotSource::default()
    };
    before
        .import(format, source, text)
        .map_err(|problem| refused(&sanitized_line(&problem.to_string())))
}

/// Describes the differences.
fn described(changes: &[SnapshotChange], import: &SnapshotImport, title: &str, shows_all: bool) -> String {
    let mut text = String::new();
    let shown = if shows_all { changes.len() } else { SHOWN };
    for change in changes.iter().take(shown) {
        text += &format!("{}\n", sanitized_line(&change.to_string()));
    }
    if changes.len() > shown {
        text += &format!("and {} more; --all shows them\n", changes.len() - shown);
    }
    let left_out = import
        .skipped
        .iter()
        .map(|problem| sanitized_line(&problem.to_string()));
    let shown = if shows_all { import.skipped.len() } else { SHOWN };
    text.extend(left_out.take(shown).map(|problem| format!("! {problem}\n")));
    let count = |kind: ChangeKind| changes.iter().filter(|change| change.kind == kind).count();
    let skipped = match import.skipped.len() {
        0 => String::new(),
        count => format!(", {count} left out because their prices are implausible or cannot be expressed"),
    };
    text + &format!(
        "Compared with {title}: {} new, {} removed, {} with other prices, {} with other limits or capabilities{skipped}.\n",
        count(ChangeKind::Added),
        count(ChangeKind::Removed),
        count(ChangeKind::Price),
        count(ChangeKind::Facts),
    )
}

/// Writes a file as a whole: a program that reads it at the same time sees the old or the new one.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let part = path.with_extension(format!("{}.part", std::process::id()));
    let written = fs::write(&part, text)
        .and_then(|()| fs::File::open(&part)?.sync_all())
        .and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&part);
    }
    written
}

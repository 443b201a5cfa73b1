//! `agcore store prune`: removes old rows.

use std::time::Duration;

use agcore::session::{Pruned, Retention};
use agcore_args::PruneArgs;
use agcore_server::{FileRetention, prunable_files, prune_files};
use serde_json::json;

use super::opened::{Opened, open_files};

use crate::{exit::Failure, stdout::print};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The largest number of rows of a kind that is removed at once, so that others can write in between.
const BATCH: u64 = 200;

/// Removes or counts old rows.
///
/// # Errors
/// When no rule is given, or the database cannot be used.
pub(super) async fn run(args: &PruneArgs) -> Result<(), Failure> {
    let (rules, file_rules) = (rules(args), file_rules(args));
    if rules.is_empty() && file_rules.is_empty() {
        return Err(Failure::usage(
            "no rule states what is old\nPass --sessions-days, --sessions-per-user, --runs-days, --runs-per-session, --events-days, \
             --audit-days, --files-days or --files-per-user.",
        ));
    }
    let opened = Opened::of(args.database.file.as_deref()).await?;
    let storage = open_files(args.files.as_deref())?;
    let (mut pruned, mut files) = (Pruned::default(), 0);
    if args.dry_run {
        pruned = opened.store.prunable(&rules).await?;
        files = prunable_files(&*opened.store, &*opened.clock, &file_rules).await?;
    } else {
        loop {
            let batch = opened.store.prune(&rules, BATCH).await?;
            if batch.is_empty() {
                break;
            }
            pruned.add(batch);
        }
        if let Some(storage) = &storage {
            files = prune_files(&*opened.store, storage, &*opened.clock, &file_rules).await?;
        }
    }
    if args.database.json {
        let result = json!({
            "file": opened.name,
            "dry_run": args.dry_run,
            "sessions": pruned.sessions,
            "runs": pruned.runs,
            "events": pruned.events,
            "audit_messages": pruned.audit_messages,
            "files": files,
        });
        return print(&format!("{result:#}\n"));
    }
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    print(&format!(
        "{verb} {} sessions, {} runs, {} events, {files} uploaded files and the content of {} audit messages in {}.\n",
        pruned.sessions, pruned.runs, pruned.events, pruned.audit_messages, opened.name
    ))
}

fn file_rules(args: &PruneArgs) -> FileRetention {
    let mut rules = FileRetention::new();
    rules.age = args.files_days.map(|days| DAY * days);
    rules.per_user = args.files_per_user;
    rules
}

fn rules(args: &PruneArgs) -> Retention {
    let age = |days: Option<u32>| days.map(|days| DAY * days);
    let mut rules = Retention::new();
    rules.sessions = age(args.sessions_days);
    rules.sessions_per_user = args.sessions_per_user;
    rules.runs = age(args.runs_days);
    rules.runs_per_session = args.runs_per_session;
    rules.events = age(args.events_days);
    rules.audit = age(args.audit_days);
    rules
}

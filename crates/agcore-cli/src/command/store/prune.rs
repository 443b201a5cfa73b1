//! `agcore store prune`: removes old rows.

use std::time::Duration;

use agcore::memory::session::{Pruned, Retention};
use serde_json::json;

use super::opened::Opened;
use crate::{args::PruneArgs, exit::Failure, process::print};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The largest number of rows of a kind that is removed at once, so that others can write in between.
const BATCH: u64 = 200;

/// Removes or counts old rows.
///
/// # Errors
/// When no rule is given, or the database cannot be used.
pub(super) async fn run(args: &PruneArgs) -> Result<(), Failure> {
    let rules = rules(args);
    if rules.is_empty() {
        return Err(Failure::usage(
            "no rule states what is old\nPass --sessions-days, --sessions-per-user, --runs-days, --runs-per-session, --events-days or \
             --audit-days.",
        ));
    }
    let opened = Opened::of(args.database.file.as_deref()).await?;
    let mut pruned = Pruned::default();
    if args.dry_run {
        pruned = opened.store.prunable(&rules).await?;
    } else {
        loop {
            let batch = opened.store.prune(&rules, BATCH).await?;
            if batch.is_empty() {
                break;
            }
            pruned.add(batch);
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
        });
        return print(&format!("{result:#}\n"));
    }
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    print(&format!(
        "{verb} {} sessions, {} runs, {} events and the content of {} audit messages in {}.\n",
        pruned.sessions, pruned.runs, pruned.events, pruned.audit_messages, opened.name
    ))
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

//! Sessions as rows of a table for people.

use std::{
    io::{self, IsTerminal},
    time::{Duration, SystemTime},
};

use agcore::memory::{
    Timestamp,
    session::{Session, SessionStatus},
};

use super::{find::short_ids, folder_of};
use crate::{
    render::{columns, sanitized_line, truncated, window_width},
    table::table,
    utc::utc,
};

/// The widest title, in columns.
const MAX_TITLE: usize = 40;

/// Formats sessions as a table: the beginning of the id, the time of the last change in UTC, what is open, title and folder.
/// In a window that is narrower than the table, each session has lines of its own for its title and its folder.
pub(crate) fn session_table(sessions: &[Session]) -> String {
    let width = if io::stdout().is_terminal() {
        window_width()
    } else {
        usize::MAX
    };
    laid_out(&session_rows(sessions), width)
}

fn laid_out(rows: &[[String; 5]], width: usize) -> String {
    let whole = table(rows);
    if whole.lines().all(|line| columns(line) <= width) {
        return whole;
    }
    let lines = |[id, time, state, title, folder]: &[String; 5]| {
        let first = [id, time, state].map(String::as_str).join("  ");
        let details = [title, folder].map(|text| format!("  {text}"));
        std::iter::once(first)
            .chain(details)
            .map(|line| truncated(line.trim_end(), width) + "\n")
            .collect::<String>()
    };
    rows.iter().map(lines).collect()
}

/// Returns the rows of the table.
pub(crate) fn session_rows(sessions: &[Session]) -> Vec<[String; 5]> {
    let row = |(session, id): (&Session, String)| {
        [
            sanitized_line(&id),
            minutes(session.updated_at),
            state(session).to_owned(),
            truncated(session.title.as_deref().unwrap_or_default(), MAX_TITLE),
            sanitized_line(folder_of(session).unwrap_or_default()),
        ]
    };
    sessions.iter().zip(short_ids(sessions)).map(row).collect()
}

/// Formats a time as `2026-01-31T08:09:10Z`.
pub(crate) fn time(timestamp: Timestamp) -> String {
    let millis = u64::try_from(timestamp.as_millis()).unwrap_or(0);
    utc(SystemTime::UNIX_EPOCH + Duration::from_millis(millis))
}

/// Formats the day of a time as `2026-01-31`.
pub(crate) fn day(timestamp: Timestamp) -> String {
    time(timestamp).chars().take(10).collect()
}

/// Formats a time as `2026-01-31 08:09`.
fn minutes(timestamp: Timestamp) -> String {
    time(timestamp).replace('T', " ").chars().take(16).collect()
}

/// Describes what became of the last turn. Of a turn that is running, it is not known whether its process still exists.
fn state(session: &Session) -> &'static str {
    match session.status {
        SessionStatus::Pending if session.pending_tool_call_id.is_some() => "waiting",
        SessionStatus::Running => "unfinished",
        SessionStatus::Failed => "failed",
        SessionStatus::Pending | SessionStatus::Completed => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_windows_show_titles_and_folders_on_their_own_lines() {
        let rows = [[
            "01a2",
            "2026-01-31 08:09",
            "failed",
            "葡萄牙的首都是哪里？",
            "/srv/trip",
        ]
        .map(str::to_owned)];
        assert_eq!(
            laid_out(&rows, 80),
            "01a2  2026-01-31 08:09  failed  葡萄牙的首都是哪里？  /srv/trip\n"
        );
        assert_eq!(
            laid_out(&rows, 20),
            "01a2  2026-01-31 08…\n  葡萄牙的首都是哪…\n  /srv/trip\n"
        );
    }
}

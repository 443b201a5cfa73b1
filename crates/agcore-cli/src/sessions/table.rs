//! Sessions as rows of a table for people.

use std::time::{Duration, SystemTime};

use agcore::memory::{
    Timestamp,
    session::{Session, SessionStatus},
};

use super::{find::short_ids, folder_of};
use crate::{
    render::{sanitized_line, truncated},
    table::table,
    utc::utc,
};

/// The widest title, in columns.
const MAX_TITLE: usize = 40;

/// Formats sessions as a table: the beginning of the id, the time of the last change in UTC, what is open, title and folder.
pub(crate) fn session_table(sessions: &[Session]) -> String {
    table(&session_rows(sessions))
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

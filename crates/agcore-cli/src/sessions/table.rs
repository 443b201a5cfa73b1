//! Sessions as rows of a table for people.

use std::time::{Duration, SystemTime};

use agcore::{
    chat::FaultKind,
    memory::{
        Timestamp,
        session::{Session, SessionStatus},
    },
};

use super::{SINGLE, Sessions, folder_of};
use crate::{
    exit::Failure,
    render::{columns, sanitized_line, truncated},
    table::{table, table_width},
    utc::utc,
};

/// The state of a last turn that needs no attention.
const COMPLETED: &str = "completed";

/// The widest title, in columns.
const MAX_TITLE: usize = 40;

/// The headings of the columns.
const HEADINGS: [&str; 5] = ["session", "changed (UTC)", "last turn", "title", "folder"];

impl Sessions {
    /// Formats sessions as a table: the beginning of the id, the time of the last change in UTC, what became of the last turn, title
    /// and folder.
    /// In a window that is narrower than the table, each session has lines of its own for its title and its folder.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn table(&self, sessions: &[Session]) -> Result<String, Failure> {
        self.marked_table(sessions, &[]).await
    }

    /// Like [`table`](Self::table), with a note below each session.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) async fn marked_table(&self, sessions: &[Session], notes: &[String]) -> Result<String, Failure> {
        Ok(laid_out(&headings(), &self.rows(sessions).await?, notes, table_width()))
    }

    /// Returns the rows of the table.
    async fn rows(&self, sessions: &[Session]) -> Result<Vec<[String; 5]>, Failure> {
        let ids = self.short_ids(sessions).await?;
        Ok(sessions.iter().zip(ids).map(row).collect())
    }
}

/// Formats sessions, of which the one changed last comes first, as a table to choose from: each has a line with its number, which ends
/// at the window. Number 1 is the last line, next to the question below the table.
pub(crate) fn numbered_table(sessions: &[Session]) -> String {
    numbered(sessions, table_width())
}

fn numbered(sessions: &[Session], width: usize) -> String {
    let [_, time, state, title, folder] = headings();
    let row = |(session, number): (&Session, u32)| {
        let [_, time, state, title, folder] = row((session, String::new()));
        let is_single = state.is_empty() && session.metadata.contains_key(SINGLE);
        let state = if is_single { "-p".to_owned() } else { state };
        [format!("{number:>2}"), time, state, title, folder]
    };
    let mut rows: Vec<[String; 5]> = sessions.iter().zip(1..).map(row).collect();
    rows.push([String::new(), time, state, title, folder]);
    rows.reverse();
    let lines = table(&rows);
    lines.lines().map(|line| truncated(line, width) + "\n").collect()
}

fn headings() -> [String; 5] {
    HEADINGS.map(str::to_owned)
}

/// Lays out rows whose last two cells are the title and the folder. Without rows, the text is empty.
fn laid_out<const N: usize>(headings: &[String; N], rows: &[[String; N]], notes: &[String], width: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let whole = table(&[std::slice::from_ref(headings), rows].concat());
    let fits = whole.lines().all(|line| columns(line) <= width);
    let mut lines = whole.lines();
    let mut text = lines
        .next()
        .filter(|_| fits)
        .map(|line| format!("{line}\n"))
        .unwrap_or_default();
    for (index, row) in rows.iter().enumerate() {
        let line = lines.next().unwrap_or_default();
        text += &if fits { format!("{line}\n") } else { narrow(row, width) };
        if let Some(note) = notes.get(index) {
            text += &(truncated(&format!("  {note}"), width) + "\n");
        }
    }
    text
}

/// Lays out a row on several lines.
fn narrow<const N: usize>(row: &[String; N], width: usize) -> String {
    let (head, details) = row.split_at(N.saturating_sub(2));
    let head: Vec<&str> = head
        .iter()
        .map(String::as_str)
        .filter(|cell| !cell.is_empty())
        .collect();
    let details = details
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| format!("  {text}"));
    [head.join("  ")]
        .into_iter()
        .chain(details)
        .map(|line| truncated(line.trim_end(), width) + "\n")
        .collect()
}

fn row((session, id): (&Session, String)) -> [String; 5] {
    [
        sanitized_line(&id),
        minutes(session.updated_at),
        last_turn(session)
            .filter(|state| *state != COMPLETED)
            .unwrap_or_default()
            .to_owned(),
        truncated(session.title.as_deref().unwrap_or_default(), MAX_TITLE),
        sanitized_line(folder_of(session).unwrap_or_default()),
    ]
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

/// Describes what became of the last turn, if one was started. Of a turn that is running, it is not known whether its process still
/// exists.
pub(crate) fn last_turn(session: &Session) -> Option<&'static str> {
    let is_cancelled = session.error_id.as_deref() == Some(FaultKind::Cancelled.as_str());
    match session.status {
        SessionStatus::Pending if session.pending_tool_call_id.is_some() => Some("waiting"),
        SessionStatus::Pending => None,
        SessionStatus::Running => Some("unfinished"),
        SessionStatus::Failed if is_cancelled => Some("cancelled"),
        SessionStatus::Failed => Some("failed"),
        SessionStatus::Completed => Some(COMPLETED),
    }
}

#[cfg(test)]
mod tests {
    use agcore::memory::session::NewSession;

    use super::*;

    #[test]
    fn the_newest_of_the_numbered_sessions_is_the_last_line() {
        let session = |id: &str, title: &str| {
            let mut session = NewSession::new(id).create(Timestamp::from_millis(0));
            session.title = Some(title.to_owned());
            session.metadata.insert("folder".to_owned(), "/srv/a/long/name".into());
            session
        };
        let mut sessions = [session("b", "new"), session("a", "old")];
        sessions[0].metadata.insert(SINGLE.to_owned(), "true".into());
        assert_eq!(
            numbered(&sessions, 48),
            "    changed (UTC)     last turn  title  folder\n \
             2  1970-01-01 00:00             old    /srv/a/…\n \
             1  1970-01-01 00:00  -p         new    /srv/a/…\n"
        );
    }

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
            laid_out(&headings(), &rows, &[], 80),
            "session  changed (UTC)     last turn  title                 folder\n\
             01a2     2026-01-31 08:09  failed     葡萄牙的首都是哪里？  /srv/trip\n"
        );
        assert_eq!(laid_out(&headings(), &[], &[], 80), "");
        let notes = ["里斯本是葡萄牙的首都。".to_owned()];
        assert_eq!(
            laid_out(&headings(), &rows, &notes, 20),
            "01a2  2026-01-31 08…\n  葡萄牙的首都是哪…\n  /srv/trip\n  里斯本是葡萄牙的…\n"
        );
    }
}

//! Sessions as rows of a table for people.

use agcore::{
    chat::FaultKind,
    session::{Session, SessionStatus, Timestamp},
};
use agcore_terminal::{
    render::{columns, sanitized_line, truncated},
    table::{table, table_width},
};

use super::{SINGLE, Sessions, folder_of};
use crate::exit::Failure;

/// The state of a last turn that needs no attention.
const COMPLETED: &str = "completed";

/// The widest title, in columns.
const MAX_TITLE: usize = 40;

/// The width that is enough to distinguish titles, in columns.
const MIN_TITLE: usize = 24;

/// The same for a folder.
const MIN_FOLDER: usize = 8;

/// The headings of the columns.
const HEADINGS: [&str; 5] = ["session", "changed (UTC)", "last turn", "title", "folder"];

impl Sessions {
    /// Formats sessions as a table: the beginning of the id, the time of the last change in UTC, what became of the last turn,
    /// title and folder.
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

/// Formats sessions, the one changed last first, as a table to choose from: each has a line with its number, which ends at the
/// window. Number 1 is the last line, next to the question below the table. In a narrow window, the title takes the place of
/// the folder, and then of the time and the alignment.
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
    let widest = |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
    let available = width.saturating_sub(widest(0) + widest(1) + widest(2) + 6);
    let (title, folder) = (widest(3), widest(4));
    let lines = if available >= title + 2 + folder.min(MIN_FOLDER) {
        table(&rows)
    } else if available >= title.min(MIN_TITLE) {
        let without_folder = |[number, time, state, title, _]: [String; 5]| [number, time, state, title];
        table(&rows.into_iter().map(without_folder).collect::<Vec<_>>())
    } else {
        rows.iter().skip(1).map(compact).collect()
    };
    lines.lines().map(|line| truncated(line, width) + "\n").collect()
}

/// Formats a numbered row for a narrow window: number, day, state if there is one, and title.
fn compact([number, time, state, title, _]: &[String; 5]) -> String {
    let day: String = time.chars().take(10).collect();
    let cells = [number, &day, state, title];
    let cells: Vec<&str> = cells
        .into_iter()
        .map(String::as_str)
        .filter(|cell| !cell.is_empty())
        .collect();
    format!("{}\n", cells.join("  "))
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
    timestamp.to_text_in_seconds()
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
    use agcore::session::NewSession;

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
    fn titles_to_choose_from_need_their_place_more_than_folders() {
        let mut session = NewSession::new("a").create(Timestamp::from_millis(0));
        session.title = Some("use arithmetic to compute the area".to_owned());
        session.metadata.insert("folder".to_owned(), "/srv/a".into());
        session.metadata.insert(SINGLE.to_owned(), "true".into());
        let check = |width: usize, expected: &str| assert_eq!(numbered(&[session.clone()], width), expected, "{width}");
        check(
            75,
            "    changed (UTC)     last turn  title                               folder\n \
             1  1970-01-01 00:00  -p         use arithmetic to compute the area  /srv/a\n",
        );
        check(
            60,
            "    changed (UTC)     last turn  title\n \
             1  1970-01-01 00:00  -p         use arithmetic to compute …\n",
        );
        check(40, " 1  1970-01-01  -p  use arithmetic to c…\n");
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

//! Parameters of requests, and places in lists.

use agcore_session::{ApprovalCursor, DeadLetterCursor, RunCursor, SessionCursor, Timestamp, id};
use axum::extract::Query;
use http::Uri;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The largest number of entries on a page.
pub(super) const MAX_PAGE: u64 = 200;

/// Reads the parameters of a request.
///
/// # Errors
/// `invalid_request` if one has a wrong form.
pub(crate) fn parameters<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let parsed = Query::try_from_uri(uri);
    let Query(parameters) =
        parsed.map_err(|_| Problem::invalid("a parameter of the query is missing or has a wrong form; see /docs"))?;
    Ok(parameters)
}

/// Returns the size of a page.
///
/// # Errors
/// `invalid_request` if it is 0 or too large.
pub(super) fn page_size(limit: Option<u64>) -> Result<u64, Problem> {
    match limit.unwrap_or(50) {
        limit @ 1..=MAX_PAGE => Ok(limit),
        _ => Err(Problem::invalid(format!("`limit` must be from 1 to {MAX_PAGE}"))),
    }
}

/// Returns a place in a list of sessions as a text without meaning for clients.
pub(crate) fn cursor_text(cursor: &SessionCursor) -> String {
    hex(&format!("{}.{}", cursor.updated_at.as_millis(), cursor.id))
}

/// Returns a place in a list of dead letters as a text without meaning for clients.
pub(crate) fn dead_letter_cursor_text(cursor: &DeadLetterCursor) -> String {
    let ids = id::join([&cursor.session, &cursor.run]);
    hex(&format!("{}.{ids}", cursor.at.as_millis()))
}

/// Returns a place in a list of runs as a text without meaning for clients.
pub(crate) fn run_cursor_text(cursor: &RunCursor) -> String {
    let ids = id::join([&cursor.session, &cursor.run]);
    hex(&format!("{}.{ids}", cursor.created_at.as_millis()))
}

/// Returns a place in a list of questions as a text without meaning for clients.
pub(crate) fn question_cursor_text(cursor: &ApprovalCursor) -> String {
    let ids = id::join([&cursor.session, &cursor.id]);
    hex(&format!("{}.{ids}", cursor.asked_at.as_millis()))
}

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut hex, byte| {
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Reads what [`cursor_text`] has returned.
///
/// # Errors
/// `invalid_request` if the text is not a cursor.
pub(crate) fn cursor(text: &str) -> Result<SessionCursor, Problem> {
    read_cursor(text).ok_or_else(foreign)
}

/// Reads what [`dead_letter_cursor_text`] has returned.
///
/// # Errors
/// `invalid_request` if the text is not a cursor.
pub(crate) fn dead_letter_cursor(text: &str) -> Result<DeadLetterCursor, Problem> {
    let (at, [session, run]) = read_ids(text).ok_or_else(foreign)?;
    Ok(DeadLetterCursor { at, session, run })
}

/// Reads what [`run_cursor_text`] has returned.
///
/// # Errors
/// `invalid_request` if the text is not a cursor.
pub(crate) fn run_cursor(text: &str) -> Result<RunCursor, Problem> {
    let (at, [session, run]) = read_ids(text).ok_or_else(foreign)?;
    Ok(RunCursor::new(at, session, run))
}

/// Reads what [`question_cursor_text`] has returned.
///
/// # Errors
/// `invalid_request` if the text is not a cursor.
pub(crate) fn question_cursor(text: &str) -> Result<ApprovalCursor, Problem> {
    let (at, [session, id]) = read_ids(text).ok_or_else(foreign)?;
    Ok(ApprovalCursor::new(at, session, id))
}

/// Reads a time and two ids.
fn read_ids(text: &str) -> Option<(Timestamp, [String; 2])> {
    let (at, ids) = read_place(text)?;
    Some((at, <[String; 2]>::try_from(id::split(&ids)?).ok()?))
}

fn foreign() -> Problem {
    Problem::invalid("`cursor` must be one that the server has returned")
}

fn read_cursor(text: &str) -> Option<SessionCursor> {
    let (updated_at, id) = read_place(text)?;
    serde_json::from_value(serde_json::json!({"updated_at": updated_at, "id": id})).ok()
}

/// Reads a time and the text after it.
fn read_place(text: &str) -> Option<(Timestamp, String)> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    let bytes: Result<Vec<u8>, _> = (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16))
        .collect();
    let text = String::from_utf8(bytes.ok()?).ok()?;
    let (millis, rest) = text.split_once('.')?;
    Some((Timestamp::from_millis(millis.parse().ok()?), rest.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cursors_of_the_server_are_read() {
        let place = read_cursor("31302e742f31").unwrap();
        assert_eq!((place.updated_at.as_millis(), &*place.id), (10, "t/1"));
        assert_eq!(cursor_text(&place), "31302e742f31");
        for text in ["", "3", "zz", "31302e", "é", "+1+1", "612e62"] {
            assert!(read_cursor(text).is_none_or(|place| place.id.is_empty()), "{text}");
        }
    }

    #[test]
    fn places_have_ids_of_all_characters() {
        for (session, run) in [("t", "r"), ("a/b.c", "%"), ("\u{1f600}", "x y")] {
            let place = DeadLetterCursor {
                at: Timestamp::from_millis(7),
                session: session.to_owned(),
                run: run.to_owned(),
            };
            assert_eq!(dead_letter_cursor(&dead_letter_cursor_text(&place)).unwrap(), place);
            let place = RunCursor::new(Timestamp::from_millis(7), session, run);
            assert_eq!(run_cursor(&run_cursor_text(&place)).unwrap(), place);
            let place = ApprovalCursor::new(Timestamp::from_millis(7), session, run);
            assert_eq!(question_cursor(&question_cursor_text(&place)).unwrap(), place);
        }
        for wrong in ["", "31302e74", "31302e742f722f78", "zz", "31302e742f2525"] {
            assert!(dead_letter_cursor(wrong).is_err(), "{wrong}");
            assert!(run_cursor(wrong).is_err() && question_cursor(wrong).is_err(), "{wrong}");
        }
    }
}

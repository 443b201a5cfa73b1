//! Finds sessions by what was written in them.

use agcore::session::{MessageFilter, MessageMetadata, Session, StoredMessage};
use agcore_terminal::render::truncated;

use super::{Extent, Sessions};
use crate::exit::Failure;

/// The number of characters in front of a match that are shown.
const BEFORE: usize = 20;

/// The widest excerpt, in columns.
const MAX_EXCERPT: usize = 76;

/// A session that contains a text.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The session.
    pub(crate) session: Session,
    /// The surroundings of the first place that contains the text, on one line.
    pub(crate) excerpt: String,
}

impl Sessions {
    /// Finds the sessions whose name or messages contain a text, those changed last first. Upper and lower case are the same.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn search(
        &self,
        text: &str,
        folder: Option<&str>,
        extent: Extent,
        limit: usize,
    ) -> Result<Vec<Found>, Failure> {
        let mut found = Vec::new();
        for session in self.list(folder, extent, usize::MAX).await? {
            if found.len() >= limit {
                break;
            }
            let messages = self
                .store
                .messages(session.tenant(), &session.id, &MessageFilter::new())
                .await?;
            let texts = messages.iter().filter(|message| is_conversation(message));
            let texts = texts.map(|message| message.content.as_str());
            let excerpt = texts
                .chain(session.title.as_deref())
                .find_map(|content| excerpt(content, text));
            found.extend(excerpt.map(|excerpt| Found { session, excerpt }));
        }
        Ok(found)
    }

    /// Formats sessions like a list of them, each with the place that was found.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn found_table(&self, found: &[Found]) -> Result<String, Failure> {
        let sessions: Vec<Session> = found.iter().map(|found| found.session.clone()).collect();
        let notes: Vec<String> = found.iter().map(|found| found.excerpt.clone()).collect();
        self.marked_table(&sessions, &notes).await
    }
}

/// Returns whether a message was written by the user or the model. Calls of tools and their results would bury these.
fn is_conversation(message: &StoredMessage) -> bool {
    !matches!(
        message.metadata,
        Some(MessageMetadata::ToolCall { .. } | MessageMetadata::ToolResult { .. })
    )
}

/// Returns the surroundings of the first place in a content that contains the text, on one line.
fn excerpt(content: &str, text: &str) -> Option<String> {
    let folded = |text: &str| -> Vec<char> { text.chars().map(lower).collect() };
    let (wanted, all) = (folded(text), folded(content));
    let at = all.windows(wanted.len().max(1)).position(|part| part == wanted)?;
    let start = at.saturating_sub(BEFORE);
    let ellipsis = if start > 0 { "…" } else { "" };
    let rest: String = content.chars().skip(start).collect();
    let line = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(truncated(&format!("{ellipsis}{line}"), MAX_EXCERPT))
}

/// Returns a character in lower case, or itself if its lower case has several characters, so that positions stay the same.
fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_surrounds_the_first_match() {
        let check = |content: &str, text: &str, expected: Option<&str>| {
            assert_eq!(excerpt(content, text).as_deref(), expected, "{content} {text}");
        };
        check("Take tram 28.", "TRAM", Some("Take tram 28."));
        check("one\n  two\tthree", "two", Some("one two three"));
        check("里斯本是葡萄牙的首都。", "葡萄牙", Some("里斯本是葡萄牙的首都。"));
        check(
            &format!("{}end", "x".repeat(100)),
            "end",
            Some(&format!("…{}end", "x".repeat(20))),
        );
        check("İstanbul", "stan", Some("İstanbul"));
        check("nothing", "tram", None);
        check("", "tram", None);
        let long = excerpt(&format!("tram {}", "字".repeat(200)), "tram").unwrap();
        assert!(
            long.ends_with('…') && agcore_terminal::render::columns(&long) <= MAX_EXCERPT,
            "{long}"
        );
    }
}

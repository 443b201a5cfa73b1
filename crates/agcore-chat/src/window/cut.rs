//! Cutting a history, and replacing the part before the cut with a summary.

use std::sync::Arc;

use crate::{
    content::{
        Content,
        marks::{Marks, Origin},
        part::ContentPart,
    },
    conversation::message::{Message, UserMessage},
};

/// Returns the last index at which a history can be cut so that at least `keep_recent` messages remain after the cut.
///
/// The index is that of an assistant message, so that no call is separated from its results. Returns `None` if nothing
/// could be removed between the first user message and the messages to keep.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{Message, safe_cut};
///
/// let history = [Message::user("A?"), Message::assistant("B."), Message::user("C?"), Message::assistant("D.")];
/// let history: Vec<Arc<Message>> = history.map(Arc::new).into();
/// assert_eq!(safe_cut(&history, 1), Some(3));
/// assert_eq!(safe_cut(&history, 3), None);
/// ```
pub fn safe_cut(messages: &[Arc<Message>], keep_recent: usize) -> Option<usize> {
    let (goal, _) = goal_of(messages)?;
    let latest = messages.len().checked_sub(keep_recent.max(1))?;
    (goal + 2..=latest)
        .rev()
        .find(|at| matches!(*messages[*at], Message::Assistant(_)))
}

/// The heading that introduces a summary to the model.
const SUMMARY_LEAD: &str = "[The conversation up to here was summed up to save space. What happened so far:]\n";

/// The heading that introduces the newest request of the user to the model.
const REQUEST_LEAD: &str = "[The user's newest request, word for word:]\n";

/// Replaces the messages between the first user message and the cut with a summary.
///
/// The result contains everything before the first user message, that message with the summary appended as a marked
/// part (in place of an earlier summary), the instructions of the application, and everything from the cut on. Messages
/// that do not change are shared with `messages`. If the newest user message is among the replaced ones, its parts are
/// appended after the summary, unabridged: in a long turn they are what the model is working on.
///
/// The result is a [valid](crate::validate_messages) history if `messages` is one and the cut comes from [`safe_cut`].
/// Without a user message before the cut, the history is returned unchanged.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{Message, summarized, summary_of};
///
/// let history: Vec<Arc<Message>> =
///     [Message::user("The goal."), Message::assistant("One."), Message::user("More."), Message::assistant("Two.")]
///         .map(Arc::new)
///         .into();
/// let short = summarized(&history, 3, "It said one.");
/// assert_eq!(short.len(), 2);
/// assert!(summary_of(&short[0]).is_some_and(|summary| summary.ends_with("It said one.")));
/// assert!(Arc::ptr_eq(&short[1], &history[3]));
/// ```
pub fn summarized(messages: &[Arc<Message>], cut: usize, summary: &str) -> Vec<Arc<Message>> {
    let (older, tail) = messages.split_at(cut.min(messages.len()));
    let Some((at, goal)) = goal_of(older) else {
        return messages.to_vec();
    };
    let newest = |messages: &[Arc<Message>]| messages.iter().rev().find_map(|message| user_content(message).cloned());
    let request = if newest(tail).is_some() {
        Request::AfterCut
    } else {
        newest(&older[at + 1..]).map_or(Request::Unchanged, Request::Replaced)
    };
    let goal = Message::User(with_summary(goal, summary, request));
    let instructions = older[at + 1..].iter().filter(|message| message.is_instruction());
    let mut kept = older[..at].to_vec();
    kept.push(Arc::new(goal));
    kept.extend(instructions.chain(tail).cloned());
    kept
}

/// Returns the summary that [`summarized`] added to a message, including the heading that introduces it.
pub fn summary_of(message: &Message) -> Option<&str> {
    let Message::User(UserMessage {
        content: Content::Parts(parts),
        ..
    }) = message
    else {
        return None;
    };
    parts
        .iter()
        .find(|part| is_summary(part))
        .and_then(ContentPart::as_text)
}

/// Returns the first user message and its index.
fn goal_of(messages: &[Arc<Message>]) -> Option<(usize, &UserMessage)> {
    messages.iter().enumerate().find_map(|(at, message)| match &**message {
        Message::User(goal) => Some((at, goal)),
        _ => None,
    })
}

/// The location of the newest request of the user, other than the first.
enum Request {
    /// After the cut.
    AfterCut,
    /// Where an earlier compaction put it, if there was one.
    Unchanged,
    /// Among the messages that are replaced by the summary.
    Replaced(Content),
}

fn user_content(message: &Message) -> Option<&Content> {
    match message {
        Message::User(message) => Some(&message.content),
        _ => None,
    }
}

fn with_summary(goal: &UserMessage, summary: &str, request: Request) -> UserMessage {
    let parts = goal.content.clone().into_parts();
    let (before, mut parts): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_request);
    parts.retain(|part| !is_summary(part));
    let marks = Marks::new().with_origin(Origin::Summary);
    parts.push(ContentPart::text(format!("{SUMMARY_LEAD}{summary}")).with_marks(marks));
    match request {
        Request::AfterCut => {}
        Request::Unchanged => parts.extend(before),
        Request::Replaced(content) => {
            let lead = ContentPart::text(REQUEST_LEAD);
            let marks = || Marks::new().with_origin(request_origin());
            parts.extend(
                std::iter::once(lead)
                    .chain(content.into_parts())
                    .map(|part| part.with_marks(marks())),
            );
        }
    }
    UserMessage {
        content: Content::Parts(parts),
        ..goal.clone()
    }
}

fn request_origin() -> Origin {
    Origin::Other("request".to_owned())
}

fn is_request(part: &ContentPart) -> bool {
    part.marks().is_some_and(|marks| marks.origin == Some(request_origin()))
}

fn is_summary(part: &ContentPart) -> bool {
    part.marks().is_some_and(|marks| marks.origin == Some(Origin::Summary))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate_messages;

    fn shared(messages: impl IntoIterator<Item = Message>) -> Vec<Arc<Message>> {
        messages.into_iter().map(Arc::new).collect()
    }

    #[test]
    fn a_summary_keeps_instructions_the_goal_and_the_tail() {
        let before = shared([
            Message::system("Be brief."),
            Message::user("The goal."),
            Message::assistant("One."),
            Message::developer("Be polite."),
            Message::user("More."),
            Message::assistant("Two."),
            Message::user("And?"),
        ]);
        let after = summarized(&before, 5, "sum");
        validate_messages(&after).unwrap();
        let kept: Vec<_> = [0, 3, 5, 6].iter().map(|at| &before[*at]).collect();
        let same = [0, 2, 3, 4].iter().map(|at| &after[*at]);
        assert!(same.zip(kept).all(|(after, before)| Arc::ptr_eq(after, before)));
        assert!(after[1].text().starts_with("The goal.") && after[1].text().ends_with("\nsum"));
    }

    #[test]
    fn a_second_summary_replaces_the_first() {
        let before = shared([
            Message::user("The goal."),
            Message::assistant("One."),
            Message::assistant("x"),
        ]);
        let once = summarized(&before, 2, "first");
        let twice = summarized(&once, 1, "second");
        assert_eq!(summary_of(&twice[0]), Some(&*format!("{SUMMARY_LEAD}second")));
        assert!(!twice[0].text().contains("first"));
        assert_eq!(summary_of(&before[0]), None);
        let json = serde_json::to_value(&*twice[0]).unwrap();
        assert_eq!(json["content"][1]["agcore"]["origin"], "summary");
    }

    #[test]
    fn keeps_the_newest_request_until_a_newer_one_follows_the_cut() {
        let round = |text: &str| Message::assistant(text);
        let before = shared([
            Message::user("The goal."),
            round("Done."),
            Message::user("Now the tests."),
            round("1"),
            Message::tool("x", "y"),
            round("2"),
        ]);
        let once = summarized(&before, 5, "sum");
        let text = once[0].text().into_owned();
        assert!(text.ends_with("Now the tests."), "{text}");
        let grown: Vec<_> = once
            .iter()
            .cloned()
            .chain(shared([Message::tool("x", "y"), round("3")]))
            .collect();
        let twice = summarized(&grown, 3, "again");
        assert!(twice[0].text().ends_with("Now the tests."), "{}", twice[0].text());
        let next = grown
            .iter()
            .cloned()
            .chain(shared([Message::user("Thanks."), round("4")]));
        let next: Vec<_> = next.collect();
        let thrice = summarized(&next, 3, "more");
        assert!(
            !thrice[0].text().contains("Now the tests."),
            "a newer request follows the cut"
        );
    }

    #[test]
    fn changes_nothing_without_a_goal() {
        let before = shared([Message::system("S"), Message::assistant("Hello?"), Message::user("Hi")]);
        assert_eq!(summarized(&before, 2, "sum"), before);
        assert_eq!(summarized(&[], 3, "sum"), Vec::<Arc<Message>>::new());
    }
}

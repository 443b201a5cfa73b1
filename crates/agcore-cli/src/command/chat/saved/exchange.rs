//! The last exchanges of a conversation, shown when it continues.

use std::sync::Arc;

use agcore::{AgentSession, Message};
use agcore_terminal::render::{formatted, truncated};

use crate::{command::chat::screen::Screen, exit::Failure};

/// The number of exchanges that are shown.
const EXCHANGES: usize = 3;

/// The longest part of an earlier message that is shown, in columns.
const SHOWN: usize = 300;

/// The longest part of the user's last message that is shown, in columns.
const SHOWN_OF_LAST: usize = 2_000;

/// The number of lines that are shown of the last answer.
const LINES: usize = 60;

/// Shown in place of an answer that never came.
const NO_ANSWER: &str = "(no answer)";

/// A message of the user and the answer to it.
#[derive(Debug, PartialEq, Eq)]
struct Exchange {
    /// `None` if the conversation begins with an answer, such as a summary.
    user: Option<String>,
    answer: Option<String>,
}

/// Shows the last exchanges: the earlier ones shortened, and the end of the last answer as it was shown before.
///
/// # Errors
/// When the terminal was closed.
pub(in super::super) async fn show_last_exchanges(screen: Screen, session: &AgentSession) -> Result<(), Failure> {
    let exchanges = exchanges(&session.messages().await);
    let Some((last, earlier)) = exchanges.split_last() else {
        return Ok(());
    };
    for Exchange { user, answer } in earlier {
        let user = user.iter().map(|text| format!("you: {}", shortened(text)));
        let answer = answer.as_deref().map_or(NO_ANSWER.to_owned(), shortened);
        user.chain([format!("agent: {answer}")])
            .try_for_each(|line| screen.note(&line))?;
    }
    if let Some(text) = &last.user {
        screen.note(&format!("you: {}", truncated(text.trim(), SHOWN_OF_LAST)))?;
    }
    let Some(answer) = &last.answer else {
        return screen.note(&format!("agent: {NO_ANSWER}"));
    };
    let answer = formatted(answer.trim(), screen.palette);
    let (hidden, end) = end(&answer, LINES);
    screen.note(&match hidden {
        0 => "agent:".to_owned(),
        1 => "agent: … 1 earlier line".to_owned(),
        hidden => format!("agent: … {hidden} earlier lines"),
    })?;
    screen.print(end)
}

/// Shortens a message to the part that is shown.
pub(in super::super) fn shortened(message: &str) -> String {
    truncated(message.trim(), SHOWN)
}

/// Returns the last exchanges, the earliest first.
fn exchanges(messages: &[Arc<Message>]) -> Vec<Exchange> {
    let has_text = |message: &Message| !message.text().trim().is_empty();
    let mut exchanges: Vec<Exchange> = Vec::new();
    for message in messages.iter().filter(|message| has_text(message)) {
        match (&**message, exchanges.last_mut()) {
            (Message::User(_), _) => exchanges.push(Exchange {
                user: Some(message.text().into_owned()),
                answer: None,
            }),
            // Of a turn that was cancelled, only calls of tools may be left: an earlier answer does not belong to it.
            (Message::Assistant(_), Some(exchange)) => exchange.answer = Some(message.text().into_owned()),
            (Message::Assistant(_), None) => exchanges.push(Exchange {
                user: None,
                answer: Some(message.text().into_owned()),
            }),
            _ => {}
        }
    }
    exchanges.split_off(exchanges.len().saturating_sub(EXCHANGES))
}

/// Returns the end of a text of at most this many lines, and the number of lines before it.
fn end(text: &str, lines: usize) -> (usize, &str) {
    let hidden = text.lines().count().saturating_sub(lines);
    let before: usize = text.split_inclusive('\n').take(hidden).map(str::len).sum();
    (hidden, &text[before..])
}

#[cfg(test)]
mod tests {
    use agcore::chat::{AssistantMessage, ToolCall};

    use super::*;

    #[track_caller]
    fn check(messages: Vec<Message>, expected: &[(&str, &str)]) {
        let messages: Vec<Arc<Message>> = messages.into_iter().map(Arc::new).collect();
        let found = exchanges(&messages);
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let found: Vec<(String, String)> = found
            .iter()
            .map(|exchange| (text(&exchange.user), text(&exchange.answer)))
            .collect();
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(user, answer)| ((*user).to_owned(), (*answer).to_owned()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_answer_belongs_to_the_message_before_it() {
        let user = |text: &str| Message::user(text);
        let assistant = |text: &str| Message::assistant(text);
        let call = || {
            let message = AssistantMessage::new("").with_call(ToolCall::function("c", "search", "{}"));
            Message::from(message)
        };
        check(vec![], &[]);
        check(vec![assistant("摘要")], &[("", "摘要")]);
        check(vec![user("一"), assistant("1")], &[("一", "1")]);
        check(
            vec![user("一"), call(), assistant("1"), user("二"), assistant("2")],
            &[("一", "1"), ("二", "2")],
        );
        // The last text of a turn is the answer, and the second turn was cancelled.
        check(
            vec![
                user("一"),
                assistant("let me see"),
                call(),
                assistant("1"),
                user("二"),
                call(),
            ],
            &[("一", "1"), ("二", "")],
        );
        let many = ["一", "二", "三", "四", "五"].map(|text| [user(text), assistant(text)]);
        check(many.concat(), &[("三", "三"), ("四", "四"), ("五", "五")]);
    }

    #[test]
    fn the_end_of_a_long_answer_is_kept() {
        assert_eq!(end("a\nb\nc\n", 5), (0, "a\nb\nc\n"));
        assert_eq!(end("a\nb\nc\n", 2), (1, "b\nc\n"));
        assert_eq!(end("", 2), (0, ""));
    }
}

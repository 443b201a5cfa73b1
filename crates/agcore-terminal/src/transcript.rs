//! A conversation as Markdown or HTML, for people who read it elsewhere.

mod html;

use std::{collections::HashMap, sync::Arc};

use agcore_chat::Message;

pub use self::html::{Author, Part, html};

/// The file extensions for which a conversation is saved as Markdown.
pub const EXTENSIONS: [&str; 2] = ["md", "markdown"];

/// The file extensions for which a conversation is saved as HTML.
pub const HTML_EXTENSIONS: [&str; 2] = ["html", "htm"];

/// Returns the parts of a conversation for [`html()`].
pub fn parts(messages: &[Arc<Message>]) -> Vec<Part> {
    let (mut parts, mut names) = (Vec::new(), HashMap::new());
    for message in messages {
        let text = message.text().into_owned();
        match &**message {
            Message::User(_) => parts.push(Part {
                author: Author::User,
                text,
            }),
            Message::Assistant(reply) => {
                parts.push(Part {
                    author: Author::Agent,
                    text,
                });
                for call in reply.tool_calls() {
                    names.insert(call.id.clone(), call.name.clone());
                    parts.push(Part {
                        author: Author::Call(call.name.clone()),
                        text: call.raw_input().to_owned(),
                    });
                }
            }
            Message::Tool(result) => {
                let name = names.get(result.tool_call_id.as_str()).map_or("a tool", String::as_str);
                parts.push(Part {
                    author: Author::Tool {
                        name: name.to_owned(),
                        is_error: false,
                    },
                    text,
                });
            }
            // Instructions are not a part of the conversation.
            _ => {}
        }
    }
    parts
}

/// Formats the messages of the user and the agent, and the calls of tools with their results.
pub fn markdown(messages: &[Arc<Message>]) -> String {
    let mut text = String::new();
    for message in messages {
        match &**message {
            Message::User(_) => text += &section("You", &message.text()),
            Message::Assistant(reply) => {
                text += &section("Agent", &message.text());
                for call in reply.tool_calls() {
                    text += &format!("Called `{}`:\n\n{}\n", call.name, fenced("json", call.raw_input()));
                }
            }
            Message::Tool(_) | Message::Function(_) => {
                text += &format!("Result:\n\n{}\n", fenced("text", &message.text()));
            }
            // Instructions are not a part of the conversation.
            _ => {}
        }
    }
    text
}

/// Returns a message under a heading, or nothing for a message without text.
fn section(heading: &str, text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("## {heading}\n\n{text}\n\n"),
    }
}

/// Returns a block of code, whose fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use agcore_chat::{AssistantMessage, Block, ToolCall};

    use super::*;

    #[test]
    fn shows_messages_and_calls() {
        let call = ToolCall::function("c", "search", "{\"text\": \"tea\"}");
        let messages = [
            Message::system("Be kind."),
            Message::user("Find tea."),
            AssistantMessage::from_blocks([Block::text("I look."), call.into()]).into(),
            Message::tool("c", "a.md: ```tea```"),
            Message::assistant("In `a.md`.\n"),
        ];
        let expected = "## You\n\nFind tea.\n\n## Agent\n\nI look.\n\nCalled `search`:\n\n```json\n{\"text\": \"tea\"}\n```\n\n\
                        Result:\n\n````text\na.md: ```tea```\n````\n\n## Agent\n\nIn `a.md`.\n\n";
        let messages = messages.map(Arc::new);
        assert_eq!(markdown(&messages), expected);
        let authors: Vec<Author> = parts(&messages).into_iter().map(|part| part.author).collect();
        let (call, result) = (
            Author::Call("search".to_owned()),
            Author::Tool {
                name: "search".to_owned(),
                is_error: false,
            },
        );
        assert_eq!(authors, [Author::User, Author::Agent, call, result, Author::Agent]);
        assert_eq!(markdown(&[]), "");
    }
}

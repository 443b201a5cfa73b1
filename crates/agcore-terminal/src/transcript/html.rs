//! A conversation as one HTML file, which needs no other files and runs no scripts.

use std::fmt::Write;

use agcore_chat::text::sanitized;

/// The style of the page. It follows the theme of the reader.
const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; }
section { margin: 1rem 0; padding: .1rem 1rem; border-left: .25rem solid #8888; }
section.user { border-color: #2a7fd4; background: #2a7fd415; }
section.agent { border-color: #2f9e60; }
section.failed { border-color: #c4453b; }
h2 { font-size: .85rem; margin: .5rem 0; opacity: .7; }
p { white-space: pre-wrap; margin: .5rem 0; }
pre { overflow-x: auto; padding: .6rem; background: #8881; border-radius: .3rem; }
summary { cursor: pointer; margin: .5rem 0; }
footer { opacity: .7; font-size: .85rem; }";

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The author.
    pub author: Author,
    /// The text, or the arguments or the result of a tool.
    pub text: String,
}

/// The author of a part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// The user.
    User,
    /// The agent.
    Agent,
    /// The agent, which calls the tool with this name.
    Call(String),
    /// A tool, whose name may be unknown.
    Tool {
        /// The name.
        name: String,
        /// Whether the call failed.
        is_error: bool,
    },
}

/// Formats a conversation as a page with this title. Nothing in it is taken for HTML.
pub fn html(title: &str, parts: &[Part]) -> String {
    let title = escaped(title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}\n</style>\n\
         </head>\n<body>\n<h1>{title}</h1>\n"
    );
    for part in parts.iter().filter(|part| !part.text.trim().is_empty()) {
        // Writing to a string cannot fail.
        let _ = match &part.author {
            Author::User => writeln!(
                page,
                "<section class=\"user\">\n<h2>You</h2>\n{}</section>",
                message(&part.text)
            ),
            Author::Agent => writeln!(
                page,
                "<section class=\"agent\">\n<h2>Agent</h2>\n{}</section>",
                message(&part.text)
            ),
            Author::Call(name) => folded(&mut page, "", &format!("Called {name}"), &part.text),
            Author::Tool { name, is_error } => {
                let (class, what) = if *is_error {
                    ("failed", "Error of")
                } else {
                    ("", "Result of")
                };
                folded(&mut page, class, &format!("{what} {name}"), &part.text)
            }
        };
    }
    page + "<footer>Written by agcore.</footer>\n</body>\n</html>\n"
}

/// Writes what a tool got or returned, which a reader can unfold.
fn folded(page: &mut String, class: &str, summary: &str, text: &str) -> std::fmt::Result {
    let (summary, text) = (escaped(summary), escaped(text.trim_end()));
    writeln!(
        page,
        "<section class=\"{class}\">\n<details><summary>{summary}</summary>\n<pre>{text}</pre>\n</details>\n</section>"
    )
}

/// Formats a message: blocks of code apart from the rest, which stays as it was written.
fn message(text: &str) -> String {
    let (mut out, mut plain, mut code) = (String::new(), String::new(), None::<(&str, String)>);
    for line in text.trim().lines() {
        let fence = line.trim_start();
        let marks = fence.len() - fence.trim_start_matches('`').len();
        match &mut code {
            Some((open, block)) if marks >= open.len() && fence.trim_end().len() == marks => {
                let _ = writeln!(out, "<pre>{}</pre>", escaped(block.trim_end()));
                code = None;
            }
            Some((_, block)) => *block += &format!("{line}\n"),
            None if marks >= 3 => {
                out += &paragraph(&std::mem::take(&mut plain));
                code = Some((&fence[..marks], String::new()));
            }
            None => plain += &format!("{line}\n"),
        }
    }
    let rest = code.map(|(_, block)| format!("<pre>{}</pre>\n", escaped(block.trim_end())));
    out + &paragraph(&plain) + &rest.unwrap_or_default()
}

fn paragraph(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("<p>{}</p>\n", escaped(text)),
    }
}

/// Returns a text that shows itself: without control characters, and with no mark of HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in sanitized(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(author: Author, text: &str) -> Part {
        Part {
            author,
            text: text.to_owned(),
        }
    }

    #[test]
    fn nothing_in_a_conversation_is_html() {
        let evil = "</pre></title><script>alert(1)</script><img src=x onerror=\"x\">&amp;\u{1b}[2J\u{202e}";
        let tool = |is_error| Author::Tool {
            name: evil.to_owned(),
            is_error,
        };
        let authors = [
            Author::User,
            Author::Agent,
            Author::Call(evil.to_owned()),
            tool(false),
            tool(true),
        ];
        let parts: Vec<Part> = authors
            .map(|author| part(author, &format!("{evil}\n```\n{evil}\n```")))
            .to_vec();
        let page = html(evil, &parts);
        assert!(
            !page.contains("<script") && !page.contains("<img") && !page.contains(['\u{1b}', '\u{202e}']),
            "{page}"
        );
        assert_eq!(page.matches("&lt;script&gt;").count(), 2 + 2 + 2 + 3 * 3, "{page}");
        assert!(page.contains("&amp;amp;") && page.contains("default-src 'none'"));
    }

    #[test]
    fn blocks_of_code_are_apart() {
        let text = "Do:\n\n````sh\nls\n```\n\n  x\n````\nend\n```\nopen";
        assert_eq!(
            message(text),
            "<p>Do:</p>\n<pre>ls\n```\n\n  x</pre>\n<p>end</p>\n<pre>open</pre>\n"
        );
        assert_eq!(message("a `b` **c**\n\nd"), "<p>a `b` **c**\n\nd</p>\n");
        let page = html("t", &[part(Author::User, " "), part(Author::Agent, "文")]);
        assert!(
            page.contains("<h2>Agent</h2>\n<p>文</p>") && !page.contains("<h2>You</h2>"),
            "{page}"
        );
    }
}

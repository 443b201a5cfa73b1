//! Pages as Markdown files with front matter, so that people can read and edit them with any editor.
//!
//! ```
//! use agcore_memory::{Actor, knowledge::{KnowledgePage, markdown}};
//!
//! let page = KnowledgePage::new("garden/tomatoes", "Tomatoes", "Water them in the morning.\n").with_tag("garden");
//! let text = markdown::to_markdown(&page);
//! assert_eq!(text, "---\nid: garden/tomatoes\ntitle: Tomatoes\ntags: [garden]\n---\n\nWater them in the morning.\n");
//! assert_eq!(markdown::from_markdown("garden/tomatoes", &text, &Actor::local())?, page);
//! # Ok::<(), agcore_memory::MemoryError>(())
//! ```
//!
//! The front matter is YAML between lines with `---` (the last may be `...`), or TOML between lines with `+++`, with the members
//! `id`, `title`, `summary`, `tags`, `references`, `created_at` and `updated_at`, none of which is required. Other members are
//! ignored. [`write_folder`] and [`read_folder`] convert all pages of a wiki.

mod front_matter;
mod file_name;
mod folder;

use agcore_chat::Actor;
use agcore_document::FrontMatter as Matter;

pub use self::{
    file_name::file_name,
    folder::{Folder, Skipped, read_file, read_folder, write_folder},
};

use self::front_matter::FrontMatter;
use super::page::KnowledgePage;
use crate::error::MemoryError;

/// Returns a page as the text of a Markdown file. The owner is not part of it.
pub fn to_markdown(page: &KnowledgePage) -> String {
    let mut text = String::with_capacity(page.content.len() + 256);
    text.push_str("---\n");
    front_matter::write(page, &mut text);
    text.push_str("---\n\n");
    text.push_str(&page.content);
    text
}

/// Reads the text of a Markdown file. Without an `id` in its front matter, the page has the given id; without a `title`, it has
/// its first heading as the title, or the last part of its id.
///
/// What [`to_markdown`] returns is read as the same page, with the given owner.
///
/// # Errors
/// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the front matter cannot be read or the page is not acceptable.
pub fn from_markdown(id: &str, text: &str, owner: &Actor) -> Result<KnowledgePage, MemoryError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let matter = Matter::split(text).map_err(|error| MemoryError::invalid(error.kind.to_string()))?;
    let (front, content) = match matter {
        None => (FrontMatter::default(), text),
        Some(matter) => {
            let root = matter
                .parse()
                .map_err(|error| MemoryError::invalid(matter.describe(&error)))?;
            (FrontMatter::of(&root)?, without_blank_line(matter.body))
        }
    };
    let id = front.id.unwrap_or_else(|| id.to_owned());
    let title = front.title.or_else(|| heading(content));
    let title = title.unwrap_or_else(|| id.rsplit('/').next().unwrap_or_default().to_owned());
    let mut page = KnowledgePage::new(id, title, content).with_owner(owner.clone());
    page.summary = front.summary.unwrap_or_default();
    for tag in front.tags {
        page = page.with_tag(tag);
    }
    for reference in front.references {
        page = page.with_reference(reference);
    }
    page.created_at = front.created_at.unwrap_or_default();
    page.updated_at = front.updated_at.unwrap_or_default();
    page.check()?;
    Ok(page)
}

/// Returns a text without the blank line between it and the front matter.
fn without_blank_line(content: &str) -> &str {
    let without_blank = content.strip_prefix("\r\n").or_else(|| content.strip_prefix('\n'));
    without_blank.unwrap_or(content)
}

/// Returns the text of the first heading of level 1, unless it is in a code block.
fn heading(content: &str) -> Option<String> {
    let mut is_code = false;
    for line in content.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_code = !is_code;
        }
        if let Some(title) = line.strip_prefix("# ").filter(|_| !is_code) {
            let title = title.trim().trim_end_matches('#').trim_end();
            return Some(title.to_owned()).filter(|title| !title.is_empty());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Timestamp;

    fn read(text: &str) -> Result<KnowledgePage, MemoryError> {
        from_markdown("notes/tea", text, &Actor::local())
    }

    #[test]
    fn files_without_front_matter_are_pages() {
        let page = read("\u{feff}Intro\n```\n# no\n```\n# Green *tea* #\ntext").unwrap();
        assert_eq!((page.id.as_str(), page.title.as_str()), ("notes/tea", "Green *tea*"));
        assert!(page.content.starts_with("Intro\n"));
        assert_eq!(read("").unwrap().title, "tea");
        // A line of the text, not front matter.
        assert_eq!(read("----\na").unwrap().content, "----\na");
    }

    #[test]
    fn front_matter_of_other_programs_is_read() {
        let page = read(
            "---\r\ntitle: 'Tea: green'\r\naliases: [a, {b: [c]}]\r\ntags:\r\n  - Food\r\n  - food\r\n  - 2026\r\n\
             summary: >\r\n  two\r\n  lines\r\ncreated_at: 2026-01-31T12:00:00Z\r\n---\r\nText\r\n",
        )
        .unwrap();
        assert_eq!(page.title, "Tea: green");
        assert_eq!(page.tags, ["food", "2026"]);
        assert_eq!(page.summary, "two lines\n");
        assert_eq!(page.content, "Text\r\n");
        assert_eq!(page.created_at.as_millis(), 1_769_860_800_000);
        let page = read("---\ntitle: &tea 1.10\nsummary: *tea\n---\n").unwrap();
        assert_eq!((page.title.as_str(), page.summary.as_str()), ("1.10", "1.10"));
        assert_eq!(read("---\ntags: a, B\nreferences: x\n---\n").unwrap().tags, ["a", "b"]);
        assert_eq!(read("---\n# only a comment\n---\ntext").unwrap().content, "text");
        assert_eq!(read("---\ntitle:\ntags: []\n---\n# T").unwrap().title, "T");
    }

    #[test]
    fn broken_front_matter_is_explained() {
        for (text, expected) in [
            ("---\ntitle: a\n", "the front matter that begins here does not end"),
            ("---\ntitle: [a\n---\n", "the front matter is not YAML"),
            (
                "---\ntitle: a\ntitle: b\n---\n",
                "the front matter is invalid: line 3: the key \"title\" occurs twice in one table",
            ),
            ("---\ntitle: {a: b}\n---\n", "`title` in the front matter is not a text"),
            (
                "---\ntags: {a: b}\n---\n",
                "`tags` in the front matter is not a list of texts",
            ),
            (
                "---\ntags: [[a]]\n---\n",
                "`tags` in the front matter is not a list of texts",
            ),
            (
                "---\ntitle: &a [*a]\n---\n",
                "the front matter is invalid: line 2: title[0]: an alias refers to a value that contains it",
            ),
            (
                "---\ncreated_at: today\n---\n",
                "`created_at` in the front matter is not a time such as",
            ),
            ("---\nid: \"\"\n---\n", "the id is empty"),
            ("---\nid: \"a\\0\"\n---\n", "the id contains a NUL character"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_rule_is_not_front_matter() {
        for text in ["---\n\nJust a rule\n\n---\n\nmore\n", "---\n- a\n---\n", "---\ntext\n"] {
            assert_eq!(read(text).unwrap().content, text);
        }
    }

    #[test]
    fn front_matter_may_end_with_dots_and_be_toml() {
        let page = read("---\ntitle: x\n...\nbody\n").unwrap();
        assert_eq!((page.title.as_str(), page.content.as_str()), ("x", "body\n"));
        let text = "+++\ntitle = \"Tea\"\ntags = [\"Food\", 2026]\ncreated_at = 2026-01-31T12:00:00Z\ndraft = true\n+++\n\nGreen.\n";
        let page = read(text).unwrap();
        assert_eq!((page.title.as_str(), page.content.as_str()), ("Tea", "Green.\n"));
        assert_eq!(page.tags, ["food", "2026"]);
        assert_eq!(page.created_at.as_millis(), 1_769_860_800_000);
        let error = read("+++\ntitle = [1, {a = 2}]\n+++\n").unwrap_err().to_string();
        assert_eq!(error, "`title` in the front matter is not a text");
    }

    #[test]
    fn texts_with_a_meaning_in_yaml_are_quoted() {
        for text in [
            "yes", "Null", "t -", "a- b", "a-", "a: b", "a #b", "1", "-", "a ", "\u{85}",
        ] {
            let page = KnowledgePage::new("a", text, "")
                .with_summary(text)
                .with_tag(format!("x {text}"));
            let written = to_markdown(&page);
            assert_eq!(read(&written).unwrap(), page, "{written}");
            assert!(written.contains("title: \""), "{written}");
        }
    }

    fn pages() -> impl Strategy<Value = KnowledgePage> {
        let text = || "\\PC{0,6}|[a-z: #'\"\\\\{}\\[\\]&*!|>%@`,\\-\u{0}\n\r\t\u{85}\u{2028}\u{feff}\u{7f}]{0,8}";
        let list = || proptest::collection::vec(text(), 0..3);
        (text(), text(), text(), text(), list(), list(), 0..2_000_000_000_000_i64).prop_map(
            |(id, title, summary, content, tags, references, time)| {
                let id = format!("x{}", id.replace('\0', ""));
                let mut page = KnowledgePage::new(id, format!("t{title}"), content).with_summary(summary);
                for tag in tags {
                    page = page.with_tag(format!("t{}", tag.replace(char::is_control, "")));
                }
                for reference in references {
                    page = page.with_reference(format!("r{}", reference.replace('\0', "")));
                }
                page.created_at = Timestamp::from_millis(time);
                page
            },
        )
    }

    proptest! {
        #[test]
        fn pages_come_back(page in pages()) {
            let text = to_markdown(&page);
            prop_assert_eq!(from_markdown("other", &text, &Actor::local()).unwrap(), page, "{}", text);
        }

        #[test]
        fn no_text_is_a_panic(text in "(---\n)?[a-z:\\-\\[\\]{}&*#|>'\"! \n\t]{0,60}(\n---\n)?.{0,5}") {
            let _ = from_markdown("a", &text, &Actor::local());
        }
    }
}

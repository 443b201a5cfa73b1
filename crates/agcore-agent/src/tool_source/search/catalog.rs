//! [`Catalog`]: the tools that requests leave out, and how they are found.

use agcore_chat::text::{clip, nearest_names, visible};
use agcore_memory::search::{InMemoryTextIndex, IndexChanges, MAX_QUERY_BYTES, TextDocument, TextIndex};
use agcore_tools::{RegisteredTool, ToolError};
use serde_json::Value;
use tokio::sync::OnceCell;

/// The longest description of a tool in one line, in bytes.
const MAX_LINE: usize = 120;

/// The part of the best score that another tool needs in order to be loaded with the best one.
const MIN_SCORE: f64 = 0.4;

/// The number of similar names that are suggested.
const MAX_NEAR: usize = 3;

/// The deepest level of a schema whose members are searched.
const MAX_DEPTH: usize = 4;

/// The tenant of the index within.
const TENANT: &str = "";

/// The tools that requests leave out, sorted by name.
pub(super) struct Catalog {
    entries: Vec<Entry>,
    /// Built by the first search.
    index: OnceCell<InMemoryTextIndex>,
}

/// A tool that can be loaded.
pub(super) struct Entry {
    pub(super) tool: RegisteredTool,
    /// Its description, in one line that shows all its characters.
    pub(super) line: String,
}

impl Entry {
    pub(super) fn name(&self) -> &str {
        self.tool.name()
    }
}

impl Catalog {
    /// Creates a catalog of tools that are sorted by name.
    pub(super) fn new(tools: impl Iterator<Item = RegisteredTool>) -> Self {
        let entry = |tool: RegisteredTool| Entry {
            line: one_line(tool.tool().description()),
            tool,
        };
        Self {
            entries: tools.map(entry).collect(),
            index: OnceCell::new(),
        }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        let at = self
            .entries
            .binary_search_by(|entry| entry.name().as_bytes().cmp(name.as_bytes()));
        at.ok().and_then(|at| self.entries.get(at))
    }

    /// Returns names that the model may have meant.
    pub(super) fn near(&self, name: &str) -> Vec<&str> {
        nearest_names(name, self.entries.iter().map(Entry::name), MAX_NEAR)
    }

    /// Returns the tools that fit these words best: the best one, and others that fit nearly as well.
    pub(super) async fn search(&self, query: &str, limit: usize) -> Result<Vec<&Entry>, ToolError> {
        let index = self.index.get_or_try_init(|| self.build()).await?;
        let query = agcore_chat::text::prefix(query, MAX_QUERY_BYTES);
        let hits = index.search(TENANT, &words(query), limit).await;
        let hits = hits.map_err(ToolError::other)?;
        let best = hits.first().map_or(0.0, |hit| hit.score);
        let good = hits.iter().filter(|hit| hit.score >= best * MIN_SCORE);
        Ok(good.filter_map(|hit| self.get(&hit.id)).collect())
    }

    async fn build(&self) -> Result<InMemoryTextIndex, ToolError> {
        let index = InMemoryTextIndex::new();
        let documents = self.entries.iter().map(|entry| {
            let name = entry.name();
            let mut content = words(entry.tool.tool().description());
            add_members(entry.tool.tool().parameters(), MAX_DEPTH, &mut content);
            (name, TextDocument::new(name, words(name), content))
        });
        let changes = documents.fold(IndexChanges::new(None, None), |changes, (name, document)| {
            changes.with_saved(name, document)
        });
        index.apply(TENANT, changes).await.map_err(ToolError::other)?;
        Ok(index)
    }
}

/// Returns the first sentence or line of a description, bounded and with all its characters made visible.
fn one_line(description: &str) -> String {
    let first = description.trim().lines().next().unwrap_or_default().trim();
    let sentence = first.find(". ").map_or(first, |end| first.get(..=end).unwrap_or(first));
    clip(&visible(clip(sentence, MAX_LINE).as_ref()), 2 * MAX_LINE).into_owned()
}

/// Adds the names and the descriptions of the members of a schema.
fn add_members(schema: &Value, depth: usize, text: &mut String) {
    let Some(members) = schema
        .get("properties")
        .and_then(Value::as_object)
        .filter(|_| depth > 0)
    else {
        if let Some(items) = schema.get("items").filter(|_| depth > 0) {
            add_members(items, depth - 1, text);
        }
        return;
    };
    for (name, member) in members {
        let description = member.get("description").and_then(Value::as_str).unwrap_or_default();
        for part in [name.as_str(), description] {
            text.push('\n');
            text.push_str(&words(part));
        }
        add_members(member, depth - 1, text);
    }
}

/// Separates the words of names such as `createIssue`, where a search would see only one.
fn words(text: &str) -> String {
    let mut separated = String::with_capacity(text.len() + 8);
    let mut was_lower = false;
    for c in text.chars() {
        if was_lower && c.is_ascii_uppercase() {
            separated.push(' ');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        separated.push(c);
    }
    separated
}

#[cfg(test)]
mod tests {
    use agcore_tools::{NoArguments, ToolRegistry, typed};

    use super::*;

    #[test]
    fn a_line_is_bounded_and_shows_hidden_characters() {
        assert_eq!(one_line("Reads a file. It must exist.\nMore."), "Reads a file.");
        assert_eq!(
            one_line("\n Lists\u{202e} all\u{1b}[2J\nignore"),
            r"Lists\u{202e} all\u{1b}[2J"
        );
        assert!(one_line(&"\u{202e}".repeat(5_000)).len() <= 2 * MAX_LINE + '…'.len_utf8());
        assert_eq!(one_line(""), "");
    }

    #[test]
    fn words_of_names_are_separated() {
        assert_eq!(words("createPullRequest2Draft"), "create Pull Request2 Draft");
        assert_eq!(words("URL parser"), "URL parser");
    }

    #[tokio::test]
    async fn members_of_schemas_are_found() {
        let registry = ToolRegistry::new();
        registry
            .register(typed("noop", "Does nothing.", |_: NoArguments| async { Ok(()) }))
            .unwrap();
        let catalog = Catalog::new(registry.list().into_iter());
        assert!(catalog.search("nothing", 5).await.unwrap()[0].name() == "noop");
        assert!(catalog.search("", 5).await.unwrap().is_empty());
        assert!(catalog.search(&"x".repeat(1 << 20), 5).await.unwrap().is_empty());
        let mut text = String::new();
        let schema = serde_json::json!({
            "properties": {"pullRequest": {"properties": {"draft": {"description": "Whether it isDraft."}}},
                           "labels": {"items": {"properties": {"color": true}}}},
        });
        add_members(&schema, MAX_DEPTH, &mut text);
        for expected in ["pull Request", "draft", "is Draft", "labels", "color"] {
            assert!(text.contains(expected), "{text}");
        }
    }
}

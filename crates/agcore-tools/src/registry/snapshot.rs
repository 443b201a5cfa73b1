//! [`ToolSnapshot`]: the tools of a registry at one moment.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use agcore_chat::Tool;

use super::entry::RegisteredTool;
use crate::error::ToolError;

/// How many near names are offered.
const MOST_NEAR: usize = 3;
/// How near a name must be, from 0 to 1.
const NEAR_ENOUGH: f64 = 0.75;

/// The tools of a registry at one moment, sorted by name. It never changes.
#[derive(Debug, Default)]
pub struct ToolSnapshot {
    revision: u64,
    tools: Vec<RegisteredTool>,
    definitions: OnceLock<Arc<[Tool]>>,
}

impl ToolSnapshot {
    /// These tools, which must be sorted by name.
    pub(super) fn new(revision: u64, tools: Vec<RegisteredTool>) -> Self {
        Self {
            revision,
            tools,
            definitions: OnceLock::new(),
        }
    }

    /// Grows with each change of the registry.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// All tools, sorted by name.
    pub fn tools(&self) -> &[RegisteredTool] {
        &self.tools
    }

    /// A tool by name.
    pub fn get(&self, name: &str) -> Option<&RegisteredTool> {
        place(&self.tools, name).ok().map(|place| &self.tools[place])
    }

    /// A tool by name.
    ///
    /// # Errors
    /// [`NotFound`](crate::ToolErrorKind::NotFound) with near names.
    pub fn find(&self, name: &str) -> Result<&RegisteredTool, ToolError> {
        self.get(name)
            .ok_or_else(|| ToolError::not_found(name, self.near(name)))
    }

    /// What a model is told of the tools, sorted by name; made once.
    pub fn definitions(&self) -> Arc<[Tool]> {
        let definitions = self
            .definitions
            .get_or_init(|| self.tools.iter().map(RegisteredTool::definition).collect());
        Arc::clone(definitions)
    }

    /// Up to three names that the caller may have meant, nearest first.
    pub fn near(&self, name: &str) -> Vec<String> {
        let wanted = plain(name);
        let mut near: Vec<(f64, &RegisteredTool)> = self
            .tools
            .iter()
            .map(|tool| (strsim::jaro_winkler(&wanted, &plain(tool.name())), tool))
            .filter(|(nearness, _)| *nearness >= NEAR_ENOUGH)
            .collect();
        near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        near.into_iter()
            .take(MOST_NEAR)
            .map(|(_, tool)| tool.name().to_string())
            .collect()
    }

    /// The tools with a tag.
    pub fn find_by_tag(&self, tag: &str) -> Vec<RegisteredTool> {
        self.tools.iter().filter(|tool| tool.has_tag(tag)).cloned().collect()
    }

    /// The tools of a category.
    pub fn find_by_category(&self, category: &str) -> Vec<RegisteredTool> {
        self.tools
            .iter()
            .filter(|tool| tool.category() == Some(category))
            .cloned()
            .collect()
    }

    /// The tools by category; those without one stand under the empty name.
    pub fn groups(&self) -> BTreeMap<String, Vec<RegisteredTool>> {
        let mut groups: BTreeMap<String, Vec<RegisteredTool>> = BTreeMap::new();
        for tool in &self.tools {
            groups
                .entry(tool.category().unwrap_or_default().to_owned())
                .or_default()
                .push(tool.clone());
        }
        groups
    }

    /// The same tools, as far as they pass a filter.
    pub(super) fn filter(&self, keep: impl Fn(&RegisteredTool) -> bool) -> Self {
        Self::new(
            self.revision,
            self.tools.iter().filter(|tool| keep(tool)).cloned().collect(),
        )
    }
}

/// Where a name is among tools sorted by name, or would be.
pub(super) fn place(tools: &[RegisteredTool], name: &str) -> Result<usize, usize> {
    tools.binary_search_by(|tool| tool.name().as_bytes().cmp(name.as_bytes()))
}

/// A name without what people and models mix up: case and dividers. A hostile name is cut.
fn plain(name: &str) -> String {
    name.chars()
        .take(128)
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

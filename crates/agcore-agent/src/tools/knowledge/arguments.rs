//! The arguments of the tools.

use agcore_tools::schemars::{self, JsonSchema};
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Retrieve {
    /// The question or the words to look for.
    pub(super) query: String,
    /// The maximum number of pages: 5 by default, at most 20.
    #[schemars(range(min = 1, max = 20))]
    pub(super) limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ReadPage {
    /// The id of the page.
    pub(super) id: String,
    /// The number of characters before the part: a position of another result, 0 by default.
    pub(super) start: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Remember {
    /// The id, such as `garden/tomatoes`. By default, the words of the title.
    pub(super) id: Option<String>,
    /// A short title.
    pub(super) title: String,
    /// The text, as Markdown.
    pub(super) content: String,
    /// One or two sentences about the content.
    pub(super) summary: Option<String>,
    /// Tags, the most important first.
    #[serde(default)]
    pub(super) tags: Vec<String>,
    /// Ids of related pages.
    #[serde(default)]
    pub(super) references: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct UpdatePage {
    /// The id of the page.
    pub(super) id: String,
    /// The new title, if it changes.
    pub(super) title: Option<String>,
    /// The whole new text, if it changes.
    pub(super) content: Option<String>,
    /// The new summary, if it changes.
    pub(super) summary: Option<String>,
    /// All new tags, if they change.
    pub(super) tags: Option<Vec<String>>,
    /// All new ids of related pages, if they change.
    pub(super) references: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Forget {
    /// The id of the page.
    pub(super) id: String,
}

//! [`Styles`]: which styles of paragraphs are headings.

use std::collections::HashMap;

use quick_xml::events::Event;

use super::xml::{attribute, each_event};
use crate::{problem::FileProblem, work::Work};

/// Word has nine levels of headings.
const LEVELS: u32 = 9;

/// The role of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The title of the document.
    Title,
    /// A heading, from level 1.
    Heading(u32),
    /// The caption of a table or a picture.
    Caption,
}

/// The styles of a document that are titles or headings, by their ids.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Role>);

impl Styles {
    /// Reads `styles.xml`.
    pub(super) fn read(work: &Work<'_>, text: &str) -> Result<Self, FileProblem> {
        let mut roles = HashMap::new();
        let mut id = None;
        each_event(work, text, |event| {
            let Event::Start(element) = event else {
                return Ok(());
            };
            let value = attribute(&element, "val");
            let role = match element.local_name().as_ref() {
                "style" => {
                    id = attribute(&element, "styleId");
                    None
                }
                // The names of the built-in styles are the same in all languages, unlike their ids.
                "name" => value.as_deref().and_then(role_of_name),
                "outlineLvl" => value.as_deref().and_then(role_of_outline),
                _ => None,
            };
            if let (Some(id), Some(role)) = (&id, role) {
                roles.entry(id.clone()).or_insert(role);
            }
            Ok(())
        })?;
        Ok(Self(roles))
    }

    /// Returns the role of a style.
    pub(super) fn role(&self, id: &str) -> Option<Role> {
        self.0.get(id).copied()
    }
}

/// Returns the role of an outline level, which counts from 0. Level 9 is body text.
pub(super) fn role_of_outline(level: &str) -> Option<Role> {
    let level: u32 = level.trim().parse().ok()?;
    (level < LEVELS).then_some(Role::Heading(level + 1))
}

fn role_of_name(name: &str) -> Option<Role> {
    let name = name.trim().to_ascii_lowercase();
    match name.as_str() {
        "title" => return Some(Role::Title),
        "caption" => return Some(Role::Caption),
        _ => {}
    }
    let level: u32 = name.strip_prefix("heading ")?.parse().ok()?;
    (1..=LEVELS).contains(&level).then_some(Role::Heading(level))
}

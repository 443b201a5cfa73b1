//! [`KnowledgePage`]: a page of a wiki.

use agcore_chat::{Actor, Citation, Text, Timestamp, id};
use serde::{Deserialize, Serialize};

use super::page_source::PageSource;
use crate::error::{MemoryError, MemoryErrorKind};

/// The maximum size of a page: the bytes of its title, summary and content together.
pub const MAX_PAGE_BYTES: usize = 4 << 20;

/// The maximum number of tags of a page.
pub const MAX_TAGS: usize = 100;

/// The maximum length of a tag, in bytes.
pub const MAX_TAG_BYTES: usize = 128;

/// The maximum number of references of a page.
pub const MAX_REFERENCES: usize = 1000;

/// A page of a wiki.
///
/// A page is identified by the tenant of its owner and its id: two tenants may use the same id.
///
/// ```
/// use agcore_memory::knowledge::KnowledgePage;
///
/// let page = KnowledgePage::new("garden/tomatoes", "Tomatoes", "Water them in the morning.")
///     .with_summary("How to grow tomatoes.")
///     .with_tag("Garden")
///     .with_reference("garden/water");
/// assert_eq!(page.tags, ["garden"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KnowledgePage {
    /// The id, unique within the tenant of the owner. See [`id::check`] for the rules.
    pub id: String,
    /// The title.
    pub title: String,
    /// One or two sentences about the content; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The text, usually Markdown.
    pub content: String,
    /// The tags, each in the form of [`normalized_tag`] and only once, the most important first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The ids of other pages, each only once. These pages need not exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The file from which the page was made, and its place in it. `None` if it was written as a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PageSource>,
    /// The tenant and user to whom the page belongs.
    #[serde(default)]
    pub owner: Actor,
    /// The time at which the id was first saved, set by the store. In a page that was never saved, the start of 1970; any
    /// other time is kept by the first save, so that pages can be copied from one store to another.
    #[serde(default)]
    pub created_at: Timestamp,
    /// The time at which the page was last saved, set by the store.
    #[serde(default)]
    pub updated_at: Timestamp,
    /// The version, set by the store: every save of the page has a higher one, also after a deletion. 0 in a page that was never
    /// saved. See [`put_if_version`](super::KnowledgeStore::put_if_version).
    #[serde(default)]
    pub version: u64,
}

impl KnowledgePage {
    /// Creates a page of the actor [`local`](Actor::local).
    pub fn new(id: impl Into<String>, title: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            summary: String::new(),
            content: content.into(),
            tags: Vec::new(),
            references: Vec::new(),
            source: None,
            owner: Actor::local(),
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
            version: 0,
        }
    }

    /// Sets the summary.
    #[must_use]
    pub fn with_summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Adds a tag in its [normal form](normalized_tag). A tag that the page has already is not added again.
    #[must_use]
    pub fn with_tag(mut self, tag: impl AsRef<str>) -> Self {
        let tag = normalized_tag(tag.as_ref());
        if !self.tags.contains(&tag) {
            self.tags.push(tag);
        }
        self
    }

    /// Adds a reference to another page. One that the page has already is not added again.
    #[must_use]
    pub fn with_reference(mut self, id: impl Into<String>) -> Self {
        let id = id.into();
        if !self.references.contains(&id) {
            self.references.push(id);
        }
        self
    }

    /// Sets the file from which the page was made, and its place in it.
    #[must_use]
    pub fn with_source(mut self, source: PageSource) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets the owner.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Returns the citation of the page: its place in its source, or the page itself if it has none.
    pub fn citation(&self) -> Citation {
        let citation = match &self.source {
            Some(source) => Citation::new(source.id.as_str()).with_position(source.position.clone()),
            None => Citation::new(self.id.as_str()),
        };
        citation.with_title(self.title.as_str())
    }

    /// Returns the tenant, which together with the id identifies the page.
    pub fn tenant(&self) -> &Text {
        &self.owner.tenant
    }

    /// Checks that the version in a store, 0 without a page, is the one that a writer expects. Stores call this in
    /// [`put_if_version`](super::KnowledgeStore::put_if_version).
    ///
    /// # Errors
    /// [`Conflict`](crate::MemoryErrorKind::Conflict) if it is not.
    pub fn check_version(&self, expected: u64, stored: u64) -> Result<(), MemoryError> {
        if expected == stored {
            return Ok(());
        }
        let shown = shown(&self.id);
        let problem = match (expected, stored) {
            (0, _) => format!("there is a page `{shown}` already, with version {stored}"),
            (_, 0) => format!("the page `{shown}` was deleted since version {expected} was read"),
            _ => format!("the page `{shown}` has version {stored} and not {expected}: it was changed meanwhile"),
        };
        Err(MemoryError::new(
            MemoryErrorKind::Conflict {
                expected,
                found: stored,
            },
            format!("{problem}; read it again, and save what results from both changes"),
        ))
    }

    /// Checks that every store can keep the page. Stores call this before they save anything.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the id, the owner, a tag or a reference is not acceptable, or
    /// the page has too much of something.
    pub fn check(&self) -> Result<(), MemoryError> {
        id::check(&self.id)?;
        self.owner.check()?;
        if let Some(source) = &self.source {
            id::check_named("the id of the source", &source.id)?;
        }
        let shown = shown(&self.id);
        let bytes = self.title.len() + self.summary.len() + self.content.len();
        if bytes > MAX_PAGE_BYTES {
            return Err(MemoryError::invalid(format!(
                "the page `{shown}` has {bytes} bytes; at most {MAX_PAGE_BYTES} are allowed: split it into several pages"
            )));
        }
        check_number(&shown, "tags", self.tags.len(), MAX_TAGS)?;
        check_number(&shown, "references", self.references.len(), MAX_REFERENCES)?;
        for (position, tag) in self.tags.iter().enumerate() {
            check_tag(tag)?;
            if self.tags[..position].contains(tag) {
                return Err(MemoryError::invalid(format!(
                    "the page `{shown}` has the tag `{tag}` twice"
                )));
            }
        }
        let mut references: Vec<&str> = self.references.iter().map(String::as_str).collect();
        references.sort_unstable();
        for reference in &references {
            id::check_named("a reference", reference)?;
        }
        match references.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(MemoryError::invalid(format!(
                "the page `{shown}` refers to `{}` twice",
                self::shown(pair[0])
            ))),
        }
    }
}

/// Returns the beginning of an id, for messages.
fn shown(id: &str) -> String {
    id.chars().take(80).collect()
}

fn check_number(page: &str, what: &str, number: usize, most: usize) -> Result<(), MemoryError> {
    if number > most {
        return Err(MemoryError::invalid(format!(
            "the page `{page}` has {number} {what}; at most {most} are allowed"
        )));
    }
    Ok(())
}

/// Returns the form in which tags are stored: lower-case, without spaces around them, and with single spaces within.
///
/// ```
/// use agcore_memory::knowledge::normalized_tag;
///
/// assert_eq!(normalized_tag("  Machine   Learning "), "machine learning");
/// ```
pub fn normalized_tag(tag: &str) -> String {
    let lower = tag.to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks that every store can keep a tag.
pub(crate) fn check_tag(tag: &str) -> Result<(), MemoryError> {
    let problem = if tag.is_empty() {
        "is empty".to_owned()
    } else if tag.len() > MAX_TAG_BYTES {
        format!("has {} bytes; at most {MAX_TAG_BYTES} are allowed", tag.len())
    } else if tag.chars().any(char::is_control) {
        "contains a control character".to_owned()
    } else if normalized_tag(tag) != tag {
        format!("`{tag}` is not in its normal form, `{}`", normalized_tag(tag))
    } else {
        return Ok(());
    };
    Err(MemoryError::invalid(format!("a tag {problem}")))
}

/// An entry of the index of a wiki: a page without its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageSummary {
    /// The id.
    pub id: String,
    /// The title.
    pub title: String,
    /// One or two sentences about the content; may be empty.
    pub summary: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The tenant and user to whom the page belongs.
    pub owner: Actor,
    /// The time at which the id was first saved.
    pub created_at: Timestamp,
    /// The time at which the page was last saved.
    pub updated_at: Timestamp,
}

impl From<KnowledgePage> for PageSummary {
    fn from(page: KnowledgePage) -> Self {
        Self {
            id: page.id,
            title: page.title,
            summary: page.summary,
            tags: page.tags,
            owner: page.owner,
            created_at: page.created_at,
            updated_at: page.updated_at,
        }
    }
}

/// A tag, and how many pages or entities have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TagCount {
    /// The tag.
    pub tag: String,
    /// The number of pages or entities that have it.
    pub count: u64,
}

impl TagCount {
    /// Creates a count.
    pub fn new(tag: impl Into<String>, count: u64) -> Self {
        Self { tag: tag.into(), count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_limits() {
        let page = || KnowledgePage::new("a", "", "");
        let error = |page: KnowledgePage| page.check().unwrap_err().to_string();
        page().check().unwrap();
        let large = KnowledgePage::new("a", "", "x".repeat(50_000_000));
        assert_eq!(
            error(large),
            "the page `a` has 50000000 bytes; at most 4194304 are allowed: split it into several pages"
        );
        let mut tagged = page();
        tagged.tags = (0..100_000).map(|number| number.to_string()).collect();
        assert_eq!(error(tagged), "the page `a` has 100000 tags; at most 100 are allowed");
        for (tag, expected) in [
            ("", "a tag is empty"),
            ("a\u{7}", "a tag contains a control character"),
            ("Rust", "a tag `Rust` is not in its normal form, `rust`"),
            (&"x".repeat(200), "a tag has 200 bytes; at most 128 are allowed"),
        ] {
            let mut tagged = page();
            tagged.tags = vec![tag.to_owned()];
            assert_eq!(error(tagged), expected);
        }
        let mut twice = page();
        twice.tags = vec!["b".into(), "b".into()];
        assert_eq!(error(twice), "the page `a` has the tag `b` twice");
        let mut twice = page();
        twice.references = vec!["b".into(), "c".into(), "b".into()];
        assert_eq!(error(twice), "the page `a` refers to `b` twice");
        assert_eq!(error(page().with_reference("")), "a reference is empty");
        let mut many = page();
        many.references = (0..1001).map(|number| number.to_string()).collect();
        assert_eq!(
            error(many),
            "the page `a` has 1001 references; at most 1000 are allowed"
        );
    }
}

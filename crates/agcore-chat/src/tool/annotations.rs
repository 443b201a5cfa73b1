//! [`ToolAnnotations`]: hints about how a tool behaves.

use serde::{Deserialize, Serialize};

use crate::small_text::Text;

/// Hints about how a tool behaves, as declared by its author; `None` means unknown.
///
/// They decide which calls run side by side and what a person is shown. If there is an approver, it is asked about
/// calls of destructive tools that no rule names. Annotations never allow a call: permissions are decided by rules.
///
/// ```
/// use agcore_chat::ToolAnnotations;
///
/// let annotations = ToolAnnotations::new().with_destructive(true).with_concurrency_key("ledger");
/// assert_eq!(annotations.destructive, Some(true));
/// assert_eq!(annotations.read_only, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// A display name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the tool changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether the tool may make destructive changes. A call of such a tool runs alone among the calls of its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Whether repeating a call has no further effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Whether the tool interacts with the world outside the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// A key that serializes calls: calls of tools with the same key never run side by side, across the whole registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<Text>,
    /// Whether the shape of the tool's `ui_hints` is stable across versions, so that front ends may rely on it.
    #[serde(default)]
    pub stable_display: bool,
}

impl ToolAnnotations {
    /// Creates annotations without any hint.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether nothing is known about the tool.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Sets the display name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets whether the tool changes nothing.
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = Some(read_only);
        self
    }

    /// Sets whether the tool may make destructive changes.
    pub fn with_destructive(mut self, destructive: bool) -> Self {
        self.destructive = Some(destructive);
        self
    }

    /// Sets whether repeating a call has no further effect.
    pub fn with_idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = Some(idempotent);
        self
    }

    /// Sets whether the tool interacts with the world outside the application.
    pub fn with_open_world(mut self, open_world: bool) -> Self {
        self.open_world = Some(open_world);
        self
    }

    /// Sets the key that serializes calls.
    pub fn with_concurrency_key(mut self, key: impl Into<Text>) -> Self {
        self.concurrency_key = Some(key.into());
        self
    }

    /// Sets whether the shape of the tool's `ui_hints` is stable.
    pub fn with_stable_display(mut self, stable: bool) -> Self {
        self.stable_display = stable;
        self
    }
}

//! [`PermissionConfig`]: the static rules, which see only the permissions that a tool declares.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::kind::Permission;

/// The permissions that tools may have. These static rules see only the permissions that a tool declares.
///
/// By default, read and network are allowed, delete and shell are denied, and tools that declare nothing are allowed.
///
/// ```
/// use agcore_tools::{Permission, PermissionConfig};
///
/// let config = PermissionConfig::new();
/// assert!(config.check(&[Permission::Read]).allows());
/// assert!(!config.check(&[Permission::Read, Permission::Write]).allows());
/// assert!(config.check(&[]).allows());
///
/// let strict = PermissionConfig::new().with_allow_unspecified(false);
/// assert!(!strict.check(&[]).allows());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
pub struct PermissionConfig {
    /// The allowed permissions. If empty, there is no such list and `allow_unspecified` decides.
    pub allowed: BTreeSet<Permission>,
    /// The denied permissions. Nothing overrides them.
    pub denied: BTreeSet<Permission>,
    /// Whether a tool is allowed when the rules above do not decide: it declares no permissions, or `allowed` is empty.
    pub allow_unspecified: bool,
    /// Whether a tool that needs a permission outside of `allowed` is asked about, as by an ask rule with the lowest
    /// precedence, and not *not allowed*. The difference is that a stored grant then suffices without an approver.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ask_unlisted: bool,
}

impl Default for PermissionConfig {
    fn default() -> Self {
        Self {
            allowed: [Permission::Read, Permission::Network].into(),
            denied: [Permission::Delete, Permission::Shell].into(),
            allow_unspecified: true,
            ask_unlisted: false,
        }
    }
}

/// The static rule that decided, and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StaticRule {
    /// The tool needs this permission, which is in `denied`.
    Denied(Permission),
    /// The tool declares no permissions; the value is that of `allow_unspecified`.
    Undeclared(bool),
    /// `allowed` is empty; the value is that of `allow_unspecified`.
    NoList(bool),
    /// All permissions that the tool needs are in `allowed`.
    Listed,
    /// The tool needs this permission, which is not in `allowed`.
    NotListed(Permission),
}

impl PermissionConfig {
    /// Creates the default configuration.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the allowed permissions.
    pub fn with_allowed(mut self, allowed: impl IntoIterator<Item = Permission>) -> Self {
        self.allowed = allowed.into_iter().collect();
        self
    }

    /// Replaces the denied permissions.
    pub fn with_denied(mut self, denied: impl IntoIterator<Item = Permission>) -> Self {
        self.denied = denied.into_iter().collect();
        self
    }

    /// Sets whether a tool is allowed when it declares no permissions, or `allowed` is empty.
    pub fn with_allow_unspecified(mut self, allow: bool) -> Self {
        self.allow_unspecified = allow;
        self
    }

    /// Sets whether a tool that needs a permission outside of the allowed ones is asked about.
    ///
    /// This also holds for tools that are registered later, such as those that an MCP server adds.
    pub fn with_ask_unlisted(mut self, ask: bool) -> Self {
        self.ask_unlisted = ask;
        self
    }

    /// Applies the static rules, in order, to the permissions that a tool declares.
    pub fn check(&self, required: &[Permission]) -> StaticRule {
        if let Some(denied) = required.iter().find(|permission| self.denied.contains(permission)) {
            return StaticRule::Denied(denied.clone());
        }
        if required.is_empty() {
            return StaticRule::Undeclared(self.allow_unspecified);
        }
        if self.allowed.is_empty() {
            return StaticRule::NoList(self.allow_unspecified);
        }
        match required.iter().find(|permission| !self.allowed.contains(permission)) {
            Some(missing) => StaticRule::NotListed(missing.clone()),
            None => StaticRule::Listed,
        }
    }
}

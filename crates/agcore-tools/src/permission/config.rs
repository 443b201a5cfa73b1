//! [`PermissionConfig`]: the static rules.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::kind::Permission;

/// What tools may need: the static rules, which see nothing but the permissions that a tool declares.
///
/// By default read and network are allowed, delete and shell denied, and tools that declare nothing are allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PermissionConfig {
    /// What is allowed. Empty means that no list is kept and `allow_unspecified` decides.
    pub allowed: BTreeSet<Permission>,
    /// What is denied, whatever else is said.
    pub denied: BTreeSet<Permission>,
    /// Whether tools are allowed of which nothing is said.
    pub allow_unspecified: bool,
}

impl Default for PermissionConfig {
    fn default() -> Self {
        Self {
            allowed: [Permission::Read, Permission::Network].into(),
            denied: [Permission::Delete, Permission::Shell].into(),
            allow_unspecified: true,
        }
    }
}

/// What the static rules say, and which of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StaticRule {
    /// This permission is in `denied`.
    Denied(Permission),
    /// The tool declares nothing; `allow_unspecified` has this value.
    Undeclared(bool),
    /// No list of allowed permissions is kept; `allow_unspecified` has this value.
    NoList(bool),
    /// All are in `allowed`.
    Listed,
    /// This permission is not in `allowed`.
    NotListed(Permission),
}

impl PermissionConfig {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows exactly these.
    #[must_use]
    pub fn with_allowed(mut self, allowed: impl IntoIterator<Item = Permission>) -> Self {
        self.allowed = allowed.into_iter().collect();
        self
    }

    /// Denies exactly these.
    #[must_use]
    pub fn with_denied(mut self, denied: impl IntoIterator<Item = Permission>) -> Self {
        self.denied = denied.into_iter().collect();
        self
    }

    /// Says whether tools are allowed of which nothing is said.
    #[must_use]
    pub fn with_allow_unspecified(mut self, allow: bool) -> Self {
        self.allow_unspecified = allow;
        self
    }

    /// Applies the static rules, in their order, to what a tool declares.
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

//! [`ToolPolicy`]: the rules, who is asked, and what is remembered of the answers.

use std::{fmt, sync::Arc};

use crate::{
    approval::Approver,
    grants::{GrantStore, InMemoryGrants},
    permission::PermissionRules,
};

/// The rules, who is asked, and what is remembered of the answers. Cheap to clone.
///
/// Without an approver nobody can be asked: what the rules would ask about is denied.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolPolicy {
    /// The rules.
    pub rules: Arc<PermissionRules>,
    /// Who is asked.
    pub approver: Option<Arc<dyn Approver>>,
    /// What a person has allowed for good.
    pub grants: Arc<dyn GrantStore>,
    /// Held while a person is asked, when the approver is asked about one call after another.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
}

impl ToolPolicy {
    /// These rules; nobody is asked, and nothing is remembered beyond this value.
    pub fn new(rules: impl Into<PermissionRules>) -> Self {
        Self {
            rules: Arc::new(rules.into()),
            approver: None,
            grants: Arc::new(InMemoryGrants::new()),
            turn: Arc::default(),
        }
    }

    /// Sets who is asked.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets where it is kept what a person has allowed for good.
    #[must_use]
    pub fn with_grants(mut self, grants: Arc<dyn GrantStore>) -> Self {
        self.grants = grants;
        self
    }
}

/// The default rules, without an approver.
impl Default for ToolPolicy {
    fn default() -> Self {
        Self::new(PermissionRules::default())
    }
}

impl fmt::Debug for ToolPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPolicy")
            .field("rules", &self.rules)
            .field("approver", &self.approver.is_some())
            .finish_non_exhaustive()
    }
}

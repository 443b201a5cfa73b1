//! [`ModeSwitch`]: the permission mode of a chat, which can change while a turn runs.

use std::sync::Arc;

use agcore::{
    ToolRegistry,
    tools::{
        Approval, ApprovalRequest, Approver, ToolPolicy,
        permission::{ToolFacts, Verdict, decide},
    },
};
use agcore_settings::{SettingsError, ToolSettings};
use async_trait::async_trait;

use crate::{
    permission_mode::{CurrentMode, PermissionMode, next_mode, unclear},
    policy::Policy,
};

/// The permission mode of a chat. A session has the rules of the default mode, and what another mode changes is decided when a call
/// needs approval, so that a change applies to the next call. Clones share the mode.
#[derive(Debug, Clone)]
pub struct ModeSwitch {
    current: CurrentMode,
    /// The mode in which the program was started.
    start: PermissionMode,
    base: Policy,
    tools: ToolRegistry,
}

impl ModeSwitch {
    /// Creates the switch of a chat that was started in a mode and continues in another.
    ///
    /// # Errors
    /// When a rule names an unknown tool, or the grants cannot be read.
    pub fn new(
        tools: &ToolRegistry,
        settings: &ToolSettings,
        (start, mode): (PermissionMode, PermissionMode),
    ) -> Result<Self, SettingsError> {
        Ok(Self {
            current: mode.into(),
            start,
            base: Policy::new(tools, settings)?,
            tools: tools.clone(),
        })
    }

    /// Returns the mode, which follows the switch.
    pub fn current(&self) -> &CurrentMode {
        &self.current
    }

    /// Describes the mode.
    pub fn note(&self) -> String {
        format!("Permission mode: {}", self.current.get().as_str())
    }

    /// Returns the policy of the current mode.
    pub fn policy(&self) -> Policy {
        self.base.in_mode(&self.tools.snapshot(), self.current.get())
    }

    /// Returns the policy of the session, for every mode. `person` asks the user.
    pub fn session_policy(&self, person: impl Approver + 'static) -> ToolPolicy {
        // Without an approver, a call that needs approval is denied, and the model learns that no one can be asked.
        let asks = self.current.get() != PermissionMode::DontAsk;
        let approver = ModeApprover {
            modes: self.clone(),
            person,
        };
        self.base.with_approver(asks.then(|| Arc::new(approver) as _))
    }

    /// Returns the mode that follows the current one.
    pub fn next(&self) -> PermissionMode {
        next_mode(self.current.get(), self.start)
    }

    /// Changes the mode if a session that is open can follow. The model must know from the beginning whether someone can be asked.
    pub fn change(&self, mode: PermissionMode) -> bool {
        let can_follow = ![mode, self.current.get()].contains(&PermissionMode::DontAsk);
        if can_follow {
            self.current.set(mode);
        }
        can_follow
    }

    /// Returns the answer that the mode gives, or `None` if a person must be asked.
    fn answer(&self, request: &ApprovalRequest) -> Option<Approval> {
        let mode = self.current.get();
        let policy = self.policy();
        let is_destructive = request.annotations.destructive == Some(true);
        let facts = ToolFacts::new(&request.tool, &request.permissions).with_destructive(is_destructive);
        let verdict = decide(policy.rules(), facts, &request.arguments).verdict;
        let name = format!("permission mode {}", mode.as_str());
        match (verdict, mode) {
            (Verdict::Deny, _) => Some(Approval::deny(format!("The {name} does not allow it.")).with_approver(name)),
            (_, PermissionMode::BypassPermissions) if request.unclear => unclear(request),
            // A person confirms it, also if the mode allows the tool.
            (Verdict::Allow, mode) if request.each_time && mode != PermissionMode::BypassPermissions => None,
            (Verdict::Allow, _) | (_, PermissionMode::BypassPermissions) => Some(Approval::once().with_approver(name)),
            _ => None,
        }
    }
}

/// Answers what the current mode decides, and asks a person about the rest.
struct ModeApprover<P> {
    modes: ModeSwitch,
    person: P,
}

#[async_trait]
impl<P: Approver> Approver for ModeApprover<P> {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        match self.modes.answer(request) {
            Some(approval) => approval,
            None => self.person.approve(request).await,
        }
    }
}

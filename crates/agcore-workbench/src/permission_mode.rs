//! The rules and the approver of each [`PermissionMode`].

use std::sync::{Arc, Mutex, PoisonError};

use agcore::{
    chat::ToolCall,
    llm::{Hook, HookContext, ToolVerdict},
    tools::{
        Approval, ApprovalRequest, Approver, Arguments, Permission, RegisteredTool, Rule, RuleState, ToolRegistry,
        permission::ArgumentTest,
    },
};
use agcore_terminal::render::SHELL;
use async_trait::async_trait;

use crate::program_tools::{only_reads, reading_commands};

/// The handling of calls that need approval. Calls that a rule denies are denied in every mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum PermissionMode {
    /// Ask about them
    #[cfg_attr(feature = "clap", value(name = "default"))]
    Default,
    /// Allow them if the tool only changes files, and ask about the others
    #[cfg_attr(feature = "clap", value(name = "acceptEdits", alias = "accept-edits"))]
    AcceptEdits,
    /// Deny tools and commands that are not read-only, even if a rule allows them
    #[cfg_attr(feature = "clap", value(name = "plan"))]
    Plan,
    /// Deny them
    #[cfg_attr(feature = "clap", value(name = "dontAsk", alias = "dont-ask"))]
    DontAsk,
    /// Allow them
    #[cfg_attr(feature = "clap", value(name = "bypassPermissions", alias = "bypass-permissions"))]
    BypassPermissions,
}

impl PermissionMode {
    /// Returns the name of the mode.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

/// The tag of tools that ask an agent with the tools, the rules and the hooks of the chat.
pub const ASKS_AGENT: &str = "agcore:asks-agent";

/// The permission mode in which calls are decided. Clones share it.
#[derive(Debug, Clone)]
pub struct CurrentMode(Arc<Mutex<PermissionMode>>);

impl CurrentMode {
    /// Returns the mode.
    pub fn get(&self) -> PermissionMode {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the mode.
    pub fn set(&self, mode: PermissionMode) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }
}

impl From<PermissionMode> for CurrentMode {
    fn from(mode: PermissionMode) -> Self {
        Self(Arc::new(Mutex::new(mode)))
    }
}

/// Returns the rule of a mode for a tool. Like the rules of the settings, it ranks above the defaults.
pub(crate) fn mode_rule(mode: PermissionMode, tool: &RegisteredTool) -> Option<Rule> {
    let whole = |state| Rule::tool(state, tool.name().as_str());
    let rule = match mode {
        PermissionMode::AcceptEdits if only_edits(tool) => whole(RuleState::Allow),
        PermissionMode::Plan if is_shell(tool.name()) => {
            let others = ArgumentTest::Not(Box::new(ArgumentTest::CommandLine(reading_commands())));
            Rule::argument(RuleState::Deny, SHELL, "$.command", others).unwrap_or_else(|_| whole(RuleState::Deny))
        }
        PermissionMode::Plan if !may_plan_with(tool) => whole(RuleState::Deny),
        _ => return None,
    };
    Some(rule.with_name(format!("permission mode {}", mode.as_str())))
}

/// Returns the approver of a mode. `person` asks the user; it is `None` if no one can be asked.
pub fn mode_approver(mode: PermissionMode, person: Option<Arc<dyn Approver>>) -> Option<Arc<dyn Approver>> {
    match mode {
        PermissionMode::BypassPermissions => Some(Arc::new(AllowAll)),
        PermissionMode::DontAsk => None,
        PermissionMode::Default | PermissionMode::AcceptEdits | PermissionMode::Plan => person,
    }
}

/// Returns the mode that follows when the user cycles through them. The mode of the start is one of them, so that `dontAsk` and
/// `bypassPermissions` are reached only if the program was started with them.
pub fn next_mode(mode: PermissionMode, start: PermissionMode) -> PermissionMode {
    let mut modes = vec![
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
    ];
    if !modes.contains(&start) {
        modes.push(start);
    }
    let position = modes.iter().position(|known| *known == mode).unwrap_or(0);
    modes[(position + 1) % modes.len()]
}

/// Returns the prompt of a chat. It names the mode unless that is the default: what a mode allows should be seen all the time.
pub fn prompt(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "> ",
        PermissionMode::AcceptEdits => "accept edits > ",
        PermissionMode::Plan => "plan > ",
        PermissionMode::DontAsk => "don't ask > ",
        PermissionMode::BypassPermissions => "bypass permissions > ",
    }
}

/// Returns the mode after `/plan`: plan mode, or from there that of the start.
pub fn plan_mode(mode: PermissionMode, start: PermissionMode) -> PermissionMode {
    match (mode, start) {
        (PermissionMode::Plan, PermissionMode::Plan) => PermissionMode::Default,
        (PermissionMode::Plan, start) => start,
        (_, _) => PermissionMode::Plan,
    }
}

/// Returns whether a tool needs to write, and nothing else that is not allowed anyway.
fn only_edits(tool: &RegisteredTool) -> bool {
    let is_edit = |permission: &Permission| matches!(permission, Permission::Write | Permission::FileSystem);
    let permissions = tool.permissions();
    permissions.iter().any(is_edit)
        && permissions
            .iter()
            .all(|permission| is_edit(permission) || *permission == Permission::Read)
        && tool.annotations().destructive != Some(true)
}

/// Returns whether a tool may run in plan mode: it is read-only, or it asks an agent, whose own calls follow the mode.
fn may_plan_with(tool: &RegisteredTool) -> bool {
    tool.annotations().read_only == Some(true) || tool.tags().any(|tag| tag == ASKS_AGENT)
}

fn is_shell(tool: &str) -> bool {
    tool == SHELL
}

/// Returns whether a call may run in plan mode: of the shell, one whose commands only read.
fn may_plan_with_call(tool: &RegisteredTool, call: &ToolCall) -> bool {
    let reads = |arguments: Arguments| arguments["command"].as_str().is_some_and(only_reads);
    may_plan_with(tool) || is_shell(tool.name()) && Arguments::from_call(call).is_ok_and(reads)
}

/// Reports to the model why a call is denied in plan mode. The rules of the mode deny it as well, but do not give a reason.
/// Covers tools that an MCP server adds later, which the rules do not know.
pub(crate) struct PlanModeNotice(ToolRegistry, CurrentMode);

impl PlanModeNotice {
    /// Creates the notice for these tools, which is given while the mode is plan mode.
    pub(crate) fn new(tools: &ToolRegistry, mode: CurrentMode) -> Self {
        Self(tools.clone(), mode)
    }
}

#[async_trait]
impl Hook for PlanModeNotice {
    async fn pre_tool(&self, _: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        let is_planning = self.1.get() == PermissionMode::Plan;
        match self.0.get(&call.name) {
            Some(tool) if is_planning && !may_plan_with_call(&tool, call) => ToolVerdict::Block(format!(
                "{} was not run: plan mode is on, in which only read-only tools may run, and simple shell commands that only \
                 read, such as `ls` and `git log`. Do not retry; describe what you would do instead.",
                tool.name()
            )),
            _ => ToolVerdict::Continue,
        }
    }
}

/// Approves everything, as requested with `--yes`, except what a deny rule might deny.
#[derive(Debug)]
pub struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        outside(request)
            .or_else(|| unclear(request))
            .unwrap_or_else(Approval::once)
    }
}

/// Returns the answer to a command outside the sandbox, which only a person can allow.
fn outside(request: &ApprovalRequest) -> Option<Approval> {
    let is_outside = is_shell(&request.tool) && request.arguments.as_value()["outside"] == true;
    is_outside.then(|| {
        Approval::deny(
            "only the user can allow a command outside the sandbox, and no one is asked; run it in the sandbox, or ask the user to \
             start agcore with `--sandbox off`",
        )
    })
}

/// Returns the answer to a call that a rule may or may not deny, if no one is asked.
pub fn unclear(request: &ApprovalRequest) -> Option<Approval> {
    request.unclear.then(|| {
        Approval::deny(format!(
            "{}, and no one is asked; write simple commands without variables, wildcards and redirections",
            request.reason
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycling_reaches_bypass_only_from_a_start_in_it() {
        use PermissionMode::{AcceptEdits, BypassPermissions, Default, Plan};

        let cycle = |start: PermissionMode| {
            let next = |mode: &PermissionMode| Some(next_mode(*mode, start));
            std::iter::successors(Some(start), next)
                .skip(1)
                .take(4)
                .collect::<Vec<_>>()
        };
        assert_eq!(cycle(Default), [AcceptEdits, Plan, Default, AcceptEdits]);
        assert_eq!(
            cycle(BypassPermissions),
            [Default, AcceptEdits, Plan, BypassPermissions]
        );
    }
}

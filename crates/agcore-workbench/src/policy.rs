//! [`Policy`]: decides which tools may run, from the settings, the defaults and stored grants.

pub mod mode_switch;

use std::{fmt, sync::Arc};

use agcore::tools::{
    Approver, Arguments, Grant, Permission, PermissionConfig, PermissionRules, RegisteredTool, Rule, RuleState,
    ToolPolicy, ToolRegistry, ToolSession, ToolSnapshot,
    permission::{ArgumentTest, Basis, ToolFacts, Verdict, decide},
};
use agcore_settings::{PermissionEntry, SettingsError, Subject, ToolSettings};
use agcore_terminal::render::SHELL;

use crate::{
    chat_tools,
    grants::Grants,
    permission_mode::{PermissionMode, mode_rule},
    program_tools::{self, FETCH_URL},
};

/// The permission rules and the stored grants.
#[derive(Debug, Clone)]
pub struct Policy {
    mode: PermissionMode,
    /// The rules of the default mode.
    base: PermissionRules,
    rules: PermissionRules,
    grants: Arc<Grants>,
}

impl Policy {
    /// Creates the policy for these tools.
    ///
    /// # Errors
    /// When a rule names an unknown tool, or the grants cannot be read.
    pub fn new(tools: &ToolRegistry, settings: &ToolSettings) -> Result<Self, SettingsError> {
        Self::for_mode(tools, settings, PermissionMode::Default)
    }

    /// Creates the policy for these tools in a permission mode.
    ///
    /// # Errors
    /// When a rule names an unknown tool, or the grants cannot be read.
    pub fn for_mode(
        tools: &ToolRegistry,
        settings: &ToolSettings,
        mode: PermissionMode,
    ) -> Result<Self, SettingsError> {
        let tools = tools.snapshot();
        // An agent in a file that cannot be used is only a warning, and so is a rule for it.
        let is_agent = |name: &str| settings.project.agents.iter().any(|agent| agent.tool() == name);
        // Commands with some of the tools, such as `agcore mcp call`, have the rules for all of them.
        let own = program_tools::registry().map_err(|error| SettingsError::new(error.to_string()))?;
        let known = |name: &str| {
            let is_own = own.get(name).is_some() || chat_tools::NAMES.contains(&name);
            tools.get(name).is_some() || is_own || settings.mcp.may_have(name) || is_agent(name)
        };
        let mut entries = settings.permissions.iter();
        entries.try_for_each(|entry| entry.check(&tools, known))?;
        let base = rules(&settings.permissions);
        let policy = Self {
            mode: PermissionMode::Default,
            rules: base.clone(),
            base,
            grants: Arc::new(Grants::open(settings.grants.clone())?),
        };
        Ok(policy.in_mode(&tools, mode))
    }

    /// Returns the policy for these tools in another permission mode. It shares the grants.
    #[must_use]
    pub fn in_mode(&self, tools: &ToolSnapshot, mode: PermissionMode) -> Self {
        let mode_rules = tools.tools().iter().filter_map(|tool| mode_rule(mode, tool));
        Self {
            mode,
            rules: self.base.clone().with_rules(mode_rules),
            ..self.clone()
        }
    }

    /// Returns the rules of the permission mode.
    pub fn rules(&self) -> &PermissionRules {
        &self.rules
    }

    /// Returns the permission mode.
    pub fn mode(&self) -> PermissionMode {
        self.mode
    }

    /// Returns the policy with this approver. Without one, calls that need approval are denied.
    pub fn with_approver(&self, approver: Option<Arc<dyn Approver>>) -> ToolPolicy {
        let policy = ToolPolicy::new(self.rules.clone()).with_grants(self.grants.clone());
        match approver {
            Some(approver) => policy.with_approver(approver),
            None => policy,
        }
    }

    /// Returns the stored grants.
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Returns whether a tool may run, in a session or without one. No rule of this program depends on arguments.
    pub fn access(&self, tool: &RegisteredTool, session: Option<&ToolSession>) -> Access {
        let is_destructive = tool.annotations().destructive == Some(true);
        let facts = ToolFacts::new(tool.name(), tool.permissions()).with_destructive(is_destructive);
        let decision = decide(&self.rules, facts, &Arguments::new());
        let rule = match decision.basis {
            Basis::Rule(place) => self.rules.rules.get(place),
            _ => None,
        };
        let reason = rule.map_or_else(|| decision.reason(&self.rules).to_string(), Rule::to_string);
        let tool = tool.name().as_str();
        match decision.verdict {
            Verdict::Allow => Access::Allowed(reason),
            Verdict::Deny => Access::Denied(reason),
            _ if self.grants.has(tool) => Access::Allowed(format!("you answered \"always\" ({})", self.grants.place())),
            _ if session.is_some_and(|session| is_granted(session, tool)) => {
                Access::Allowed("you allowed it for this session".to_owned())
            }
            _ => Access::NeedsApproval(reason),
        }
    }
}

/// Returns whether the user has allowed the tool with any arguments for the session.
fn is_granted(session: &ToolSession, tool: &str) -> bool {
    let covers = |grant: &Grant| grant.tool.matches(tool) && grant.arguments.is_empty();
    session.grants().iter().any(covers)
}

/// Whether a tool may run, and the reason.
#[derive(Debug)]
pub enum Access {
    /// It runs, for this reason.
    Allowed(String),
    /// A person is asked, for this reason.
    NeedsApproval(String),
    /// It does not run, for this reason.
    Denied(String),
}

impl Access {
    /// Returns the value for JSON output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allowed(_) => "allowed",
            Self::NeedsApproval(_) => "asked",
            Self::Denied(_) => "denied",
        }
    }

    /// Returns the reason.
    pub fn reason(&self) -> &str {
        match self {
            Self::Allowed(reason) | Self::NeedsApproval(reason) | Self::Denied(reason) => reason,
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed(reason) => write!(f, "allowed: {reason}"),
            Self::NeedsApproval(reason) => write!(f, "needs approval: {reason}"),
            Self::Denied(reason) => write!(f, "denied: {reason}"),
        }
    }
}

/// Combines the entries with the defaults. By default a tool runs if all permissions it needs are allowed; any other
/// tool needs approval.
///
/// An entry that allows or asks about a permission replaces its default; among entries, deny overrides ask and ask
/// overrides allow. The default question has the lowest precedence: it applies only to tools that no entry allows, also to those
/// that an MCP server adds later.
fn rules(entries: &[PermissionEntry]) -> PermissionRules {
    let mut config = PermissionConfig::default().with_ask_unlisted(true);
    // The shell of this program is asked about.
    config.denied.remove(&Permission::Shell);
    // An address can carry what the model knows to anyone, so web pages are asked about, too.
    config.allowed.remove(&Permission::Network);
    for entry in entries.iter().filter(|entry| entry.state != RuleState::Deny) {
        if let Subject::Permission(permission) = &entry.subject {
            config.denied.remove(permission);
            config.allowed.insert(permission.clone());
        }
    }
    let tests = [
        (SHELL, "$.command", command_test as ArgumentTests),
        (FETCH_URL, "$.url", url_test),
    ];
    let argument_rules: Vec<Rule> = tests.iter().flat_map(|test| rules_for(*test, entries)).collect();
    PermissionRules::new(config)
        .with_rules(entries.iter().filter_map(PermissionEntry::rule))
        .with_rules(argument_rules)
}

/// Returns the test of an argument that the entries of a state describe, or `None` if there are none.
type ArgumentTests = fn(&[PermissionEntry], RuleState) -> Option<ArgumentTest>;

/// Returns the rules for an argument of a tool: one for all patterns of a state, because each command of a line may match another
/// one. If some calls are allowed, all others are asked about: an ask rule for the whole tool would override what is allowed.
fn rules_for((tool, path, test): (&str, &str, ArgumentTests), entries: &[PermissionEntry]) -> Vec<Rule> {
    let states = [RuleState::Deny, RuleState::Ask, RuleState::Allow];
    let mut tests: Vec<(RuleState, ArgumentTest, String)> = Vec::new();
    for state in states {
        if let Some(test) = test(entries, state) {
            if state == RuleState::Allow {
                let others = ArgumentTest::Not(Box::new(test.clone()));
                tests.push((RuleState::Ask, others, format!("default for {tool}")));
            }
            tests.push((state, test, "[permissions]".to_owned()));
        }
    }
    // A rule fails only for an empty pattern, which the settings do not contain.
    let rule = |(state, test, name): (RuleState, ArgumentTest, String)| {
        Some(Rule::argument(state, tool, path, test).ok()?.with_name(name))
    };
    tests.into_iter().filter_map(rule).collect()
}

fn command_test(entries: &[PermissionEntry], state: RuleState) -> Option<ArgumentTest> {
    let entries = entries.iter().filter(|entry| entry.state == state);
    let patterns: Vec<_> = entries
        .filter_map(|entry| match &entry.subject {
            Subject::Command(pattern) => Some(pattern.clone()),
            _ => None,
        })
        .collect();
    (!patterns.is_empty()).then_some(ArgumentTest::CommandLine(patterns))
}

fn url_test(entries: &[PermissionEntry], state: RuleState) -> Option<ArgumentTest> {
    let entries = entries.iter().filter(|entry| entry.state == state);
    let patterns: Vec<_> = entries
        .filter_map(|entry| match &entry.subject {
            Subject::Url(pattern) => Some(pattern.clone()),
            _ => None,
        })
        .collect();
    (!patterns.is_empty()).then_some(ArgumentTest::MatchesAny(patterns))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use agcore_settings::{McpServers, Origin, Project, grants_place::GrantsPlace, permissions_of};

    use crate::sample_tools;

    #[track_caller]
    fn check(table: &str, expected: [&str; 4]) {
        let entries = permissions_of(Path::new("agcore.toml"), &format!("[permissions]\n{table}")).unwrap();
        let (tools, directory) = (sample_tools::registry().unwrap(), tempfile::tempdir().unwrap());
        let settings = ToolSettings {
            permissions: entries,
            permissions_origin: Origin::Default,
            grants: GrantsPlace::File(directory.path().join("grants.json")),
            grants_origin: Origin::Default,
            proxy: agcore::llm::transport::http::Proxy::None,
            mcp: McpServers::default(),
            hooks: Vec::new(),
            budget: agcore_settings::BudgetTable::default(),
            sandbox: agcore_settings::SandboxSettings::default(),
            offer: agcore_settings::ToolTable::default(),
            redaction: agcore_settings::redaction::Redaction::default(),
            keep_env: Vec::new(),
            further_folders: Vec::new(),
            startable: agcore_settings::trust::Startable::default(),
            project: Project::default(),
            warnings: Vec::new(),
        };
        let policy = Policy::new(&tools, &settings).unwrap();
        let found = tools
            .list()
            .iter()
            .map(|tool| policy.access(tool, None).as_str())
            .collect::<Vec<_>>();
        // arithmetic, current_time, read_notes, save_note
        assert_eq!(found, expected, "{table}");
    }

    #[test]
    fn settings_override_defaults_and_deny_overrides_ask_overrides_allow() {
        check("", ["allowed", "allowed", "allowed", "asked"]);
        check("allow = ['save_note']", ["allowed"; 4]);
        check("allow = ['write']", ["allowed"; 4]);
        check("allow = ['*note*']", ["allowed"; 4]);
        check("ask = ['*_note*']", ["allowed", "allowed", "asked", "asked"]);
        check("ask = ['read']", ["asked"; 4]);
        check("ask = ['read']\nallow = ['*']", ["asked", "asked", "asked", "allowed"]);
        check("deny = ['read']", ["denied", "denied", "denied", "asked"]);
        check(
            "deny = ['read']\nallow = ['read']",
            ["denied", "denied", "denied", "asked"],
        );
        check(
            "deny = ['write']\nallow = ['save_note']",
            ["allowed", "allowed", "allowed", "denied"],
        );
        check("deny = ['*']\nask = ['*']\nallow = ['*']", ["denied"; 4]);
        check(
            "ask = ['save_note']\nallow = ['write']",
            ["allowed", "allowed", "allowed", "asked"],
        );
        check(
            "deny = ['a*', 'mcp_*', 'acme:refund']",
            ["denied", "allowed", "allowed", "asked"],
        );
    }
}

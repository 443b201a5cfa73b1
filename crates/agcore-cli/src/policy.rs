//! [`Policy`]: which tools may run: the settings over the defaults, and what a person has allowed for good.

use std::{fmt, sync::Arc};

use agcore::tools::{
    Approver, Arguments, PermissionConfig, PermissionRules, RegisteredTool, Rule, RuleState, ToolPolicy, ToolRegistry,
    ToolSession, ToolSnapshot,
    permission::{Basis, StaticRule, ToolFacts, Verdict, decide},
};

use crate::{
    exit::Failure,
    grants::GrantsFile,
    settings::{Subject, ToolSettings, Wish},
};

/// The rules and the grants of the tools.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    rules: PermissionRules,
    grants: Arc<GrantsFile>,
}

impl Policy {
    /// The policy of these tools.
    ///
    /// # Errors
    /// A rule that speaks of no tool; grants that cannot be read.
    pub(crate) fn new(tools: &ToolRegistry, settings: &ToolSettings) -> Result<Self, Failure> {
        let tools = tools.snapshot();
        settings.permissions.iter().try_for_each(|wish| wish.check(&tools))?;
        Ok(Self {
            rules: rules(&tools, &settings.permissions),
            grants: Arc::new(GrantsFile::open(settings.grants.clone())?),
        })
    }

    /// With the one who is asked. Without, what needs a yes is denied.
    pub(crate) fn with_approver(&self, approver: Option<Arc<dyn Approver>>) -> ToolPolicy {
        let policy = ToolPolicy::new(self.rules.clone()).with_grants(self.grants.clone());
        match approver {
            Some(approver) => policy.with_approver(approver),
            None => policy,
        }
    }

    /// What a person has allowed for good.
    pub(crate) fn grants(&self) -> &GrantsFile {
        &self.grants
    }

    /// How a tool stands, in a session or before one. No rule here looks at arguments.
    pub(crate) fn standing(&self, tool: &RegisteredTool, session: Option<&ToolSession>) -> Standing {
        let facts = ToolFacts::new(tool.name(), tool.permissions());
        let decision = decide(&self.rules, facts, &Arguments::new());
        let rule = match decision.basis {
            Basis::Rule(place) => self.rules.rules.get(place),
            _ => None,
        };
        let reason = rule.map_or_else(|| decision.reason(&self.rules).to_string(), Rule::to_string);
        let tool = tool.name().as_str();
        match decision.verdict {
            Verdict::Allow => Standing::Allowed(reason),
            Verdict::Deny => Standing::Denied(reason),
            _ if self.grants.has(tool) => {
                Standing::Allowed(format!("you said always, see {}", self.grants.path().display()))
            }
            _ if session.is_some_and(|session| session.grants().iter().any(|grant| grant.tool == tool)) => {
                Standing::Allowed("you said so for this session".to_owned())
            }
            _ => Standing::Asked(reason),
        }
    }
}

/// How a tool stands, and why.
#[derive(Debug)]
pub(crate) enum Standing {
    Allowed(String),
    Asked(String),
    Denied(String),
}

impl Standing {
    /// In one word.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Allowed(_) => "allowed",
            Self::Asked(_) => "asked",
            Self::Denied(_) => "denied",
        }
    }

    /// Why.
    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::Allowed(reason) | Self::Asked(reason) | Self::Denied(reason) => reason,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.word(), self.reason())
    }
}

/// The wishes over the defaults. By default a tool runs that needs only what is allowed; any other is asked about.
///
/// A permission that is allowed or asked about loses its default; then deny stands over ask over allow. The default
/// question stands under all wishes: it is asked only of tools that no wish allows.
fn rules(tools: &ToolSnapshot, wishes: &[Wish]) -> PermissionRules {
    let mut config = PermissionConfig::default();
    for wish in wishes.iter().filter(|wish| wish.state != RuleState::Deny) {
        if let Subject::Permission(permission) = &wish.subject {
            config.denied.remove(permission);
            config.allowed.insert(permission.clone());
        }
    }
    let wished = wishes.iter().map(Wish::rule);
    let rules = PermissionRules::new(config).with_rules(wished);
    let asked: Vec<Rule> = tools
        .tools()
        .iter()
        .filter_map(|tool| default_question(tool, &rules))
        .collect();
    rules.with_rules(asked)
}

/// The question of a tool that neither its permissions nor a rule let run.
fn default_question(tool: &RegisteredTool, rules: &PermissionRules) -> Option<Rule> {
    let StaticRule::NotListed(needed) = rules.config.check(tool.permissions()) else {
        return None;
    };
    let lets = |rule: &Rule| rule.is_specific() && rule.holds(tool.name(), tool.permissions(), &Arguments::new());
    let question = Rule::tool(RuleState::Ask, tool.name().as_str()).with_name(format!("default for {needed}"));
    (!rules.rules.iter().any(lets)).then_some(question)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{
        sample_tools,
        settings::{Origin, permissions_of},
    };

    #[track_caller]
    fn check(table: &str, expected: [&str; 4]) {
        let wishes = permissions_of(Path::new("agcore.toml"), &format!("[permissions]\n{table}")).unwrap();
        let (tools, folder) = (sample_tools::registry().unwrap(), tempfile::tempdir().unwrap());
        let settings = ToolSettings {
            permissions: wishes,
            permissions_origin: Origin::Default,
            grants: folder.path().join("grants.json"),
            grants_origin: Origin::Default,
        };
        let policy = Policy::new(&tools, &settings).unwrap();
        let found = tools
            .list()
            .iter()
            .map(|tool| policy.standing(tool, None).word())
            .collect::<Vec<_>>();
        // arithmetic, current_time, read_notes, save_note
        assert_eq!(found, expected, "{table}");
    }

    #[test]
    fn settings_stand_over_defaults_and_deny_over_ask_over_allow() {
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

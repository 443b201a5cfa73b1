//! [`decide`]: evaluates the rules for a call. A pure function that involves no person, grant or store.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    config::{PermissionConfig, StaticRule},
    kind::Permission,
    rule::{Rule, RuleState},
};
use crate::arguments::Arguments;

/// All rules: the static ones, and the allow, ask and deny rules on top of them.
///
/// [`decide`] evaluates them.
///
/// ```
/// use agcore_tools::{Permission, PermissionConfig, PermissionRules, Rule, RuleState};
///
/// let rules = PermissionRules::new(PermissionConfig::new().with_allowed([Permission::Read, Permission::Write]))
///     .with_rule(Rule::permission(RuleState::Ask, Permission::Write))
///     .with_rule(Rule::tool(RuleState::Deny, "shell.*"));
///
/// let from_json: PermissionRules = serde_json::from_str(r#"{
///     "permissions": {"allowed": ["read", "write"]},
///     "rules": [{"state": "ask", "permission": "write"}, {"state": "deny", "tool": "shell.*"}]
/// }"#)?;
/// assert_eq!(from_json, rules);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
pub struct PermissionRules {
    /// The static rules.
    #[serde(rename = "permissions")]
    pub config: PermissionConfig,
    /// The rules on top. Their order does not affect the verdict; when several match, the first is reported as the
    /// reason.
    pub rules: Vec<Rule>,
}

impl PermissionRules {
    /// Creates rules that consist of static rules only.
    pub fn new(config: PermissionConfig) -> Self {
        Self {
            config,
            rules: Vec::new(),
        }
    }

    /// Adds a rule.
    pub fn with_rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds rules.
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }
}

impl From<PermissionConfig> for PermissionRules {
    fn from(config: PermissionConfig) -> Self {
        Self::new(config)
    }
}

/// The facts about a tool that the rules consider besides the arguments.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ToolFacts<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// The permissions that the tool declares to need.
    pub permissions: &'a [Permission],
    /// Whether the tool declares itself destructive.
    pub destructive: bool,
}

impl<'a> ToolFacts<'a> {
    /// Creates the facts from a tool's name and its declared permissions.
    pub fn new(name: &'a str, permissions: &'a [Permission]) -> Self {
        Self {
            name,
            permissions,
            destructive: false,
        }
    }

    /// Sets whether the tool declares itself destructive. If so, the call needs an approval unless an allow or ask rule
    /// for the tool or one of its arguments matches.
    #[must_use]
    pub fn with_destructive(mut self, destructive: bool) -> Self {
        self.destructive = destructive;
        self
    }
}

/// The verdict of the rules on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The call may run.
    Allow,
    /// The call needs approval. Without an approver, it is denied.
    Ask,
    /// No rule allows the call. It needs approval; without an approver, it is denied.
    NotAllowed,
    /// The call must not run. No approval or grant overrides this.
    Deny,
}

/// The verdict of the rules on a call, and the rule that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// The rule that decided.
    pub basis: Basis,
    /// The rules, as indices into [`PermissionRules::rules`], that ask because of an argument. A grant covers the call
    /// only if it names all of these arguments.
    pub asking_arguments: Vec<usize>,
    /// Whether the call is asked about as a whole, and not only because of some of its arguments.
    pub asks_whole_call: bool,
}

/// The rule that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Basis {
    /// A static rule.
    Static(StaticRule),
    /// A rule on top, as an index into [`PermissionRules::rules`].
    Rule(usize),
    /// A deny rule for commands, as an index into [`PermissionRules::rules`], that may or may not match: the value has syntax
    /// that only a shell understands. A person is asked.
    Unclear(usize),
    /// The tool declares itself destructive, and no rule names it.
    Destructive,
}

/// Evaluates the rules for a call. Deny takes precedence over ask, and ask over allow, whatever the kind of the rules.
///
/// The tables in [the module documentation](crate::permission) describe this function in words.
///
/// ```
/// use agcore_tools::{
///     Arguments, Permission, PermissionRules, Rule, RuleState,
///     permission::{ToolFacts, Verdict, decide},
/// };
///
/// let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Allow, "save_note"));
/// let verdict = |tool: &str| decide(&rules, ToolFacts::new(tool, &[Permission::Write]), &Arguments::new()).verdict;
/// assert_eq!(verdict("save_note"), Verdict::Allow);
/// // By default, writing is neither allowed nor denied.
/// assert_eq!(verdict("save_file"), Verdict::NotAllowed);
/// ```
pub fn decide(rules: &PermissionRules, tool: ToolFacts<'_>, arguments: &Arguments) -> Decision {
    let static_rule = rules.config.check(tool.permissions);
    if matches!(static_rule, StaticRule::Denied(_)) {
        return Decision {
            verdict: Verdict::Deny,
            basis: Basis::Static(static_rule),
            asking_arguments: Vec::new(),
            asks_whole_call: false,
        };
    }
    let matching = MatchingRules::find(&rules.rules, tool, arguments);
    let otherwise = match static_rule {
        StaticRule::NotListed(_) if rules.config.ask_unlisted => Verdict::Ask,
        _ => Verdict::NotAllowed,
    };
    let asked = matching.unclear.map(Basis::Unclear).or(matching.ask.map(Basis::Rule));
    let (verdict, basis) = match (matching.deny, asked, static_rule.allows()) {
        (Some(deny), ..) => (Verdict::Deny, Basis::Rule(deny)),
        (None, Some(asked), true) => (Verdict::Ask, asked),
        (None, Some(asked), false) => match (matching.lift, &asked, otherwise) {
            (Some(_), ..) | (None, Basis::Unclear(_), Verdict::Ask) => (Verdict::Ask, asked),
            (None, ..) => (otherwise, Basis::Static(static_rule)),
        },
        (None, None, true) if tool.destructive && matching.lift.is_none() => (Verdict::Ask, Basis::Destructive),
        (None, None, true) => (
            Verdict::Allow,
            matching.allow.map_or(Basis::Static(static_rule), Basis::Rule),
        ),
        (None, None, false) => match matching.lift {
            Some(lift) => (Verdict::Allow, Basis::Rule(lift)),
            None => (otherwise, Basis::Static(static_rule)),
        },
    };
    let asks_whole_call = match (verdict, &basis) {
        (Verdict::NotAllowed, _) | (Verdict::Ask, Basis::Static(_)) | (_, Basis::Destructive) => true,
        _ => matching.asks_whole_call,
    };
    Decision {
        verdict,
        basis,
        asking_arguments: matching.asking_arguments,
        asks_whole_call,
    }
}

/// The rules that match a call: the index of the first of each kind.
#[derive(Default)]
struct MatchingRules {
    deny: Option<usize>,
    unclear: Option<usize>,
    ask: Option<usize>,
    allow: Option<usize>,
    /// An allow or ask rule that names a tool or argument, and so lifts *not allowed*.
    lift: Option<usize>,
    asking_arguments: Vec<usize>,
    asks_whole_call: bool,
}

impl MatchingRules {
    fn find(rules: &[Rule], tool: ToolFacts<'_>, arguments: &Arguments) -> Self {
        let mut matching = Self::default();
        for (index, rule) in rules.iter().enumerate() {
            if rule.matches(tool.name, tool.permissions, arguments) {
                matching.add(index, rule);
            } else if rule.is_unclear(tool.name, arguments) {
                matching.unclear.get_or_insert(index);
                matching.asking_arguments.push(index);
            }
        }
        matching
    }

    fn add(&mut self, index: usize, rule: &Rule) {
        let first = match rule.state {
            RuleState::Deny => &mut self.deny,
            RuleState::Ask => &mut self.ask,
            RuleState::Allow => &mut self.allow,
        };
        first.get_or_insert(index);
        if rule.state != RuleState::Deny && rule.is_specific() {
            self.lift.get_or_insert(index);
        }
        match (rule.state, rule.path()) {
            (RuleState::Ask, Some(_)) => self.asking_arguments.push(index),
            (RuleState::Ask, None) => self.asks_whole_call = true,
            _ => {}
        }
    }
}

impl StaticRule {
    /// Returns whether the static rules alone allow the tool.
    pub fn allows(&self) -> bool {
        matches!(self, Self::Listed | Self::Undeclared(true) | Self::NoList(true))
    }
}

impl Decision {
    /// Returns the reason, which is formatted only when it is displayed.
    pub fn reason<'a>(&'a self, rules: &'a PermissionRules) -> Reason<'a> {
        Reason {
            decision: self,
            rules,
            confirmation: None,
        }
    }
}

/// Displays the reason for a [`Decision`].
#[derive(Debug, Clone, Copy)]
pub struct Reason<'a> {
    decision: &'a Decision,
    rules: &'a PermissionRules,
    /// Why a person must confirm the call, which counts unless a rule denies it.
    confirmation: Option<&'a str>,
}

impl<'a> Reason<'a> {
    /// Names why a person must confirm the call, instead of the rule, unless a rule denies it.
    pub(crate) fn or_confirmation(mut self, confirmation: Option<&'a str>) -> Self {
        self.confirmation = confirmation.filter(|_| self.decision.verdict != Verdict::Deny);
        self
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(confirmation) = self.confirmation {
            return f.write_str(confirmation);
        }
        match &self.decision.basis {
            Basis::Rule(index) => match self.rules.rules.get(*index) {
                Some(rule) => write!(f, "rule {} ({rule})", index + 1),
                None => write!(f, "rule {}", index + 1),
            },
            Basis::Unclear(index) => {
                let rule = self.rules.rules.get(*index);
                let rule = rule.map(|rule| format!(" ({rule})")).unwrap_or_default();
                let number = index + 1;
                write!(
                    f,
                    "rule {number}{rule} cannot be checked, because the command has syntax that only a shell understands"
                )
            }
            Basis::Destructive => f.write_str("it is declared destructive, and no rule names it"),
            Basis::Static(StaticRule::Denied(permission)) => {
                write!(f, "it needs {permission}, which is denied")
            }
            Basis::Static(StaticRule::NotListed(permission)) => {
                write!(f, "it needs {permission}, which is not among the allowed permissions")
            }
            Basis::Static(StaticRule::Listed) => f.write_str("all permissions it needs are allowed"),
            Basis::Static(StaticRule::Undeclared(allow)) => {
                write!(f, "it declares no permissions, and allow_unspecified is {allow}")
            }
            Basis::Static(StaticRule::NoList(allow)) => {
                write!(
                    f,
                    "no permissions are listed as allowed, and allow_unspecified is {allow}"
                )
            }
        }
    }
}

impl Serialize for Reason<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

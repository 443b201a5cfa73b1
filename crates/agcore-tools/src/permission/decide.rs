//! [`decide`]: what the rules say of a call. Pure: no person, no grant, no store.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    config::{PermissionConfig, StaticRule},
    kind::Permission,
    rule::{Rule, RuleState},
};
use crate::arguments::Arguments;

/// All rules: the static ones, and those on top.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PermissionRules {
    /// The static rules.
    #[serde(rename = "permissions")]
    pub config: PermissionConfig,
    /// The rules on top. Their order does not matter, but for which of several is named as the reason: the first.
    pub rules: Vec<Rule>,
}

impl PermissionRules {
    /// Static rules only.
    pub fn new(config: PermissionConfig) -> Self {
        Self {
            config,
            rules: Vec::new(),
        }
    }

    /// Adds a rule.
    #[must_use]
    pub fn with_rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds rules.
    #[must_use]
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

/// What the rules look at besides the arguments.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ToolFacts<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// What it declares to need.
    pub permissions: &'a [Permission],
}

impl<'a> ToolFacts<'a> {
    /// A tool by name and what it declares to need.
    pub fn new(name: &'a str, permissions: &'a [Permission]) -> Self {
        Self { name, permissions }
    }
}

/// What the rules say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The call may run.
    Allow,
    /// A person is asked; without one it is denied.
    Ask,
    /// Nothing allows it: a person is asked where there is one, else it is denied.
    NotAllowed,
    /// The call may not run, whoever says so.
    Deny,
}

/// What the rules say of a call, and which of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// What they say.
    pub verdict: Verdict,
    /// Which of them decided.
    pub basis: Basis,
    /// The rules (their places in [`PermissionRules::rules`]) that ask because of an argument. A remembered grant
    /// holds only where it speaks of all of these arguments.
    pub asking_arguments: Vec<usize>,
}

/// Which rule decided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Basis {
    /// A static rule.
    Static(StaticRule),
    /// A rule on top, by its place in [`PermissionRules::rules`].
    Rule(usize),
}

/// Says what the rules say of a call. Deny stands over ask over allow, whatever the level of the rules.
///
/// The table in [the module's documentation](super) is this function in words.
pub fn decide(rules: &PermissionRules, tool: ToolFacts<'_>, arguments: &Arguments) -> Decision {
    let statically = rules.config.check(tool.permissions);
    if matches!(statically, StaticRule::Denied(_)) {
        return Decision {
            verdict: Verdict::Deny,
            basis: Basis::Static(statically),
            asking_arguments: Vec::new(),
        };
    }
    let held = Held::of(&rules.rules, tool, arguments);
    let (verdict, basis) = match (held.deny, held.ask, statically.allows()) {
        (Some(deny), ..) => (Verdict::Deny, Basis::Rule(deny)),
        (None, Some(ask), true) => (Verdict::Ask, Basis::Rule(ask)),
        (None, Some(ask), false) => match held.lift {
            Some(_) => (Verdict::Ask, Basis::Rule(ask)),
            None => (Verdict::NotAllowed, Basis::Static(statically)),
        },
        (None, None, true) => (
            Verdict::Allow,
            held.allow.map_or(Basis::Static(statically), Basis::Rule),
        ),
        (None, None, false) => match held.lift {
            Some(lift) => (Verdict::Allow, Basis::Rule(lift)),
            None => (Verdict::NotAllowed, Basis::Static(statically)),
        },
    };
    Decision {
        verdict,
        basis,
        asking_arguments: held.asking_arguments,
    }
}

/// The first rule of each kind that speaks of the call.
#[derive(Default)]
struct Held {
    deny: Option<usize>,
    ask: Option<usize>,
    allow: Option<usize>,
    /// An allow or ask rule that names a tool or argument.
    lift: Option<usize>,
    asking_arguments: Vec<usize>,
}

impl Held {
    fn of(rules: &[Rule], tool: ToolFacts<'_>, arguments: &Arguments) -> Self {
        let mut held = Self::default();
        for (place, rule) in rules.iter().enumerate() {
            if rule.holds(tool.name, tool.permissions, arguments) {
                held.add(place, rule);
            }
        }
        held
    }

    fn add(&mut self, place: usize, rule: &Rule) {
        let first = match rule.state {
            RuleState::Deny => &mut self.deny,
            RuleState::Ask => &mut self.ask,
            RuleState::Allow => &mut self.allow,
        };
        first.get_or_insert(place);
        if rule.state != RuleState::Deny && rule.is_specific() {
            self.lift.get_or_insert(place);
        }
        if rule.state == RuleState::Ask && rule.path().is_some() {
            self.asking_arguments.push(place);
        }
    }
}

impl StaticRule {
    /// Whether the static rules alone let the tool run.
    pub fn allows(&self) -> bool {
        matches!(self, Self::Listed | Self::Undeclared(true) | Self::NoList(true))
    }
}

impl Decision {
    /// The reason in words; borrows, so that nothing is written unless somebody reads it.
    pub fn reason<'a>(&'a self, rules: &'a PermissionRules) -> Reason<'a> {
        Reason { decision: self, rules }
    }
}

/// The reason of a [`Decision`] in words.
#[derive(Debug, Clone, Copy)]
pub struct Reason<'a> {
    decision: &'a Decision,
    rules: &'a PermissionRules,
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.decision.basis {
            Basis::Rule(place) => match self.rules.rules.get(*place) {
                Some(rule) => write!(f, "rule {} ({rule})", place + 1),
                None => write!(f, "rule {}", place + 1),
            },
            Basis::Static(StaticRule::Denied(permission)) => {
                write!(f, "it needs {permission}, which is denied")
            }
            Basis::Static(StaticRule::NotListed(permission)) => {
                write!(f, "it needs {permission}, which is not among the allowed permissions")
            }
            Basis::Static(StaticRule::Listed) => f.write_str("all that it needs is allowed"),
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

//! [`Rule`]: allow, ask or deny, by permission, tool or argument.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    argument::{ArgumentTest, TestData},
    glob::{Glob, Match},
    kind::Permission,
    path::JsonPath,
};
use crate::{
    arguments::Arguments,
    error::{ToolError, ToolErrorKind},
};

/// The effect of a rule on the calls that it matches.
///
/// ```
/// use agcore_tools::{
///     Arguments, Permission, PermissionRules, Rule, RuleState,
///     permission::{ToolFacts, Verdict, decide},
/// };
///
/// // `Deny` overrides `Ask`, and `Ask` overrides `Allow`, in any order.
/// let rules = PermissionRules::default().with_rules([
///     Rule::tool(RuleState::Deny, "file_delete"),
///     Rule::tool(RuleState::Allow, "file_*"),
/// ]);
/// let verdict = |tool| decide(&rules, ToolFacts::new(tool, &[Permission::Write]), &Arguments::new()).verdict;
/// assert_eq!(verdict("file_write"), Verdict::Allow);
/// assert_eq!(verdict("file_delete"), Verdict::Deny);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleState {
    /// The call may run.
    Allow,
    /// The call needs approval.
    Ask,
    /// The call must not run.
    Deny,
}

impl fmt::Display for RuleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// A rule on top of the static ones: allow, ask or deny, by permission, tool or argument.
///
/// In code:
///
/// ```
/// use agcore_tools::{Arguments, Permission, Rule, RuleState};
///
/// let rule = Rule::tool(RuleState::Ask, "mail.*").with_name("outgoing mail");
/// assert!(rule.matches("mail.send", &[Permission::Network], &Arguments::new()));
/// assert_eq!(rule.to_string(), "outgoing mail: ask mail.*");
/// ```
///
/// In JSON:
///
/// ```
/// use agcore_tools::Rule;
///
/// let rules: Vec<Rule> = serde_json::from_str(r#"[
///     {"state": "deny", "tool": "shell.*"},
///     {"state": "ask", "permission": "write"},
///     {"name": "notes", "state": "allow", "tool": "fs.write", "argument": "$.path", "within": "/srv/notes"},
///     {"state": "allow", "tool": "sh", "argument": "$.cmd", "command": "git log *"},
///     {"state": "ask", "tool": "mail.send", "argument": "$.to[*]", "matches": "*@example.org"}
/// ]"#)?;
/// assert_eq!(rules[2].to_string(), "notes: allow fs.write with $.path within /srv/notes");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RuleData", into = "RuleData")]
#[must_use]
#[non_exhaustive]
pub struct Rule {
    /// The name of the rule in reasons and audit records.
    pub name: Option<String>,
    /// The effect of the rule.
    pub state: RuleState,
    /// The calls that the rule matches.
    pub subject: RuleSubject,
}

/// The calls that a rule matches.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RuleSubject {
    /// Calls of tools that need this permission.
    Permission(Permission),
    /// Calls of tools whose name matches.
    Tool(Glob),
    /// Calls of tools whose name matches, depending on an argument.
    ///
    /// An allow rule matches if the path selects at least one value and all of them pass the test. An ask or deny rule
    /// matches if any of them passes, or might pass.
    Argument {
        /// The pattern for the name of the tool.
        tool: Glob,
        /// The path into the arguments.
        path: JsonPath,
        /// The condition on the selected values.
        test: ArgumentTest,
    },
}

impl Rule {
    /// Creates a rule for all tools that need a permission.
    pub fn permission(state: RuleState, permission: Permission) -> Self {
        Self {
            name: None,
            state,
            subject: RuleSubject::Permission(permission),
        }
    }

    /// Creates a rule for all tools whose name matches.
    pub fn tool(state: RuleState, tool: impl Into<Glob>) -> Self {
        Self {
            name: None,
            state,
            subject: RuleSubject::Tool(tool.into()),
        }
    }

    /// Creates a rule for an argument of all tools whose name matches.
    ///
    /// # Errors
    /// When the path is invalid, or no value can pass the test.
    pub fn argument(
        state: RuleState,
        tool: impl Into<Glob>,
        path: &str,
        test: ArgumentTest,
    ) -> Result<Self, ToolError> {
        test.check()?;
        let subject = RuleSubject::Argument {
            tool: tool.into(),
            path: JsonPath::new(path)?,
            test,
        };
        Ok(Self {
            name: None,
            state,
            subject,
        })
    }

    /// Sets the name of the rule in reasons and audit records.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Returns whether the rule names a tool or an argument. Allow and ask rules that do lift *not allowed*.
    pub fn is_specific(&self) -> bool {
        !matches!(self.subject, RuleSubject::Permission(_))
    }

    /// Returns the path, if the rule depends on an argument.
    pub fn path(&self) -> Option<&JsonPath> {
        match &self.subject {
            RuleSubject::Argument { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns whether the rule matches a call.
    pub fn matches(&self, tool: &str, permissions: &[Permission], arguments: &Arguments) -> bool {
        match &self.subject {
            RuleSubject::Permission(permission) => permissions.contains(permission),
            RuleSubject::Tool(glob) => glob.matches(tool),
            RuleSubject::Argument { tool: glob, path, test } => {
                if !glob.matches(tool) {
                    return false;
                }
                let found = path.find(arguments.as_value());
                match self.state {
                    RuleState::Allow => test.allows(&found),
                    RuleState::Ask => best(test, &found) != Match::No,
                    RuleState::Deny => match best(test, &found) {
                        Match::Unknown => !test.is_of_commands(),
                        result => result != Match::No,
                    },
                }
            }
        }
    }

    /// Returns whether this is a deny rule for commands, and the value has syntax of a shell that hides which commands it runs.
    pub(super) fn is_unclear(&self, tool: &str, arguments: &Arguments) -> bool {
        match &self.subject {
            RuleSubject::Argument { tool: glob, path, test } if self.state == RuleState::Deny => {
                glob.matches(tool)
                    && test.is_of_commands()
                    && best(test, &path.find(arguments.as_value())) == Match::Unknown
            }
            _ => false,
        }
    }
}

/// Returns the best result of the values.
fn best(test: &ArgumentTest, values: &[&Value]) -> Match {
    values.iter().fold(Match::No, |best, value| best.or(test.test(value)))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}: ")?;
        }
        match &self.subject {
            RuleSubject::Permission(permission) => {
                write!(f, "{} permission {permission}", self.state)
            }
            RuleSubject::Tool(tool) => write!(f, "{} {tool}", self.state),
            RuleSubject::Argument { tool, path, test } => {
                write!(f, "{} {tool} with {path} {test}", self.state)
            }
        }
    }
}

/// The JSON form of a rule: a flat object in which an unknown member is an error.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleData {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    state: RuleState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permission: Option<Permission>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<Glob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    argument: Option<JsonPath>,
    #[serde(flatten)]
    test: TestData,
}

impl TryFrom<RuleData> for Rule {
    type Error = ToolError;

    fn try_from(data: RuleData) -> Result<Self, ToolError> {
        let invalid = |reason: &str| Err(ToolError::new(ToolErrorKind::Config, format!("a rule {reason}")));
        let test = match data.test.into_test() {
            Ok(test) => test,
            Err(reason) => return invalid(reason),
        };
        let subject = match (data.permission, data.tool, data.argument, test) {
            (Some(permission), None, None, None) => RuleSubject::Permission(permission),
            (Some(_), ..) => return invalid("with a `permission` cannot have other conditions"),
            (None, Some(tool), None, None) => RuleSubject::Tool(tool),
            (None, tool, Some(path), test) => RuleSubject::Argument {
                tool: tool.unwrap_or_else(|| Glob::new("*")),
                path,
                test: test.unwrap_or(ArgumentTest::Present),
            },
            (None, _, None, Some(_)) => {
                return invalid("with a test needs the path of an `argument`");
            }
            (None, None, None, None) => {
                return invalid("needs a `permission`, a `tool` or an `argument`");
            }
        };
        if let RuleSubject::Argument { test, .. } = &subject {
            test.check()?;
        }
        Ok(Self {
            name: data.name,
            state: data.state,
            subject,
        })
    }
}

impl From<Rule> for RuleData {
    fn from(rule: Rule) -> Self {
        let mut data = Self {
            name: rule.name,
            state: rule.state,
            permission: None,
            tool: None,
            argument: None,
            test: TestData::default(),
        };
        match rule.subject {
            RuleSubject::Permission(permission) => data.permission = Some(permission),
            RuleSubject::Tool(tool) => data.tool = Some(tool),
            RuleSubject::Argument { tool, path, test } => {
                (data.tool, data.argument) = (Some(tool), Some(path));
                data.test = test.into();
            }
        }
        data
    }
}

//! [`Rule`]: allow, ask or deny, by permission, tool or argument.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    argument::{ArgumentTest, Match},
    glob::Glob,
    kind::Permission,
    path::JsonPath,
};
use crate::{
    arguments::Arguments,
    error::{ToolError, ToolErrorKind},
};

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleState {
    /// The call may run.
    Allow,
    /// A person is asked.
    Ask,
    /// The call may not run.
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

/// A rule on top of the static ones. In JSON:
///
/// ```
/// # use agcore_tools::permission::Rule;
/// let rules: Vec<Rule> = serde_json::from_str(r#"[
///     {"state": "deny", "tool": "shell.*"},
///     {"state": "ask", "permission": "write"},
///     {"name": "notes", "state": "allow", "tool": "fs.write", "argument": "$.path", "within": "/srv/notes"},
///     {"state": "ask", "tool": "mail.send", "argument": "$.to[*]", "matches": "*@example.org"}
/// ]"#)?;
/// assert_eq!(rules[2].to_string(), "notes: allow fs.write with $.path within /srv/notes");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RuleData", into = "RuleData")]
#[non_exhaustive]
pub struct Rule {
    /// What it is called in reasons and audit records.
    pub name: Option<String>,
    /// What it says.
    pub state: RuleState,
    /// Of which calls.
    pub subject: RuleSubject,
}

/// Of which calls a rule speaks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RuleSubject {
    /// Calls of tools that need this permission.
    Permission(Permission),
    /// Calls of tools of this name.
    Tool(Glob),
    /// Calls of tools of this name, by an argument. An allow rule holds when the path finds something and all that it
    /// finds meets the test; ask and deny rules hold when anything does, or may.
    Argument {
        /// The tool's name.
        tool: Glob,
        /// Where in the arguments.
        path: JsonPath,
        /// What there.
        test: ArgumentTest,
    },
}

impl Rule {
    /// A rule on all tools that need a permission.
    pub fn permission(state: RuleState, permission: Permission) -> Self {
        Self {
            name: None,
            state,
            subject: RuleSubject::Permission(permission),
        }
    }

    /// A rule on tools by name.
    pub fn tool(state: RuleState, tool: impl Into<Glob>) -> Self {
        Self {
            name: None,
            state,
            subject: RuleSubject::Tool(tool.into()),
        }
    }

    /// A rule on an argument of tools by name.
    ///
    /// # Errors
    /// When the path cannot be read.
    pub fn argument(
        state: RuleState,
        tool: impl Into<Glob>,
        path: &str,
        test: ArgumentTest,
    ) -> Result<Self, ToolError> {
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

    /// Gives it a name for reasons and audit records.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Whether it names a tool or an argument, and so lifts *not allowed*.
    pub fn is_specific(&self) -> bool {
        !matches!(self.subject, RuleSubject::Permission(_))
    }

    /// The path, when it looks at an argument.
    pub fn path(&self) -> Option<&JsonPath> {
        match &self.subject {
            RuleSubject::Argument { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Whether it speaks of this call.
    pub fn holds(&self, tool: &str, permissions: &[Permission], arguments: &Arguments) -> bool {
        match &self.subject {
            RuleSubject::Permission(permission) => permissions.contains(permission),
            RuleSubject::Tool(glob) => glob.matches(tool),
            RuleSubject::Argument { tool: glob, path, test } => {
                if !glob.matches(tool) {
                    return false;
                }
                let found = path.find(arguments.as_value());
                let mut matches = found.iter().map(|value| test.test(value));
                match self.state {
                    RuleState::Allow => !found.is_empty() && matches.all(|one| one == Match::Yes),
                    RuleState::Ask | RuleState::Deny => matches.any(|one| one != Match::No),
                }
            }
        }
    }
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
                write!(f, "{} {tool} with {path} ", self.state)?;
                match test {
                    ArgumentTest::Present => f.write_str("present"),
                    ArgumentTest::Equals(value) => write!(f, "equal to {value}"),
                    ArgumentTest::Matches(glob) => write!(f, "matching {glob}"),
                    ArgumentTest::Within(base) => write!(f, "within {base}"),
                }
            }
        }
    }
}

/// A rule as it stands in JSON: flat, and a misspelt member is an error.
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
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    equals: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    matches: Option<Glob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<String>,
}

/// Tells `null` from nothing.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl TryFrom<RuleData> for Rule {
    type Error = ToolError;

    fn try_from(data: RuleData) -> Result<Self, ToolError> {
        let misuse = |why: &str| Err(ToolError::new(ToolErrorKind::Config, format!("a rule {why}")));
        let test = match (data.equals, data.matches, data.within) {
            (None, None, None) => None,
            (Some(value), None, None) => Some(ArgumentTest::Equals(value)),
            (None, Some(glob), None) => Some(ArgumentTest::Matches(glob)),
            (None, None, Some(base)) => Some(ArgumentTest::Within(base)),
            _ => {
                return misuse("has more than one of `equals`, `matches`, `within`; write one rule for each");
            }
        };
        let subject = match (data.permission, data.tool, data.argument, test) {
            (Some(permission), None, None, None) => RuleSubject::Permission(permission),
            (Some(_), ..) => return misuse("of a `permission` has no other conditions"),
            (None, Some(tool), None, None) => RuleSubject::Tool(tool),
            (None, tool, Some(path), test) => RuleSubject::Argument {
                tool: tool.unwrap_or_else(|| Glob::new("*")),
                path,
                test: test.unwrap_or(ArgumentTest::Present),
            },
            (None, _, None, Some(_)) => {
                return misuse("with a test needs the path of an `argument`");
            }
            (None, None, None, None) => {
                return misuse("needs a `permission`, a `tool` or an `argument`");
            }
        };
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
            equals: None,
            matches: None,
            within: None,
        };
        match rule.subject {
            RuleSubject::Permission(permission) => data.permission = Some(permission),
            RuleSubject::Tool(tool) => data.tool = Some(tool),
            RuleSubject::Argument { tool, path, test } => {
                (data.tool, data.argument) = (Some(tool), Some(path));
                match test {
                    ArgumentTest::Present => {}
                    ArgumentTest::Equals(value) => data.equals = Some(value),
                    ArgumentTest::Matches(glob) => data.matches = Some(glob),
                    ArgumentTest::Within(base) => data.within = Some(base),
                }
            }
        }
        data
    }
}

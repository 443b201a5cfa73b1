//! [`Grant`]: an approval that covers later calls, and [`GrantStore`], the store of permanent grants.

mod store;

use agcore_chat::Actor;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::store::{GrantStore, InMemoryGrants};
use crate::{
    arguments::Arguments,
    error::{ToolError, ToolErrorKind},
    permission::{ArgumentTest, Glob, JsonPath, TestData, same_value},
};

/// An approval by a person that covers later calls.
///
/// A grant has an owner: it covers only calls of runs that were started on behalf of the same user of the same tenant.
/// If the owner has a line of business, the line must be the same, too.
///
/// ```
/// use agcore_tools::{
///     Actor, Arguments, Grant, GrantedArgument,
///     permission::{ArgumentTest, JsonPath},
/// };
/// use serde_json::json;
///
/// let readme: Arguments = serde_json::from_value(json!({"path": "/srv/readme.md"}))?;
/// let passwords: Arguments = serde_json::from_value(json!({"path": "/etc/passwd"}))?;
/// let (ann, bob) = (Actor::user("ann"), Actor::user("bob"));
/// let path = JsonPath::new("$.path").unwrap();
///
/// // Covers every call of the tool …
/// let grant = Grant::new("read_file").with_owner(ann.clone());
/// assert!(grant.covers(&ann, "read_file", &passwords, &[]));
/// // … except those of other users, and where a rule asks about an argument that the grant does not name.
/// assert!(!grant.covers(&bob, "read_file", &passwords, &[]));
/// assert!(!grant.covers(&ann, "read_file", &passwords, &[&path]));
///
/// let within = GrantedArgument::new(path.clone(), ArgumentTest::Within("/srv".into())).unwrap();
/// let grant = grant.with_argument(within);
/// assert!(grant.covers(&ann, "read_file", &readme, &[&path]));
/// assert!(!grant.covers(&ann, "read_file", &passwords, &[&path]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
pub struct Grant {
    /// The actor whose calls the grant covers.
    #[serde(default)]
    pub owner: Actor,
    /// The pattern for the name of the tool.
    pub tool: Glob,
    /// The required arguments. If empty, the grant covers any arguments, except those that a rule asks about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<GrantedArgument>,
}

/// A condition on the values that a JSON path selects in the arguments of a call, for a [`Grant`] to cover the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ArgumentData", into = "ArgumentData")]
#[non_exhaustive]
pub struct GrantedArgument {
    /// The path into the arguments; `$` selects all of them.
    pub path: JsonPath,
    /// The condition on the selected values.
    pub condition: GrantCondition,
}

/// The condition that a [`GrantedArgument`] imposes on the values at its path.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GrantCondition {
    /// The path selects exactly these values, in this order. Numbers are compared by value.
    Values(Vec<Value>),
    /// The path selects at least one value, and all values pass the test, as in an allow rule.
    Test(ArgumentTest),
}

/// The JSON form of a granted argument: the path, and either `values` or the members of a rule's test.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentData {
    path: JsonPath,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Value>>,
    #[serde(flatten)]
    test: TestData,
}

impl TryFrom<ArgumentData> for GrantedArgument {
    type Error = ToolError;

    fn try_from(data: ArgumentData) -> Result<Self, ToolError> {
        let invalid = |reason: &str| ToolError::new(ToolErrorKind::Config, format!("a granted argument {reason}"));
        match (data.values, data.test.into_test().map_err(invalid)?) {
            (Some(values), None) => Ok(Self {
                path: data.path,
                condition: GrantCondition::Values(values),
            }),
            (None, test) => Self::new(data.path, test.unwrap_or(ArgumentTest::Present)),
            (Some(_), Some(_)) => Err(invalid("with `values` cannot have other conditions")),
        }
    }
}

impl From<GrantedArgument> for ArgumentData {
    fn from(argument: GrantedArgument) -> Self {
        let (values, test) = match argument.condition {
            GrantCondition::Values(values) => (Some(values), TestData::default()),
            GrantCondition::Test(test) => (None, test.into()),
        };
        Self {
            path: argument.path,
            values,
            test,
        }
    }
}

impl GrantedArgument {
    /// Requires that all values that `path` selects pass a test.
    ///
    /// # Errors
    /// When no value can pass the test.
    pub fn new(path: JsonPath, test: ArgumentTest) -> Result<Self, ToolError> {
        test.check()?;
        Ok(Self {
            path,
            condition: GrantCondition::Test(test),
        })
    }

    /// Requires the values that `path` selects in `arguments`. For a path with a wildcard, that is the whole value that
    /// contains them, because the values alone do not show which member had which value.
    pub fn from_arguments(path: JsonPath, arguments: &Arguments) -> Self {
        let path = path.before_wildcard();
        let values = path.find(arguments.as_value()).into_iter().cloned().collect();
        Self {
            path,
            condition: GrantCondition::Values(values),
        }
    }

    fn matches(&self, arguments: &Arguments) -> bool {
        let found = self.path.find(arguments.as_value());
        match &self.condition {
            GrantCondition::Test(test) => test.allows(&found),
            GrantCondition::Values(values) => {
                found.len() == values.len() && found.iter().zip(values).all(|(found, value)| same_value(found, value))
            }
        }
    }

    /// Returns whether the argument has a condition on the values at a path.
    fn names(&self, path: &JsonPath) -> bool {
        self.path == *path || (self.path.contains(path) && matches!(self.condition, GrantCondition::Values(_)))
    }
}

impl Grant {
    /// Creates a grant of [`Actor::local`] that covers any call of a tool, except arguments that a rule asks about.
    pub fn new(tool: impl Into<Glob>) -> Self {
        Self {
            owner: Actor::local(),
            tool: tool.into(),
            arguments: Vec::new(),
        }
    }

    /// Creates a grant of [`Actor::local`] that covers calls of a tool with the same arguments only.
    pub fn same_arguments(tool: impl Into<Glob>, arguments: &Arguments) -> Self {
        Self::new(tool).with_argument(GrantedArgument::from_arguments(JsonPath::root(), arguments))
    }

    /// Sets the owner.
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Restricts the grant to calls with this argument.
    pub fn with_argument(mut self, argument: GrantedArgument) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Returns whether the grant belongs to the tenant and user of `actor`, and covers its line of business.
    pub fn is_for(&self, actor: &Actor) -> bool {
        let Actor { tenant, user, line, .. } = &self.owner;
        *tenant == actor.tenant && *user == actor.user && (line.is_none() || *line == actor.line)
    }

    /// Returns whether the grant covers a call, where `asked` are the arguments that rules ask about.
    pub fn covers(&self, actor: &Actor, tool: &str, arguments: &Arguments, asked: &[&JsonPath]) -> bool {
        self.is_for(actor)
            && self.tool.matches(tool)
            && self.arguments.iter().all(|argument| argument.matches(arguments))
            && asked
                .iter()
                .all(|path| self.arguments.iter().any(|argument| argument.names(path)))
    }
}

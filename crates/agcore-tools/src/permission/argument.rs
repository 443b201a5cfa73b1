//! [`ArgumentTest`]: the condition that a rule or a grant imposes on an argument.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    command::{CommandPattern, is_separator},
    glob::{Glob, Match},
    number::same_value,
    scope::PathScope,
};
use crate::error::{ToolError, ToolErrorKind};

/// The condition that a rule or a grant imposes on the values at a JSON path of the arguments.
///
/// ```
/// use agcore_tools::{Arguments, Rule, RuleState, permission::ArgumentTest};
/// use serde_json::json;
///
/// let within = ArgumentTest::Within("/srv/notes".into());
/// let rule = Rule::argument(RuleState::Allow, "write_file", "$.path", within)?;
/// let matches = |path: &str| {
///     let arguments: Arguments = serde_json::from_value(json!({"path": path})).unwrap();
///     rule.matches("write_file", &[], &arguments)
/// };
/// assert!(matches("/srv/notes/today.md"));
/// assert!(!matches("/srv/notes2/today.md"));
/// assert!(!matches("/srv/notes/../passwords"));
/// # Ok::<(), agcore_tools::ToolError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ArgumentTest {
    /// Any value is present.
    Present,
    /// The value is equal to this one. Numbers are compared by value: `1000`, `1000.0` and `1e3` are equal.
    Equals(Value),
    /// The value is a string that matches this pattern.
    ///
    /// In an allow rule, and in a grant, a wildcard does not match the characters with which a shell runs further
    /// commands (`;`, `&`, `|`, `<`, `>`, `$`, a backtick, a backslash) or control characters, unless the pattern itself
    /// contains the character. For commands, use [`Command`](Self::Command).
    Matches(Glob),
    /// The value is a string that is this path or a path below it. See [`PathScope`].
    Within(PathScope),
    /// The value is a simple command that matches this pattern. See [`CommandPattern`].
    Command(CommandPattern),
}

impl ArgumentTest {
    pub(crate) fn test(&self, value: &Value) -> Match {
        let passes = match (self, value) {
            (Self::Present, _) => true,
            (Self::Equals(expected), value) => same_value(expected, value),
            (Self::Matches(glob), Value::String(text)) => return matches(glob, text),
            (Self::Within(scope), Value::String(text)) => return scope.test(text),
            (Self::Command(pattern), value) => return pattern.test(value),
            (Self::Matches(_) | Self::Within(_), _) => false,
        };
        if passes { Match::Yes } else { Match::No }
    }

    /// Returns whether there is at least one value and all of them pass for certain.
    pub(crate) fn allows(&self, values: &[&Value]) -> bool {
        !values.is_empty() && values.iter().all(|value| self.test(value) == Match::Yes)
    }

    /// Checks that some value can pass.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        match self {
            Self::Within(scope) => scope.check(),
            Self::Command(pattern) if pattern.is_empty() => Err(ToolError::new(
                ToolErrorKind::Config,
                "the pattern of a command has no words",
            )),
            _ => Ok(()),
        }
    }
}

fn matches(glob: &Glob, text: &str) -> Match {
    if !glob.matches(text) {
        Match::No
    } else if text.contains(|c| is_separator(c) && !glob.as_str().contains(c)) {
        Match::Unknown
    } else {
        Match::Yes
    }
}

/// Displays the test as in `$.path within /srv`, after the path.
impl fmt::Display for ArgumentTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present => f.write_str("present"),
            Self::Equals(value) => write!(f, "equal to {value}"),
            Self::Matches(glob) => write!(f, "matching {glob}"),
            Self::Within(scope) => match scope.relative_to() {
                None => write!(f, "within {}", scope.base()),
                Some(directory) => write!(f, "within {} (relative to {directory})", scope.base()),
            },
            Self::Command(pattern) => write!(f, "a command like {pattern}"),
        }
    }
}

/// The JSON form of a test: members of a flat object.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct TestData {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    equals: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    matches: Option<Glob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relative_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<CommandPattern>,
}

/// Deserializes a present `null` as `Some(Value::Null)` rather than `None`.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl TestData {
    /// Returns the test, if there is one. The error completes a sentence such as "a rule …".
    pub(crate) fn into_test(self) -> Result<Option<ArgumentTest>, &'static str> {
        let Self {
            equals,
            matches,
            within,
            relative_to,
            command,
        } = self;
        if within.is_none() && relative_to.is_some() {
            return Err("with `relative_to` needs a `within`");
        }
        let scope = within.map(|base| PathScope::from_parts(base, relative_to));
        let mut tests = [
            equals.map(ArgumentTest::Equals),
            matches.map(ArgumentTest::Matches),
            scope.map(ArgumentTest::Within),
            command.map(ArgumentTest::Command),
        ]
        .into_iter()
        .flatten();
        match (tests.next(), tests.next()) {
            (test, None) => Ok(test),
            _ => Err("has more than one of `equals`, `matches`, `within`, `command`; write one rule for each"),
        }
    }
}

impl From<ArgumentTest> for TestData {
    fn from(test: ArgumentTest) -> Self {
        let mut data = Self::default();
        match test {
            ArgumentTest::Present => {}
            ArgumentTest::Equals(value) => data.equals = Some(value),
            ArgumentTest::Matches(glob) => data.matches = Some(glob),
            ArgumentTest::Within(scope) => {
                data.within = Some(scope.base().to_owned());
                data.relative_to = scope.relative_to().map(str::to_owned);
            }
            ArgumentTest::Command(pattern) => data.command = Some(pattern),
        }
        data
    }
}

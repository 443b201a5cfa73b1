//! [`ArgumentTest`]: the condition that a rule or a grant imposes on an argument.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    command::{CommandPattern, is_separator},
    command_line,
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
    /// The value is a string that matches one of these patterns, as in [`Matches`](Self::Matches).
    MatchesAny(Vec<Glob>),
    /// The value does not pass this test. A value that is not certain to pass or to fail counts as passing in ask and deny
    /// rules only.
    Not(Box<ArgumentTest>),
    /// The value is a string that is this path or a path below it. See [`PathScope`].
    Within(PathScope),
    /// The value is a simple command that matches this pattern. See [`CommandPattern`].
    Command(CommandPattern),
    /// The value is a command line, and each of its commands matches one of these patterns: `cd src && git log | head` consists of
    /// three. Quotes are understood; with any other syntax of a shell, it never matches an allow rule. An ask or deny rule matches
    /// if any of the commands does. If the syntax is not understood, an ask rule matches, and a deny rule asks.
    CommandLine(Vec<CommandPattern>),
}

impl ArgumentTest {
    pub(crate) fn test(&self, value: &Value) -> Match {
        let passes = match (self, value) {
            (Self::Present, _) => true,
            (Self::Equals(expected), value) => same_value(expected, value),
            (Self::Matches(glob), Value::String(text)) => return matches(glob, text),
            (Self::MatchesAny(globs), Value::String(text)) => {
                return globs.iter().fold(Match::No, |best, glob| best.or(matches(glob, text)));
            }
            (Self::Not(test), value) => return test.test(value).not(),
            (Self::Within(scope), Value::String(text)) => return scope.test(text),
            (Self::Command(pattern), value) => return pattern.test(value),
            (Self::CommandLine(patterns), value) => return command_line::test(patterns, value),
            (Self::Matches(_) | Self::MatchesAny(_) | Self::Within(_), _) => false,
        };
        if passes { Match::Yes } else { Match::No }
    }

    /// Returns whether there is at least one value and all of them pass for certain.
    pub(crate) fn allows(&self, values: &[&Value]) -> bool {
        !values.is_empty() && values.iter().all(|value| self.test(value) == Match::Yes)
    }

    /// Returns whether the test is one of commands.
    pub(crate) fn is_of_commands(&self) -> bool {
        match self {
            Self::Not(test) => test.is_of_commands(),
            Self::Command(_) | Self::CommandLine(_) => true,
            _ => false,
        }
    }

    /// Checks that some value can pass.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        match self {
            Self::Within(scope) => scope.check(),
            Self::Not(test) => test.check(),
            Self::Command(pattern) if pattern.is_empty() => Err(no_words()),
            Self::CommandLine(patterns) if patterns.iter().any(CommandPattern::is_empty) => Err(no_words()),
            _ => Ok(()),
        }
    }
}

fn no_words() -> ToolError {
    ToolError::new(ToolErrorKind::Config, "the pattern of a command has no words")
}

fn matches(glob: &Glob, text: &str) -> Match {
    if !glob.matches(text) {
        Match::No
    } else if text.contains(|c| is_separator(c) && !glob.as_str().contains(c)) {
        Match::Part
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
            Self::MatchesAny(globs) => {
                let globs: Vec<&str> = globs.iter().map(Glob::as_str).collect();
                write!(f, "matching {}", globs.join(" or "))
            }
            Self::Not(test) => write!(f, "other than {test}"),
            Self::Within(scope) => match scope.relative_to() {
                None => write!(f, "within {}", scope.base()),
                Some(directory) => write!(f, "within {} (relative to {directory})", scope.base()),
            },
            Self::Command(pattern) => write!(f, "a command like {pattern}"),
            Self::CommandLine(patterns) => {
                let patterns: Vec<&str> = patterns.iter().map(CommandPattern::as_str).collect();
                write!(f, "commands like {}", patterns.join(", "))
            }
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
    matches_any: Option<Vec<Glob>>,
    /// Whether the test is reversed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    not: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relative_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<CommandPattern>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command_line: Option<Vec<CommandPattern>>,
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
            matches_any,
            not,
            within,
            relative_to,
            command,
            command_line,
        } = self;
        if within.is_none() && relative_to.is_some() {
            return Err("with `relative_to` needs a `within`");
        }
        let scope = within.map(|base| PathScope::from_parts(base, relative_to));
        let mut tests = [
            equals.map(ArgumentTest::Equals),
            matches.map(ArgumentTest::Matches),
            matches_any.map(ArgumentTest::MatchesAny),
            scope.map(ArgumentTest::Within),
            command.map(ArgumentTest::Command),
            command_line.map(ArgumentTest::CommandLine),
        ]
        .into_iter()
        .flatten();
        match (tests.next(), tests.next()) {
            (None, None) if not => Err("with `not` needs a test"),
            (test, None) => Ok(match (test, not) {
                (Some(test), true) => Some(ArgumentTest::Not(Box::new(test))),
                (test, _) => test,
            }),
            _ => Err(
                "has more than one of `equals`, `matches`, `matches_any`, `within`, `command`, `command_line`; write one rule for each",
            ),
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
            ArgumentTest::MatchesAny(globs) => data.matches_any = Some(globs),
            ArgumentTest::Not(test) => {
                data = Self::from(*test);
                // Two reversals cancel each other.
                data.not = !data.not;
            }
            ArgumentTest::Within(scope) => {
                data.within = Some(scope.base().to_owned());
                data.relative_to = scope.relative_to().map(str::to_owned);
            }
            ArgumentTest::Command(pattern) => data.command = Some(pattern),
            ArgumentTest::CommandLine(patterns) => data.command_line = Some(patterns),
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_and_reversed_tests() {
        let any = ArgumentTest::MatchesAny(vec!["https://a.org/*".into(), "https://b.org/*".into()]);
        let not = ArgumentTest::Not(Box::new(any.clone()));
        let check = |text: &str, expected: Match, reversed: Match| {
            assert_eq!(
                (any.test(&json!(text)), not.test(&json!(text))),
                (expected, reversed),
                "{text}"
            );
        };
        check("https://b.org/x", Match::Yes, Match::No);
        check("https://c.org/x", Match::No, Match::Yes);
        check("https://a.org/?a=1&b=2", Match::Part, Match::Part);
        assert_eq!(not.test(&json!(7)), Match::Yes);
        assert_eq!(
            not.to_string(),
            "other than matching https://a.org/* or https://b.org/*"
        );
        let data = TestData::from(not.clone());
        assert_eq!(data.into_test(), Ok(Some(not)));
        let alone: TestData = serde_json::from_value(json!({"not": true})).unwrap();
        assert_eq!(alone.into_test(), Err("with `not` needs a test"));
    }
}

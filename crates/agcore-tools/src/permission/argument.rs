//! [`ArgumentTest`]: the condition that a rule imposes on an argument.

use serde_json::Value;

use super::glob::Glob;

/// The condition that a rule imposes on the values at a JSON path of the arguments.
///
/// ```
/// use agcore_tools::{Arguments, Rule, RuleState, permission::ArgumentTest};
/// use serde_json::json;
///
/// let within = ArgumentTest::Within("/srv/notes".to_owned());
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
    /// The value is equal to this one.
    Equals(Value),
    /// The value is a string that matches this pattern.
    Matches(Glob),
    /// The value is a string that is this path or a path below it.
    ///
    /// Paths are compared component by component: `/` and `\` are separators, `.` and empty components are ignored. A
    /// path with a `..` component never matches an allow rule, and always matches an ask or deny rule. Only the text is
    /// compared; symbolic links are not resolved.
    Within(String),
}

/// The result of testing a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    /// The value passes.
    Yes,
    /// The text alone does not decide.
    Unknown,
    /// The value does not pass.
    No,
}

impl ArgumentTest {
    pub(crate) fn test(&self, value: &Value) -> Match {
        let passes = match (self, value) {
            (Self::Present, _) => true,
            (Self::Equals(expected), value) => expected == value,
            (Self::Matches(glob), Value::String(text)) => glob.matches(text),
            (Self::Within(base), Value::String(text)) => return within(base, text),
            (Self::Matches(_) | Self::Within(_), _) => false,
        };
        if passes { Match::Yes } else { Match::No }
    }
}

const SEPARATORS: [char; 2] = ['/', '\\'];

fn within(base: &str, path: &str) -> Match {
    let is_absolute = |text: &str| text.starts_with(SEPARATORS);
    if path.split(SEPARATORS).any(|part| part == "..") {
        return Match::Unknown;
    }
    let mut path_parts = path.split(SEPARATORS).filter(|part| !matches!(*part, "" | "."));
    let mut base_parts = base.split(SEPARATORS).filter(|part| !matches!(*part, "" | "."));
    if is_absolute(base) == is_absolute(path) && base_parts.all(|part| path_parts.next() == Some(part)) {
        Match::Yes
    } else {
        Match::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_paths_by_component() {
        for (base, path, expected) in [
            ("/notes", "/notes", Match::Yes),
            ("/notes", "/notes/a.md", Match::Yes),
            ("/notes/", "//notes/./a.md", Match::Yes),
            ("/notes", "/notes2/a.md", Match::No),
            ("/notes", "notes/a.md", Match::No),
            ("notes", "notes/a.md", Match::Yes),
            ("notes", "./notes/a.md", Match::Yes),
            ("/notes", "/", Match::No),
            ("/", "/etc/passwd", Match::Yes),
            ("/notes", "/notes/../etc/passwd", Match::Unknown),
            ("/notes", "/notes\\..\\etc", Match::Unknown),
            ("/notes", "/notes/..a", Match::Yes),
            ("C:\\notes", "C:\\notes\\a.md", Match::Yes),
        ] {
            assert_eq!(within(base, path), expected, "{base} {path}");
        }
    }
}

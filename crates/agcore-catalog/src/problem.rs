//! [`Problem`]: a value that is refused.

use std::fmt;

/// The number of characters of a value that is shown.
const SHOWN_CHARS: usize = 64;

/// A value that is refused: the field, the value and the rule that it violates.
///
/// ```
/// use agcore_catalog::Rate;
///
/// let problem = Rate::parse("input", "-1").unwrap_err();
/// assert_eq!((problem.field(), problem.value()), ("input", "\"-1\""));
/// assert_eq!(problem.to_string(), "input: \"-1\" is refused: a rate is a decimal number of at least 0, such as 0.25");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {value} is refused: {rule}")]
pub struct Problem {
    field: String,
    value: String,
    rule: String,
}

impl Problem {
    /// Creates the problem of a text, which is quoted, escaped and shortened.
    pub(crate) fn text(field: impl Into<String>, value: &str, rule: impl Into<String>) -> Self {
        let shown = match value.char_indices().nth(SHOWN_CHARS) {
            None => format!("{value:?}"),
            Some((end, _)) => format!("{:?}… ({} bytes)", &value[..end], value.len()),
        };
        Self::shown(field, shown, rule)
    }

    /// Creates the problem of a value that is shown as it is.
    pub(crate) fn shown(field: impl Into<String>, value: impl fmt::Display, rule: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            value: value.to_string(),
            rule: rule.into(),
        }
    }

    /// Puts a path in front of that of the field.
    pub(crate) fn below(mut self, parent: &str) -> Self {
        self.field = format!("{parent}.{}", self.field);
        self
    }

    /// Returns the path of the field, such as `tiers[1].output`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the value as it is shown.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns the rule.
    pub fn rule(&self) -> &str {
        &self.rule
    }
}

/// Joins problems to one text.
pub(crate) fn joined(problems: &[Problem]) -> String {
    let texts: Vec<String> = problems.iter().map(Problem::to_string).collect();
    texts.join("; ")
}

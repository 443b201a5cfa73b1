//! [`CommandPattern`]: a pattern for command lines, and the characters with which a shell runs more than one command.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{
    effects,
    glob::{Glob, Match},
};

/// A pattern for simple commands: a list of words.
///
/// Each word of the pattern matches one word of the command, with `*` and `?` as in a [`Glob`], and a `*` as the last word
/// matches any number of further words, including none. Words are separated by spaces and tabs. The value is the text of
/// the command, or an array of its words.
///
/// A command that usually only reads can have options with which it writes files or runs other programs, such as `--output` and
/// `--ext-diff` of `git log`, `-exec` of `find` or `-i` of `sed`. A pattern allows such a command only if it writes the option out:
/// `git log *` does not match `git log --output=x` in an allow rule, `git log --output=*` does. The options of common programs are
/// known.
///
/// A text that contains anything that is special to a shell (quotes, `;`, `&`, `|`, `<`, `>`, `$`, a backtick, a
/// backslash, brackets, wildcards, `~`, `#`, `!`, line breaks and other control characters) is not a simple command. It
/// never matches an allow rule, and always an ask rule; a deny rule asks about it. The words of an array never reach a shell, and
/// may contain everything but control characters.
///
/// ```
/// use agcore_tools::{Arguments, Rule, RuleState, permission::ArgumentTest};
/// use serde_json::json;
///
/// let git_log = ArgumentTest::Command("git log *".into());
/// let rule = Rule::argument(RuleState::Allow, "sh", "$.cmd", git_log)?;
/// let matches = |command: &str| {
///     let arguments: Arguments = serde_json::from_value(json!({"cmd": command})).unwrap();
///     rule.matches("sh", &[], &arguments)
/// };
/// assert!(matches("git log") && matches("git  log --oneline -5"));
/// assert!(!matches("git push"));
/// assert!(!matches("git log; rm -rf /") && !matches("git log $(reboot)"));
/// # Ok::<(), agcore_tools::ToolError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    text: Box<str>,
    words: Vec<Glob>,
    /// Whether any number of words may follow.
    is_open: bool,
}

impl CommandPattern {
    /// Creates a pattern.
    pub fn new(text: impl Into<String>) -> Self {
        let text: String = text.into();
        let mut words: Vec<Glob> = text.split_whitespace().map(Glob::from).collect();
        let is_open = words.last().is_some_and(|word| word.as_str() == "*");
        if is_open {
            words.pop();
        }
        Self {
            text: text.into(),
            words,
            is_open,
        }
    }

    /// Returns the pattern as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether a rule with this pattern allows a command, given its words, which reach no shell.
    ///
    /// ```
    /// use agcore_tools::permission::CommandPattern;
    ///
    /// let pattern = CommandPattern::new("git log *");
    /// assert!(pattern.allows(&["git", "log", "-5"]));
    /// assert!(!pattern.allows(&["git", "log", "--output=file"]));
    /// ```
    pub fn allows(&self, words: &[&str]) -> bool {
        self.test_words(words.iter().copied()) == Match::Yes
    }

    /// Returns whether the pattern has no words.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && !self.is_open
    }

    pub(super) fn test(&self, value: &Value) -> Match {
        match value {
            Value::String(text) if text.contains(is_shell_syntax) => Match::Unknown,
            Value::String(text) => self.test_words(text.split([' ', '\t']).filter(|word| !word.is_empty())),
            Value::Array(words) => {
                let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
                match words {
                    Some(words) if words.iter().any(|word| word.contains(char::is_control)) => Match::Unknown,
                    Some(words) => self.test_words(words),
                    None => Match::Unknown,
                }
            }
            _ => Match::No,
        }
    }

    pub(super) fn test_words<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Match {
        let words: Vec<&'w str> = words.into_iter().collect();
        let starts = self.words.len() <= words.len()
            && self
                .words
                .iter()
                .zip(&words)
                .all(|(pattern, word)| pattern.matches(word));
        if !starts || !(self.is_open || self.words.len() == words.len()) {
            return Match::No;
        }
        // A word that the pattern writes out was meant.
        let is_open = |index: usize| {
            let pattern = self.words.get(index);
            pattern.is_none_or(|pattern| pattern.as_str().contains(['*', '?']))
        };
        match effects::acts(&words, is_open) {
            true => Match::Part,
            false => Match::Yes,
        }
    }
}

/// Returns whether a character is special to a shell anywhere in a command.
fn is_shell_syntax(c: char) -> bool {
    is_separator(c)
        || matches!(
            c,
            '(' | ')' | '{' | '}' | '[' | ']' | '*' | '?' | '!' | '#' | '~' | '\'' | '"'
        )
}

/// Returns whether a shell may take what follows the character for another command or file.
pub(super) fn is_separator(c: char) -> bool {
    matches!(c, ';' | '&' | '|' | '<' | '>' | '`' | '$' | '\\') || c.is_control() && c != '\t'
}

impl From<&str> for CommandPattern {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for CommandPattern {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for CommandPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for CommandPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_simple_commands_match() {
        let check = |pattern: &str, value: Value, expected: Match| {
            assert_eq!(CommandPattern::new(pattern).test(&value), expected, "{pattern} {value}");
        };
        check("git status", json!("git status"), Match::Yes);
        check("git status", json!(" git\tstatus "), Match::Yes);
        check("git status", json!("git status -s"), Match::No);
        check("git *", json!("git"), Match::Yes);
        check("git *", json!("git log -5"), Match::Yes);
        check("git *", json!("gitk"), Match::No);
        check("git lo? --*", json!("git log --stat"), Match::Yes);
        check("git lo? --*", json!("git log"), Match::No);
        check("*", json!("anything at all"), Match::Yes);
        check("git *", json!(7), Match::No);
        for hostile in [
            "git status; rm -rf /",
            "git status && reboot",
            "git status | sh",
            "git log > /etc/passwd",
            "git $(reboot)",
            "git `reboot`",
            "git status\nreboot",
            "git status\rreboot",
            "git ${IFS}",
            "git \"a b\"",
            "git 'a'",
            "git a\\ b",
            "git *",
            "git ~",
            "git \u{0}",
            "git (a)",
            "git {a,b}",
            "git #",
            "git !1",
            "git <(a)",
            "rm x &",
        ] {
            check("git *", json!(hostile), Match::Unknown);
        }
    }

    #[test]
    fn words_of_an_array_reach_no_shell() {
        let check = |value: Value, expected: Match| {
            assert_eq!(CommandPattern::new("git commit -m *").test(&value), expected, "{value}");
        };
        check(json!(["git", "commit", "-m", "a; b"]), Match::Yes);
        check(json!(["git", "push"]), Match::No);
        check(json!(["git commit -m", "x"]), Match::No);
        check(json!(["git", "commit", "-m", "a\nb"]), Match::Unknown);
        check(json!(["git", 7]), Match::Unknown);
    }
}

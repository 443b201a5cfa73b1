//! [`ArgumentTest`]: what a rule looks for in an argument.

use serde_json::Value;

use super::glob::Glob;

/// What a rule looks for at a path of the arguments.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ArgumentTest {
    /// Anything at all.
    Present,
    /// Exactly this value.
    Equals(Value),
    /// A string of this pattern.
    Matches(Glob),
    /// A string that is this path or lies within it, compared part by part (`/` and `\` divide, `.` and empty parts
    /// are passed over). A path with `..` is within nothing for an allow rule, and perhaps within for ask and deny.
    /// Only the text is seen: links in the file system are not.
    Within(String),
}

/// How an argument meets a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    /// It does.
    Yes,
    /// It cannot be said from the text.
    Perhaps,
    /// It does not.
    No,
}

impl ArgumentTest {
    pub(crate) fn test(&self, value: &Value) -> Match {
        let holds = match (self, value) {
            (Self::Present, _) => true,
            (Self::Equals(expected), value) => expected == value,
            (Self::Matches(glob), Value::String(text)) => glob.matches(text),
            (Self::Within(base), Value::String(text)) => return within(base, text),
            (Self::Matches(_) | Self::Within(_), _) => false,
        };
        if holds { Match::Yes } else { Match::No }
    }
}

const DIVIDERS: [char; 2] = ['/', '\\'];

fn within(base: &str, path: &str) -> Match {
    let is_rooted = |text: &str| text.starts_with(DIVIDERS);
    if path.split(DIVIDERS).any(|part| part == "..") {
        return Match::Perhaps;
    }
    let mut path_parts = path.split(DIVIDERS).filter(|part| !matches!(*part, "" | "."));
    let mut base_parts = base.split(DIVIDERS).filter(|part| !matches!(*part, "" | "."));
    if is_rooted(base) == is_rooted(path) && base_parts.all(|part| path_parts.next() == Some(part)) {
        Match::Yes
    } else {
        Match::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_goes_part_by_part() {
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
            ("/notes", "/notes/../etc/passwd", Match::Perhaps),
            ("/notes", "/notes\\..\\etc", Match::Perhaps),
            ("/notes", "/notes/..a", Match::Yes),
            ("C:\\notes", "C:\\notes\\a.md", Match::Yes),
        ] {
            assert_eq!(within(base, path), expected, "{base} {path}");
        }
    }
}

//! [`PathScope`]: a directory, and whether a path is below it.

use std::borrow::Cow;

use super::glob::Match;
use crate::error::{ToolError, ToolErrorKind};

const SEPARATORS: [char; 2] = ['/', '\\'];

/// A path, for rules about everything at or below it.
///
/// Paths are compared component by component: `/` and `\` are separators, `.` and empty components are ignored. Only
/// the text is compared; the file system is not read. Some values cannot be decided from their text. They never match
/// an allow rule, and always match an ask or deny rule:
///
/// - a path with a `..` component, a NUL or another control character,
/// - a relative path if the base is absolute, or the other way around, unless the directory to which relative paths refer
///   is given with [`with_relative_to`](Self::with_relative_to), and a path that starts with `~`,
/// - a path on another drive or without one, if the base has a drive letter, or the other way around,
/// - a path that is below the base only after whitespace around it is removed or a `file:` URL is decoded, because some
///   tools do that and others do not.
///
/// Symbolic links, mounts, hard links, aliases such as `/proc/self/root`, and file systems that ignore case are not
/// taken into account.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct PathScope {
    base: String,
    relative_to: Option<String>,
}

impl PathScope {
    /// Creates a scope of everything at or below `base`.
    pub fn new(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            relative_to: None,
        }
    }

    /// Sets the directory to which the tool's relative paths refer: an absolute path.
    pub fn with_relative_to(mut self, directory: impl Into<String>) -> Self {
        self.relative_to = Some(directory.into());
        self
    }

    pub(super) fn from_parts(base: String, relative_to: Option<String>) -> Self {
        Self { base, relative_to }
    }

    /// Returns the path at the top of the scope.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the directory to which relative paths refer, if it is known.
    pub fn relative_to(&self) -> Option<&str> {
        self.relative_to.as_deref()
    }

    /// Checks that the scope can match a path.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        let invalid = |reason: String| Err(ToolError::new(ToolErrorKind::Config, reason));
        for path in [Some(&self.base), self.relative_to.as_ref()].into_iter().flatten() {
            if path.trim() != path || path.is_empty() || is_undecided(path) || path.starts_with('~') {
                return invalid(format!(
                    "no path is within {path:?}: it must not be empty, start with ~, have whitespace around it, or \
                     contain .. or control characters"
                ));
            }
        }
        match self.relative_to() {
            Some(directory) if kind(directory) == Kind::Relative => invalid(format!(
                "relative paths must refer to an absolute path, not to {directory:?}"
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn test(&self, path: &str) -> Match {
        let plain = path.trim();
        if is_undecided(plain) || plain.starts_with('~') {
            return Match::Unknown;
        }
        let (plain, is_url) = match file_url(plain) {
            None => (Cow::Borrowed(plain), false),
            Some(Some(path)) if !is_undecided(&path) => (Cow::Owned(path), true),
            Some(_) => return Match::Unknown,
        };
        match self.contains(&plain) {
            // A tool may or may not read it like this.
            Match::Yes if is_url || plain != path => Match::Unknown,
            found => found,
        }
    }

    fn contains(&self, path: &str) -> Match {
        match (kind(&self.base), kind(path), self.relative_to()) {
            (base, path_kind, _) if base == path_kind => starts_with(components(path), components(&self.base)),
            (_, Kind::Relative, Some(directory)) if kind(directory) == kind(&self.base) => {
                let joined = components(directory).chain(components(path));
                starts_with(joined, components(&self.base))
            }
            (Kind::Relative, path_kind, Some(directory)) if kind(directory) == path_kind => {
                let joined = components(directory).chain(components(&self.base));
                starts_with(components(path), joined)
            }
            _ => Match::Unknown,
        }
    }
}

impl From<&str> for PathScope {
    fn from(base: &str) -> Self {
        Self::new(base)
    }
}

impl From<String> for PathScope {
    fn from(base: String) -> Self {
        Self::new(base)
    }
}

/// The place from which a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Root,
    /// A drive of Windows, by its letter.
    Drive,
    Relative,
}

fn kind(path: &str) -> Kind {
    match path.as_bytes() {
        [b'/' | b'\\', ..] => Kind::Root,
        [letter, b':', ..] if letter.is_ascii_alphabetic() => Kind::Drive,
        _ => Kind::Relative,
    }
}

/// Returns whether the text of a path leaves open where it leads.
fn is_undecided(path: &str) -> bool {
    path.contains(char::is_control) || path.split(SEPARATORS).any(|part| part == "..")
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(SEPARATORS).filter(|part| !matches!(*part, "" | "."))
}

fn starts_with<'a>(mut path: impl Iterator<Item = &'a str>, mut base: impl Iterator<Item = &'a str>) -> Match {
    if base.all(|part| path.next() == Some(part)) {
        Match::Yes
    } else {
        Match::No
    }
}

/// Returns the path of a `file:` URL, or `Some(None)` if it leads to another host or cannot be decoded.
fn file_url(text: &str) -> Option<Option<String>> {
    let scheme = text.get(..5)?;
    let rest = scheme.eq_ignore_ascii_case("file:").then(|| &text[5..])?;
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !(host.is_empty() || host.eq_ignore_ascii_case("localhost") || host == "127.0.0.1") {
                return Some(None);
            }
            path
        }
    };
    let end = path.find(['?', '#']).unwrap_or(path.len());
    Some(percent_decoded(&path[..end]))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = tail.get(2..)?;
    }
    String::from_utf8(bytes).ok()
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
            ("/notes", "/notes///a.md", Match::Yes),
            ("/notes", "/notes2/a.md", Match::No),
            ("notes", "notes/a.md", Match::Yes),
            ("notes", "./notes/a.md", Match::Yes),
            (".", "notes/a.md", Match::Yes),
            ("/notes", "/", Match::No),
            ("/", "/etc/passwd", Match::Yes),
            ("/notes", "/notes/..a", Match::Yes),
            ("C:\\notes", "C:\\notes\\a.md", Match::Yes),
            ("C:\\notes", "C:/notes/a.md", Match::Yes),
            ("C:\\notes", "D:\\notes\\a.md", Match::No),
        ] {
            assert_eq!(PathScope::new(base).test(path), expected, "{base} {path}");
        }
    }

    #[test]
    fn leaves_open_what_the_text_does_not_decide() {
        for (base, path) in [
            ("/notes", "notes/a.md"),
            ("notes", "/notes/a.md"),
            ("/notes", "/notes/../etc/passwd"),
            ("/notes", "/notes\\..\\etc"),
            ("/etc", "/srv/../etc/passwd"),
            ("/etc", " /etc/passwd"),
            ("/etc", "/etc/passwd\n"),
            ("/etc", "/etc\0/passwd"),
            ("/etc", "/e\u{7}tc/passwd"),
            ("/etc", "file:///etc/passwd"),
            ("/etc", "FILE:/etc/passwd"),
            ("/etc", "file://localhost/%65tc/passwd"),
            ("/etc", "file:///srv/%2e%2e/etc/passwd"),
            ("/etc", "file:///etc%00/passwd"),
            ("/etc", "file://server/share"),
            ("/etc", "file:///etc/%zz"),
            ("/etc", "~root/../etc"),
            ("/etc", "~/x"),
            ("/etc", "C:\\etc\\passwd"),
        ] {
            assert_eq!(PathScope::new(base).test(path), Match::Unknown, "{base} {path:?}");
        }
        for path in [" /srv/a", "file:///srv/a", "/etcetera"] {
            assert_eq!(PathScope::new("/etc").test(path), Match::No, "{path:?}");
        }
    }

    #[test]
    fn relative_paths_refer_to_the_given_directory() {
        for (base, path, expected) in [
            ("/srv/app/notes", "notes/a.md", Match::Yes),
            ("/srv/app/notes", "other/a.md", Match::No),
            ("/etc", "etc/passwd", Match::No),
            ("/srv", "a", Match::Yes),
            ("/etc", "../../etc/passwd", Match::Unknown),
            ("notes", "/srv/app/notes/a.md", Match::Yes),
            ("notes", "/srv/notes/a.md", Match::No),
            ("/etc", "~/x", Match::Unknown),
            ("/etc", "C:x", Match::Unknown),
        ] {
            let scope = PathScope::new(base).with_relative_to("/srv/app");
            assert_eq!(scope.test(path), expected, "{base} {path}");
        }
    }

    #[test]
    fn rejects_scopes_without_paths() {
        for scope in [
            PathScope::new(""),
            PathScope::new("/srv/../etc"),
            PathScope::new(" /etc"),
            PathScope::new("/e\0tc"),
            PathScope::new("~/notes"),
            PathScope::new("/etc").with_relative_to("srv"),
            PathScope::new("/etc").with_relative_to("/srv/.."),
        ] {
            assert!(scope.check().is_err(), "{scope:?}");
        }
        for base in ["/", ".", "/etc", "notes", "C:\\"] {
            PathScope::new(base).with_relative_to("/srv").check().unwrap();
        }
    }
}

//! Names in pages that users read exist: types and their members in inline code, such as `Usage::total()`, and methods
//! that are called on a value, such as `session.turn("Hi")`.
//!
//! Programs in these pages are compiled. Names in their prose are not, and go stale when an item is renamed.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::source::markdown;
use crate::source::public_api::{Apis, Entry};
use crate::source::sources::{SourceFile, Sources};

/// Types of other libraries whose members our pages name.
const FOREIGN_TYPES: &[&str] = &["Arc", "Box", "Duration", "Option", "Rc", "Result", "String", "Vec"];

/// Members that types get from traits of the standard library, which the API does not list one by one.
const INHERITED: &[&str] = &["clone", "default", "fmt", "from", "from_str", "into", "try_from"];

/// Tools of the program, which permission rules name like functions: `shell(git status)`.
const TOOLS: &[&str] = &["edit_file", "fetch_url", "read_file", "shell", "write_file"];

/// Functions that the reader of a page writes, or that macros generate, with the page.
const EXAMPLES: &[(&str, &str)] = &[
    ("docs/guide/tools.md", "convert_tool"),
    ("docs/guide/tools.zh-CN.md", "convert_tool"),
];

/// Compares the names in the guide, the reference and all READMEs with the API of the libraries.
pub(super) fn check(name: &str, apis: &Apis<'_>, sources: &Sources) -> Check {
    let findings = apis.libraries().map(|libraries| {
        let entries: Vec<&Entry> = libraries.iter().flat_map(|library| &library.entries).collect();
        let names = Names::new(&entries);
        let pages = sources.iter().filter(|file| is_page(&file.path));
        pages.flat_map(|page| in_page(page, &names)).collect()
    });
    Check::from_result(name, findings)
}

/// Returns whether a page is written for users. Pages for contributors also name private items.
fn is_page(path: &str) -> bool {
    const REFERENCE: &[&str] = &["cli", "dialects", "errors", "glossary", "security"];
    let page = path.rsplit('/').next().unwrap_or_default();
    let is_reference = path.strip_prefix("docs/").is_some_and(|page| {
        let name = page.strip_suffix(".md");
        name.is_some_and(|name| REFERENCE.contains(&name))
    });
    path.ends_with(".md") && (page.starts_with("README.") || path.starts_with("docs/guide/") || is_reference)
}

/// The names of the public API.
#[derive(Debug, Default)]
struct Names {
    /// The members of each type: functions, fields, variants.
    members: BTreeMap<String, BTreeSet<String>>,
    /// Everything that has a lower-case name: functions, methods, fields, modules.
    values: BTreeSet<String>,
}

impl Names {
    fn new(entries: &[&Entry]) -> Self {
        let mut names = Self::default();
        for entry in entries {
            let segments: Vec<&str> = entry.path.split("::").collect();
            for (at, segment) in segments.iter().enumerate() {
                if !is_type(segment) {
                    names.values.insert((*segment).to_owned());
                    continue;
                }
                let members = names.members.entry((*segment).to_owned()).or_default();
                members.extend(segments.get(at + 1).map(|member| (*member).to_owned()));
            }
        }
        names
    }

    /// Returns the problem of `Type::member`, if it has one.
    fn wrong_member(&self, owner: &str, member: &str) -> Option<String> {
        if FOREIGN_TYPES.contains(&owner) {
            return None;
        }
        match self.members.get(owner) {
            None => Some(format!("no library has a public type `{owner}`")),
            Some(members) if members.contains(member) || INHERITED.contains(&member) => None,
            Some(_) => Some(format!("`{owner}` has no public member `{member}`")),
        }
    }

    /// Returns the problem of `receiver.method()` or `function()`, if it has one. The receiver stands for the types whose names
    /// begin or end with it, such as `AgentSession` for `session`, if there are any.
    fn wrong_call(&self, receiver: Option<&str>, function: &str) -> Option<String> {
        let owners: Vec<_> = receiver.map_or_else(Vec::new, |receiver| {
            let named = |owner: &str| {
                outer_words(owner)
                    .iter()
                    .any(|word| word.eq_ignore_ascii_case(receiver))
            };
            self.members.iter().filter(|(owner, _)| named(owner)).collect()
        });
        if owners.is_empty() {
            return (!self.values.contains(function)).then(|| format!("no library has a function `{function}`"));
        }
        let exists = owners.iter().any(|(_, members)| members.contains(function));
        let types: Vec<String> = owners.iter().map(|(owner, _)| format!("`{owner}`")).collect();
        (!exists).then(|| format!("none of {} has a method `{function}`", types.join(", ")))
    }
}

fn is_type(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.contains(|letter: char| letter.is_lowercase())
}

/// Returns the first and the last word of a type name: `Agent` and `Session` of `AgentSession`.
fn outer_words(owner: &str) -> [&str; 2] {
    let is_capital = |letter: char| letter.is_ascii_uppercase();
    let first_end = owner
        .get(1..)
        .and_then(|rest| rest.find(is_capital))
        .map_or(owner.len(), |end| end + 1);
    let last_start = owner.rfind(is_capital).unwrap_or_default();
    [&owner[..first_end], &owner[last_start..]]
}

fn in_page<'a>(page: &'a SourceFile, names: &'a Names) -> impl Iterator<Item = Finding> + 'a {
    let spans = markdown::prose(&page.text).flat_map(|(number, line)| code_spans(line).map(move |code| (number, code)));
    spans.filter_map(move |(number, code)| {
        let problem = wrong(code, names, &page.path)?;
        Some(Finding::new(
            format!("{}:{number}", page.path),
            format!("`{code}`: {problem}"),
            "name an item that exists; `docs/api` lists all of them",
        ))
    })
}

/// Returns the inline code of a line.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn wrong(code: &str, names: &Names, page: &str) -> Option<String> {
    if let Some((receiver, function)) = call(code) {
        let is_example = EXAMPLES.contains(&(page, function)) || TOOLS.contains(&function);
        return names.wrong_call(receiver, function).filter(|_| !is_example);
    }
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("::") {
        let owner = before
            .rsplit(|letter| !is_identifier(letter))
            .next()
            .unwrap_or_default();
        let member = after.split(|letter| !is_identifier(letter)).next().unwrap_or_default();
        if is_type(owner) && !member.is_empty() {
            let problem = names.wrong_member(owner, member);
            if problem.is_some() {
                return problem;
            }
        }
        rest = after;
    }
    None
}

/// Reads `receiver.method(…)` or `function(…)`.
fn call(code: &str) -> Option<(Option<&str>, &str)> {
    let (callee, arguments) = code.split_once('(')?;
    let is_name =
        |name: &str| name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(is_identifier);
    let (receiver, function) = match callee.rsplit_once('.') {
        Some((receiver, function)) => (Some(receiver), function),
        None => (None, callee),
    };
    let is_call = arguments.ends_with(')') && is_name(function) && receiver.is_none_or(is_name);
    is_call.then_some((receiver, function))
}

fn is_identifier(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let paths = [
            "a::AgentSession",
            "a::AgentSession::turn",
            "a::AgentSession::usage",
            "a::TurnOutcome::report",
            "a::BusyPolicy::Queue",
            "a::model",
        ];
        let entries = paths.map(|path| Entry {
            path: path.to_owned(),
            ..Entry::default()
        });
        Names::new(&entries.each_ref())
    }

    #[track_caller]
    fn check(code: &str, expected: Option<&str>) {
        let found = wrong(code, &names(), "docs/guide/a.md");
        assert_eq!(found.as_deref(), expected, "{code}");
    }

    #[test]
    fn names_that_exist_pass() {
        for code in [
            "AgentSession::turn",
            "a::BusyPolicy::Queue",
            "Some(BusyPolicy::Queue)",
            "AgentSession::from(session)",
            "Arc::new(x)",
            "session.turn(\"Hi\")",
            "model(…)",
            "other.turn()",
            "agcore.toml",
            "shell(git log *)",
            "cargo xtask ci",
        ] {
            check(code, None);
        }
    }

    #[test]
    fn members_and_types_that_do_not_exist_are_found() {
        check("LlmRouter::status", Some("no library has a public type `LlmRouter`"));
        check("BusyPolicy::Wait", Some("`BusyPolicy` has no public member `Wait`"));
        check(
            "Pair(AgentSession::turn, BusyPolicy::Wait)",
            Some("`BusyPolicy` has no public member `Wait`"),
        );
    }

    #[test]
    fn a_method_belongs_to_the_type_that_the_receiver_names() {
        check("outcome.usage()", Some("none of `TurnOutcome` has a method `usage`"));
        check("outcome.report()", None);
        check("gone()", Some("no library has a function `gone`"));
    }

    #[test]
    fn pages_for_users_are_checked() {
        for page in [
            "README.md",
            "crates/a/README.md",
            "docs/guide/a.zh-CN.md",
            "docs/errors.md",
        ] {
            assert!(is_page(page), "{page}");
        }
        for page in ["docs/decisions/0001-a.md", "docs/architecture.md", "docs/guide/a.toml"] {
            assert!(!is_page(page), "{page}");
        }
    }
}

//! Commit messages follow CONTRIBUTING.md: `kind(scope): imperative`, and a body with the reason.

use std::path::Path;
use std::process::Command;

use crate::process;
use crate::report::check::Check;
use crate::report::finding::Finding;

/// The kinds of CONTRIBUTING.md.
const KINDS: &[&str] = &["feat", "fix", "perf", "refactor", "test", "docs", "build"];

/// The last commit before the convention was enforced; it and its ancestors are exempt.
const EXEMPT: &str = "c54fb95";

/// The branch with which a change is compared.
const BASE: &str = "origin/main";

/// The most characters of a subject.
const MAX_SUBJECT: usize = 100;

/// Separates commits and their parts in the output of git.
const COMMIT_END: char = '\u{1e}';
const PART_END: char = '\u{1f}';

/// Checks the commits of a range; without one, the commits that are not on `origin/main`, or else all commits that are
/// not exempt.
pub(super) fn check(name: &str, root: &Path, range: Option<&str>) -> Check {
    if !root.join(".git").exists() {
        return Check::skipped(name, "this is not a git repository");
    }
    if let Err(error) = git(root, &["--version"]) {
        return Check::skipped(name, format!("git does not run: {error:#}"));
    }
    let is_exempt_known = has(root, EXEMPT);
    let range = match range {
        Some(range) => range.to_owned(),
        None if has(root, BASE) => format!("{BASE}..HEAD"),
        None if is_exempt_known => format!("{EXEMPT}..HEAD"),
        None => {
            let reason = format!("the history has neither {BASE} nor {EXEMPT}: fetch it, or pass `--range`");
            return Check::skipped(name, reason);
        }
    };
    let exempt = format!("^{EXEMPT}");
    let format = format!("--format=%h{PART_END}%B{COMMIT_END}");
    let mut arguments = vec!["log", "--no-merges", &format, &range];
    if is_exempt_known {
        arguments.push(&exempt);
    }
    match git(root, &arguments) {
        Ok(log) => {
            let commits = parse(&log);
            let findings = commits.iter().flat_map(findings).collect();
            Check::new(name, findings).with_note(format!("{} in {range}", commits.len()))
        }
        Err(error) => Check::from_result(name, Err(error)),
    }
}

fn has(root: &Path, commit: &str) -> bool {
    git(
        root,
        &["rev-parse", "--verify", "--quiet", &format!("{commit}^{{commit}}")],
    )
    .is_ok()
}

fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    process::stdout(Command::new("git").current_dir(root).args(arguments))
}

#[derive(Debug)]
struct Commit {
    hash: String,
    subject: String,
    body: String,
}

fn parse(log: &str) -> Vec<Commit> {
    let commits = log
        .split(COMMIT_END)
        .filter_map(|commit| commit.trim().split_once(PART_END));
    commits
        .map(|(hash, message)| {
            let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
            Commit {
                hash: hash.to_owned(),
                subject: subject.trim_end().to_owned(),
                body: body.to_owned(),
            }
        })
        .collect()
}

fn findings(commit: &Commit) -> Vec<Finding> {
    let mut problems = subject_problems(&commit.subject);
    if !has_text(&commit.body) {
        problems.push("the body is empty, it must give the reason for the change".to_owned());
    }
    let findings = problems.into_iter().map(|problem| {
        Finding::new(
            format!("commit {}", commit.hash),
            format!("{problem}: {}", commit.subject),
            "reword it before it is merged: `kind(scope): imperative`, a blank line, and why",
        )
    });
    findings.collect()
}

fn subject_problems(subject: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let length = subject.chars().count();
    if length > MAX_SUBJECT {
        problems.push(format!(
            "the subject has {length} characters, {MAX_SUBJECT} are allowed"
        ));
    }
    if subject.ends_with('.') {
        problems.push("the subject ends with a full stop".to_owned());
    }
    match subject.split_once(": ") {
        Some((prefix, text)) if has_valid_kind(prefix) => {
            problems.extend(not_imperative(text).map(|word| format!("`{word}` is not an imperative")));
        }
        _ => problems.push(format!(
            "the subject does not start with `kind(scope): `, where the kind is one of {}",
            KINDS.join(", ")
        )),
    }
    problems
}

/// Returns whether the text before the colon is a kind, or a kind with a scope, with `!` for a breaking change.
fn has_valid_kind(prefix: &str) -> bool {
    let prefix = prefix.strip_suffix('!').unwrap_or(prefix);
    let (kind, scope) = match prefix.split_once('(') {
        Some((kind, scope)) => (kind, scope.strip_suffix(')')),
        None => (prefix, Some("all")),
    };
    let is_name = |name: &str| {
        let mut characters = name.chars();
        !name.is_empty() && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    KINDS.contains(&kind) && scope.is_some_and(|scope| scope.split([',', '/']).all(|name| is_name(name.trim())))
}

/// Returns the first word if it cannot be an imperative. A heuristic: it knows articles, pronouns and the like, and the
/// endings of other forms of verbs.
fn not_imperative(text: &str) -> Option<&str> {
    const OTHERS: &[&str] = &[
        "a", "all", "an", "and", "any", "both", "each", "every", "for", "from", "how", "in", "is", "it", "its", "more",
        "new", "no", "nothing", "of", "on", "one", "only", "our", "some", "that", "the", "their", "there", "these",
        "this", "three", "to", "two", "what", "when", "where", "whether", "who", "why", "with", "without",
    ];
    const VERBS: &[&str] = &[
        "address", "alias", "bring", "compress", "cross", "discuss", "embed", "exceed", "express", "feed", "focus",
        "guess", "miss", "need", "pass", "ping", "press", "proceed", "process", "read", "seed", "shed", "speed",
        "spread", "stress", "string", "succeed", "suppress", "thread", "wrap",
    ];
    let word = text.split([' ', ',', ':']).next().unwrap_or_default();
    let lower = word.to_lowercase();
    let is_verb = VERBS.contains(&lower.as_str());
    let has_ending = ["ed", "ing", "s"].iter().any(|ending| lower.ends_with(ending));
    let is_lower_case = word.chars().next().is_some_and(char::is_lowercase);
    let is_imperative = is_lower_case && (is_verb || !(has_ending || OTHERS.contains(&lower.as_str())));
    (!is_imperative).then_some(word)
}

/// Returns whether the body has a line besides trailers such as `Signed-off-by: …`.
fn has_text(body: &str) -> bool {
    let lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_trailer = |line: &str| {
        line.split_once(": ").is_some_and(|(key, _)| {
            let is_key = key.contains('-') && !key.contains(' ');
            is_key && key.starts_with(char::is_uppercase)
        })
    };
    lines.into_iter().any(|line| !is_trailer(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_message(message: &str, expected: &[&str]) {
        let commits = parse(&format!("abc1234{PART_END}{message}\n{COMMIT_END}\n"));
        let found = findings(&commits[0]);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, expected) in found.iter().zip(expected) {
            assert!(finding.to_string().contains(expected), "{finding}");
        }
    }

    #[test]
    fn accepts_a_conventional_message() {
        check_message(
            "feat(llm): read usage of cached tokens\n\nThe price depends on it.",
            &[],
        );
        check_message("docs: pass the key by hand\n\nWhy.", &[]);
        check_message(
            "refactor(chat,llm)!: move `Fold`\n\nWhy.\n\nSigned-off-by: A <a@b.c>",
            &[],
        );
    }

    #[test]
    fn finds_a_subject_in_another_form() {
        for subject in [
            "add x",
            "feature: add x",
            "feat(LLM): add x",
            "feat (llm): add x",
            "style: format",
        ] {
            check_message(&format!("{subject}\n\nWhy."), &["does not start with `kind(scope): `"]);
        }
        check_message("fix: add x.\n\nWhy.", &["ends with a full stop"]);
        let long = format!("fix: add {}\n\nWhy.", "x".repeat(92));
        check_message(&long, &["the subject has 101 characters, 100 are allowed"]);
    }

    #[test]
    fn finds_a_subject_that_is_not_imperative() {
        for word in ["the", "adds", "added", "adding", "no", "Add"] {
            check_message(
                &format!("fix: {word} x\n\nWhy."),
                &[&format!("commit abc1234: `{word}` is not an imperative")],
            );
        }
    }

    #[test]
    fn finds_a_missing_body() {
        check_message("fix: add x", &["the body is empty"]);
        check_message("fix: add x\n\nCo-authored-by: A <a@b.c>", &["the body is empty"]);
    }

    #[test]
    fn the_kinds_are_those_of_contributing() {
        let page = include_str!("../../../CONTRIBUTING.md");
        for kind in KINDS {
            assert!(page.contains(&format!("`{kind}`")), "{kind}");
        }
    }
}

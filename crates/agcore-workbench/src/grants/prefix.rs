//! [`prefix_grant`]: an answer for all command lines whose commands begin in the same way.

use agcore::tools::{
    ApprovalRequest, Grant, GrantedArgument,
    permission::{ArgumentTest, CommandPattern, JsonPath, simple_commands},
};
use agcore_terminal::render::SHELL;

use crate::program_tools::reading_commands;

/// The largest number of different commands in a line.
const MAX_COMMANDS: usize = 3;

/// Commands that build or test the project of the folder, whatever follows. The shell rules know the options with which they would
/// use another project, run other programs or change files.
const OF_PROJECT: [&str; 5] = ["cargo build", "cargo check", "cargo clippy", "cargo test", "npm test"];

/// Commands whose next word is a script of the project.
const WITH_SCRIPT: [&str; 1] = ["npm run"];

/// Returns the grant for shell commands that begin like those of the request, and their beginnings in words. Returns `None` for
/// other tools, for lines with other syntax of a shell than separators and quotes, and for commands that an answer for their
/// beginning would not cover.
///
/// A beginning is one of a command that only reads, or that builds or tests the project, with any arguments. Of options that make
/// such a command write files or run other programs, the shell rules know that a pattern with a `*` does not cover them: these
/// commands are asked about each time. Of all other programs it is not known what their arguments may do.
pub fn prefix_grant(request: &ApprovalRequest) -> Option<(Grant, String)> {
    if *request.tool != *SHELL || request.each_time || request.unclear {
        return None;
    }
    let beginnings = beginnings(request.arguments["command"].as_str()?)?;
    let shown: Vec<String> = beginnings.iter().map(|known| format!("`{}`", text(known))).collect();
    let test = ArgumentTest::CommandLine(beginnings);
    let argument = GrantedArgument::new(JsonPath::new("$.command").ok()?, test).ok()?;
    let grant = Grant::new(SHELL)
        .with_owner(request.actor.clone())
        .with_argument(argument);
    Some((grant, shown.join(" or ")))
}

/// Returns the beginnings of the commands of a line.
fn beginnings(line: &str) -> Option<Vec<CommandPattern>> {
    let known = known();
    let mut beginnings = Vec::new();
    for words in simple_commands(line)? {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let beginning = beginning(&words, &known)?;
        if !beginnings.contains(&beginning) {
            beginnings.push(beginning);
        }
    }
    (1..=MAX_COMMANDS).contains(&beginnings.len()).then_some(beginnings)
}

/// Returns the pattern that covers a command, and those that begin like it.
fn beginning(words: &[&str], known: &[CommandPattern]) -> Option<CommandPattern> {
    // In another directory, commands of a project are those of another one.
    let pattern = match words {
        ["cd", directory] if is_plain(directory) => CommandPattern::new(format!("cd {directory}")),
        ["cd", ..] => return None,
        _ => known.iter().find(|known| known.allows(words))?.clone(),
    };
    let pattern = match WITH_SCRIPT.iter().find(|script| **script == text(&pattern)) {
        Some(script) => {
            let name = words.get(2).filter(|name| is_plain(name) && !name.starts_with('-'))?;
            CommandPattern::new(format!("{script} {name} *"))
        }
        None => pattern,
    };
    pattern.allows(words).then_some(pattern)
}

/// Returns the beginnings for which an answer can be given.
fn known() -> Vec<CommandPattern> {
    let running = OF_PROJECT.iter().chain(&WITH_SCRIPT);
    let running = running.map(|beginning| CommandPattern::new(format!("{beginning} *")));
    reading_commands().into_iter().chain(running).collect()
}

/// Returns a pattern without the `*` for what follows.
fn text(pattern: &CommandPattern) -> &str {
    pattern.as_str().trim_end_matches(" *")
}

/// Returns whether a pattern with the word matches only this word.
fn is_plain(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '+' | '@');
    !word.is_empty() && word.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<&[&str]>) {
        let found = beginnings(line);
        let found: Option<Vec<&str>> = found.as_ref().map(|found| found.iter().map(text).collect());
        assert_eq!(found.as_deref(), expected, "{line}");
    }

    #[test]
    fn beginnings_are_those_of_simple_commands() {
        check("git status -s", Some(&["git status"]));
        check("cd src && git log | head -3", Some(&["cd src", "git log", "head"]));
        check("ls; ls -l", Some(&["ls"]));
        check("npm run test:all -- -x", Some(&["npm run test:all"]));
        check("npm test", Some(&["npm test"]));
        check("cargo test --package a", Some(&["cargo test"]));
        for none in ["a; b; c; d", "ls; pwd; cat x; wc x", "'a b' c", "ls > x", "ls $(x)", ""] {
            check(none, None);
        }
    }

    #[test]
    fn programs_that_may_do_anything_have_no_beginning() {
        for none in [
            "git -C x status",
            "git",
            "git push",
            "git reset --hard",
            "sh -c 'x'",
            "/bin/bash x",
            "python3.12 x",
            "sudo ls",
            "rm x",
            "cp a b",
            "tee x",
            "curl http://example.org",
            "make test",
            "docker run x",
            "./check.sh a",
            "./ls",
            "env",
            "cargo run",
            "cargo",
            "npm run",
            "npm run --prefix x",
            "npx x",
            "cd",
            "cd a b",
            "ls; rm x",
        ] {
            check(none, None);
        }
    }

    #[test]
    fn a_command_that_its_beginning_does_not_cover_has_none() {
        for none in [
            "git status --output=x",
            "git diff --ext-diff",
            "git log --outp=x",
            "sort -o x y",
            "sort -ro x y",
            "find . -name x -exec y",
            "find . -delete",
            "rg --pre x y",
            "uniq a b",
            "tree -o x",
            "cargo test --config x",
            "cargo test --manifest-path x/Cargo.toml",
            "cargo clippy --fix",
            "cargo build --artifact-dir x",
            "npm test --script-shell=x",
            "npm run a --prefix ../x",
            "npm run a -C ../x",
            "ls && git log --output=x",
        ] {
            check(none, None);
        }
    }
}

//! [`prefix_grant`]: an answer for all command lines whose commands begin in the same way.

use agcore::tools::{
    ApprovalRequest, Grant, GrantedArgument,
    permission::{ArgumentTest, CommandPattern, JsonPath, simple_commands},
};
use agcore_terminal::render::SHELL;

/// The largest number of different commands in a line.
const MAX_COMMANDS: usize = 3;

/// Programs whose first argument is a command of their own.
const WITH_SUBCOMMANDS: [&str; 29] = [
    "apt",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "dotnet",
    "flutter",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "rails",
    "terraform",
    "uv",
    "yarn",
];

/// Subcommands that run what the next word names.
const RUNS: [&str; 3] = ["exec", "run", "x"];

/// Programs that run what their arguments say, or destroy what these name: an answer for later would allow nearly everything.
const NEVER: [&str; 54] = [
    "ash",
    "awk",
    "bash",
    "busybox",
    "chgrp",
    "chmod",
    "chown",
    "cmd",
    "command",
    "csh",
    "dash",
    "dd",
    "doas",
    "env",
    "eval",
    "exec",
    "fish",
    "flock",
    "gawk",
    "ionice",
    "kill",
    "killall",
    "ksh",
    "lua",
    "mkfs",
    "mv",
    "nice",
    "node",
    "nohup",
    "npx",
    "parallel",
    "perl",
    "php",
    "pkill",
    "powershell",
    "pwsh",
    "python",
    "python2",
    "python3",
    "rm",
    "rmdir",
    "ruby",
    "setsid",
    "sh",
    "shred",
    "source",
    "ssh",
    "sudo",
    "time",
    "timeout",
    "truncate",
    "watch",
    "xargs",
    "zsh",
];

/// Returns the grant for shell commands that begin like those of the request, and their beginnings in words. Returns `None` for other tools,
/// for lines with other syntax of a shell than separators and quotes, and for programs that would run anything.
pub fn prefix_grant(request: &ApprovalRequest) -> Option<(Grant, String)> {
    if *request.tool != *SHELL || request.each_time || request.unclear {
        return None;
    }
    let prefixes = prefixes(request.arguments["command"].as_str()?)?;
    let patterns = prefixes.iter().map(|prefix| CommandPattern::new(format!("{prefix} *")));
    let test = ArgumentTest::CommandLine(patterns.collect());
    let argument = GrantedArgument::new(JsonPath::new("$.command").ok()?, test).ok()?;
    let shown: Vec<String> = prefixes.iter().map(|prefix| format!("`{prefix}`")).collect();
    let grant = Grant::new(SHELL)
        .with_owner(request.actor.clone())
        .with_argument(argument);
    Some((grant, shown.join(" or ")))
}

/// Returns the beginnings of the commands of a line.
fn prefixes(line: &str) -> Option<Vec<String>> {
    let mut prefixes = Vec::new();
    for words in simple_commands(line)? {
        let prefix = prefix(&words)?;
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    (1..=MAX_COMMANDS).contains(&prefixes.len()).then_some(prefixes)
}

fn prefix(words: &[String]) -> Option<String> {
    let program = words.first()?;
    let name = program.rsplit('/').next().unwrap_or(program).to_ascii_lowercase();
    let name = name
        .trim_end_matches(".exe")
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if NEVER.contains(&name) || NEVER.contains(&program.as_str()) {
        return None;
    }
    let count = match WITH_SUBCOMMANDS.contains(&program.as_str()) {
        false => 1,
        true if words.get(1).is_some_and(|word| RUNS.contains(&word.as_str())) => 3,
        true => 2,
    };
    let parts = words.get(..count)?;
    let is_plain = |word: &String| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '+' | '@'))
    };
    let has_option = parts.iter().skip(1).any(|word| word.starts_with('-'));
    (parts.iter().all(is_plain) && !has_option).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_those_of_simple_commands() {
        let check = |line: &str, expected: Option<&[&str]>| {
            let found = prefixes(line);
            let found: Option<Vec<&str>> = found.as_ref().map(|found| found.iter().map(String::as_str).collect());
            assert_eq!(found.as_deref(), expected, "{line}");
        };
        check("git status -s", Some(&["git status"]));
        check("cd src && git log | head -3", Some(&["cd", "git log", "head"]));
        check("ls; ls -l", Some(&["ls"]));
        check("npm run test -- -x", Some(&["npm run test"]));
        check("cargo test", Some(&["cargo test"]));
        check("./check.sh a", Some(&["./check.sh"]));
        for none in [
            "git -C x status",
            "git",
            "sh -c 'x'",
            "/bin/bash x",
            "python3.12 x",
            "sudo ls",
            "ls > x",
            "ls $(x)",
            "rm x",
            "env",
            "a; b; c; d",
            "'a b' c",
            "",
        ] {
            check(none, None);
        }
    }
}

//! Files that can start programs or change the permission settings. People are asked about each change of one, in every
//! permission mode that asks at all, and whatever was remembered.

use std::path::{Component, Path};

use agcore::tools::permission::{CommandPattern, simple_commands};

/// The end of the reason for a question about such a file.
pub const EACH_TIME: &str = "so every change of it is asked about";

/// Directories whose files are run or read by programs without being named.
const DIRECTORIES: &[&str] = &[
    ".agcore",
    ".agents",
    ".buildkite",
    ".cargo",
    ".circleci",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".forgejo",
    ".gemini",
    ".git",
    ".gitea",
    ".githooks",
    ".github",
    ".gitlab",
    ".husky",
    ".idea",
    ".kiro",
    ".mise",
    ".opencode",
    ".roo",
    ".vscode",
    ".windsurf",
    ".woodpecker",
    ".zed",
];

/// Directories in a home directory, with their parents.
const HOME_DIRECTORIES: &[[&str; 2]] = &[
    [".config", "agcore"],
    [".config", "autostart"],
    [".config", "fish"],
    [".config", "git"],
    [".config", "mise"],
    [".config", "systemd"],
    [".local", "bin"],
    ["library", "launchagents"],
];

/// Whole names.
const NAMES: &[&str] = &[
    "agcore.toml",
    ".mcp.json",
    "mcp.json",
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    ".cursorrules",
    ".windsurfrules",
    ".envrc",
    ".env",
    // Shells and what they start.
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".tmux.conf",
    ".gdbinit",
    ".lldbinit",
    ".pythonstartup",
    ".pdbrc",
    "microsoft.powershell_profile.ps1",
    // Git and its hooks.
    ".gitconfig",
    ".gitmodules",
    ".gitattributes",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.json",
    ".lefthook.toml",
    ".lefthook.yml",
    ".lefthook.yaml",
    "mise.toml",
    ".mise.toml",
    ".devcontainer.json",
    // Services that build.
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".travis.yml",
    ".drone.yml",
    ".appveyor.yml",
    "appveyor.yml",
    "jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
];

/// Programs that only read, unless they have options that the shell rules know.
const READERS: &[&str] = &[
    "basename",
    "cat",
    "cd",
    "cmp",
    "cut",
    "diff",
    "dirname",
    "du",
    "echo",
    "file",
    "find",
    "grep",
    "head",
    "ls",
    "nl",
    "od",
    "pwd",
    "rg",
    "sha256sum",
    "sort",
    "stat",
    "tail",
    "tree",
    "uniq",
    "wc",
    "which",
];

/// Subcommands of git that only read.
const GIT_READERS: &[&str] = &[
    "blame",
    "diff",
    "grep",
    "log",
    "ls-files",
    "rev-parse",
    "show",
    "status",
];

/// Returns whether a file can start programs or change the permission settings, by its path without links.
pub(super) fn is_guarded(path: &Path) -> bool {
    let names: Vec<String> = path.components().filter_map(name).collect();
    let Some((last, directories)) = names.split_last() else {
        return false;
    };
    // The directory itself can be replaced as well.
    let is_directory = |name: &String| DIRECTORIES.contains(&name.as_str());
    let is_of_home = |pair: &[String]| HOME_DIRECTORIES.iter().any(|known| pair == known);
    is_directory(last)
        || directories.iter().any(is_directory)
        || names.windows(2).any(is_of_home)
        || NAMES.contains(&last.as_str())
        || last.starts_with(".env.")
}

/// Returns the name of a component as file systems compare it that ignore case, and what some of them ignore.
fn name(component: Component<'_>) -> Option<String> {
    let Component::Normal(name) = component else {
        return None;
    };
    let name: String = name.to_string_lossy().chars().filter(|c| !is_ignorable(*c)).collect();
    // Windows ignores dots and spaces at the end, and reads `name:stream`.
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    Some(name.to_lowercase())
}

/// Returns whether the file system of macOS ignores a character in names.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Returns patterns of the commands that only read, unless they have options that the shell rules know.
pub(crate) fn reading_commands() -> Vec<CommandPattern> {
    let programs = READERS.iter().map(|program| format!("{program} *"));
    let of_git = GIT_READERS.iter().map(|subcommand| format!("git {subcommand} *"));
    programs.chain(of_git).map(CommandPattern::new).collect()
}

/// Returns whether all commands of a line only read. Of a line that is not understood, that is not certain.
pub(crate) fn only_reads(line: &str) -> bool {
    let patterns = reading_commands();
    let is_reader = |words: &Vec<String>| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        patterns.iter().any(|pattern| pattern.allows(&words))
    };
    simple_commands(line).is_some_and(|commands| commands.iter().all(is_reader))
}

/// Returns the paths that a command line may change: each part that can be one, unless all of its commands only read.
pub(super) fn changed_by(line: &str) -> Vec<&str> {
    match only_reads(line) {
        true => Vec::new(),
        false => parts(line).collect(),
    }
}

/// Programs that show names, and no contents.
const LISTERS: &[&str] = &["cd", "df", "du", "echo", "ls", "pwd", "stat", "test", "tree"];

/// Returns whether the commands of a line only show names.
pub(super) fn only_lists(line: &str) -> bool {
    let is_lister = |words: &Vec<String>| words.first().is_some_and(|first| LISTERS.contains(&first.as_str()));
    simple_commands(line).is_some_and(|commands| commands.iter().all(is_lister))
}

/// Returns the parts of a command line that can be paths.
pub(super) fn parts(line: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || "'\"`;|&()<>{}$=,@".contains(c);
    line.split(is_end).filter(|part| !part.is_empty())
}

/// Returns the line with `~` for the variable of the home directory.
pub(super) fn in_home(line: &str) -> String {
    line.replace("${HOME}", "~").replace("$HOME", "~")
}

/// Returns what a part of a command line may name: itself, and what follows the letter of an option.
pub(super) fn candidates(part: &str) -> impl Iterator<Item = &str> {
    let value = part.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let value = value.and_then(|rest| rest.get(1..)).filter(|rest| !rest.is_empty());
    [Some(part), value].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_start_something_are_guarded_however_they_are_written() {
        for path in [
            ".agcore/hooks/check.sh",
            ".AGCORE/x",
            ".agcore",
            "sub/.agcore/agents/a.md",
            "agcore.toml",
            "AgCore.TOML",
            ".mcp.json",
            "AGENTS.md",
            "sub/AGENTS.md",
            "claude.md",
            ".claude/settings.json",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            ".gitlab-ci.yaml",
            "lefthook.toml",
            ".config/git/hooks/pre-commit",
            ".opencode/agent/x.md",
            ".git/config",
            ".husky/pre-commit",
            ".vscode/tasks.json",
            ".cargo/config.toml",
            ".envrc",
            ".bashrc",
            ".config/fish/config.fish",
            ".config/agcore/agcore.toml",
            "agcore.toml.",
            "agcore.toml::$DATA",
            ".agc\u{200c}ore/x",
            ".agcore /x",
        ] {
            assert!(is_guarded(Path::new(path)), "{path}");
        }
        for path in [
            "src/main.rs",
            "Makefile",
            "build.rs",
            "package.json",
            "agcore.rs",
            "docs/agents.rst",
            "github/x",
            "",
        ] {
            assert!(!is_guarded(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn commands_that_only_read_change_nothing() {
        for line in [
            "cat agcore.toml",
            "git diff AGENTS.md | head -3",
            "ls .agcore",
            "rg -n x .github",
            "cd .agcore && pwd && find . -name '*.md' | sort | uniq",
        ] {
            assert!(changed_by(line).is_empty(), "{line}");
        }
        for line in [
            "echo x > agcore.toml",
            "cp x agcore.toml",
            "cat x>agcore.toml",
            "git log --output=agcore.toml",
            "sed -i s/a/b/ agcore.toml",
            "tee agcore.toml",
            "sh -c 'rm agcore.toml'",
            "git checkout -- agcore.toml",
            "sort x -o agcore.toml",
            "find . -name agcore.toml -delete",
            "uniq x agcore.toml",
            "echo x | tee agcore.toml",
        ] {
            assert!(changed_by(line).contains(&"agcore.toml"), "{line}");
        }
    }
}

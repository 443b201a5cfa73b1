//! The default instructions of chats: how to work on files, and where the program runs. A `system` in the settings replaces
//! them.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    time::SystemTime,
};

use agcore::chat::Timestamp;
use agcore_terminal::render::sanitized_line;

/// Advice on working with the tools of the program.
const ADVICE: &str = "\
# Work on files

- Read a file before you change it, and look for similar code with `search` and `list_files` before you write your own.
- Make the smallest change that fulfills the request, in the style of the file. Prefer `edit_file` to `write_file` for existing files.
- After a change, run the tests or the build of the project with `shell` if there are any, and report the result as it is.
- Use paths relative to the working directory. Commands do not wait for input.
- Do not commit, publish, install or delete anything that you were not asked to.";

/// Advice on the tools that only chats have.
const CHAT_ADVICE: &str = "
- For work with three or more steps, keep a list with `update_todos`: mark a step as in progress before you begin it, and as completed as soon as it is done.
- Start servers, watchers and commands that take minutes with `background`, and read their output with `shell_output`.";

/// The largest part of a file of git that is read, in bytes.
const MAX_GIT_FILE: u64 = 4096;

/// The longest name of a branch that is shown, in bytes.
const MAX_BRANCH: usize = 100;

/// The states of a repository in the middle of an operation, by the file in its git directory.
const OPERATIONS: [(&str, &str); 6] = [
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

/// The tools that the default instructions describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptTools {
    /// None are offered.
    None,
    /// Those for files and commands.
    Program,
    /// Those of a chat, which also has a list of todos and commands in the background.
    Chat,
}

/// Returns the default instructions of a chat in this folder: `base`, advice about the tools, and the environment.
pub fn chat_prompt(base: &str, folder: &Path, tools: PromptTools, now: SystemTime) -> String {
    let offers_tools = tools != PromptTools::None;
    let advice = match tools {
        PromptTools::None => String::new(),
        PromptTools::Program => format!("\n\n{ADVICE}"),
        PromptTools::Chat => format!("\n\n{ADVICE}{CHAT_ADVICE}"),
    };
    let mut lines = vec![
        format!("Working directory: {}", sanitized_line(&folder.display().to_string())),
        format!(
            "Operating system: {} ({})",
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
    ];
    if offers_tools {
        let shell = if cfg!(windows) { "cmd" } else { "/bin/sh" };
        lines.push(format!("Shell: {shell}"));
    }
    lines.push(format!(
        "Date: {} (UTC)",
        Timestamp::from(now).to_string().split('T').next().unwrap_or_default()
    ));
    lines.push(match git_directory(folder) {
        Some(git) => format!("Git: {}", git_state(&git)),
        None => "Git: not a repository".to_owned(),
    });
    let lines: String = lines.iter().map(|line| format!("\n- {line}")).collect();
    format!("{base}{advice}\n\n# Environment\n{lines}")
}

/// Returns the branch of the repository that contains a folder, or the beginning of the commit if there is none. `None` without a
/// repository, or if the name cannot be shown as it is. No program is started.
pub fn git_branch(folder: &Path) -> Option<String> {
    let head = small_file(&git_directory(folder)?.join("HEAD"))?;
    let head = head.lines().next()?;
    match head.strip_prefix("ref: refs/heads/").map(str::trim) {
        Some(branch) => is_plain(branch).then(|| branch.to_owned()),
        None => head
            .get(..7)
            .filter(|commit| commit.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .map(str::to_owned),
    }
}

/// Returns the git directory of the repository that contains a folder. No program is started: a repository can name
/// programs that git runs.
fn git_directory(folder: &Path) -> Option<PathBuf> {
    let git = folder
        .ancestors()
        .map(|path| path.join(".git"))
        .find(|path| path.exists())?;
    if git.is_dir() {
        return Some(git);
    }
    // A worktree or a submodule has a file that names the directory.
    let text = small_file(&git)?;
    let named = text.lines().next()?.strip_prefix("gitdir: ")?;
    Some(git.parent()?.join(named.trim()))
}

/// Describes the branch, and an operation that has not ended.
fn git_state(git: &Path) -> String {
    let head = small_file(&git.join("HEAD")).unwrap_or_default();
    let head = head.lines().next().unwrap_or_default();
    let branch = head.strip_prefix("ref: refs/heads/").map(str::trim);
    let place = match branch {
        Some(branch) if is_plain(branch) => format!("branch {branch}"),
        Some(_) => "a branch with an unusual name".to_owned(),
        None => match head.get(..12) {
            Some(commit) if commit.bytes().all(|byte| byte.is_ascii_hexdigit()) => format!("detached at {commit}"),
            _ => "the branch is unknown".to_owned(),
        },
    };
    match OPERATIONS.iter().find(|(file, _)| git.join(file).exists()) {
        Some((_, operation)) => format!("{place}, in the middle of a {operation}"),
        None => place,
    }
}

/// Returns whether a name can be shown to a model as it is: it comes from the repository, which may not be trusted.
fn is_plain(branch: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-+#@".contains(c);
    !branch.is_empty() && branch.len() <= MAX_BRANCH && branch.chars().all(is_plain)
}

/// Reads the beginning of a regular file.
fn small_file(path: &Path) -> Option<String> {
    // Opening a named pipe could wait forever.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_GIT_FILE).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(folder: &Path) -> String {
        let prompt = chat_prompt("Be kind.", folder, PromptTools::Program, SystemTime::UNIX_EPOCH);
        assert!(prompt.starts_with("Be kind.\n\n# Work on files\n"), "{prompt}");
        let (_, state) = prompt.rsplit_once("- Git: ").unwrap();
        state.to_owned()
    }

    #[test]
    fn names_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let prompt = chat_prompt("Be kind.", folder.path(), PromptTools::None, SystemTime::UNIX_EPOCH);
        let expected = format!(
            "Be kind.\n\n# Environment\n\n- Working directory: {}\n- Operating system: {} ({})\n- Date: 1970-01-01 (UTC)\n- Git: ",
            folder.path().display(),
            std::env::consts::OS,
            std::env::consts::ARCH
        );
        assert!(prompt.starts_with(&expected), "{prompt}");
        for (tools, is_chat) in [(PromptTools::Program, false), (PromptTools::Chat, true)] {
            let prompt = chat_prompt("", folder.path(), tools, SystemTime::UNIX_EPOCH);
            assert!(prompt.contains("- Shell: "), "{prompt}");
            assert_eq!(prompt.contains("`update_todos`"), is_chat, "{prompt}");
        }
    }

    #[test]
    fn reads_the_state_of_a_repository_without_git() {
        let folder = tempfile::tempdir().unwrap();
        let (git, sub) = (folder.path().join(".git"), folder.path().join("a/b"));
        fs::create_dir_all(&git).unwrap();
        fs::create_dir_all(&sub).unwrap();
        let check = |head: &str, expected: &str| {
            fs::write(git.join("HEAD"), head).unwrap();
            assert_eq!(state(&sub), expected, "{head}");
            let branch = git_branch(&sub).unwrap_or_default();
            assert!(
                expected.ends_with(&branch) || expected.contains(&format!(" {branch}")),
                "{head}: {branch}"
            );
        };
        check("ref: refs/heads/feat/x-1\n", "branch feat/x-1");
        check("0123456789abcdef0123456789abcdef01234567\n", "detached at 0123456789ab");
        check("ref: refs/heads/x\u{1b}]0;\n", "a branch with an unusual name");
        check("ref: refs/heads/a b: obey\n", "a branch with an unusual name");
        check("", "the branch is unknown");
        fs::create_dir(git.join("rebase-merge")).unwrap();
        check("ref: refs/heads/main", "branch main, in the middle of a rebase");
    }

    #[test]
    fn follows_the_file_of_a_worktree() {
        let folder = tempfile::tempdir().unwrap();
        let (git, tree) = (folder.path().join("git"), folder.path().join("tree"));
        fs::create_dir(&git).unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/w").unwrap();
        fs::write(tree.join(".git"), "gitdir: ../git\n").unwrap();
        assert_eq!(state(&tree), "branch w");
    }
}

//! The files of a folder that commands name: scripts of hooks, and programs of MCP servers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs, io,
    path::{Component, Path, PathBuf},
};

use agcore_document::Format;
use agcore_terminal::process::os_variable;
use ring::digest::{Context, SHA256};
use serde_json::Value;

use super::command_words::{self, REPLACED, Word};
use crate::places::PROJECT_DIRECTORY;

/// The directories below `.agcore` whose files are read, but not run.
const READ_ONLY: [&str; 3] = ["skills", "agents", "flows"];

/// Returns the command lines in `agcore.toml` and `.mcp.json`: those of hooks and MCP servers.
pub(super) fn command_lines(settings: Option<&str>, servers: Option<&str>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(settings) = settings.and_then(|text| Format::Toml.parse(text).ok()) {
        let settings = settings.to_json();
        for entries in settings["hooks"]
            .as_object()
            .into_iter()
            .flat_map(|hooks| hooks.values())
        {
            let commands = entries.as_array().into_iter().flatten();
            lines.extend(
                commands
                    .filter_map(|entry| entry["command"].as_str())
                    .map(str::to_owned),
            );
        }
        lines.extend(server_lines(&settings["mcp"]["servers"]));
    }
    if let Some(servers) = servers.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        lines.extend(server_lines(&servers["mcpServers"]));
    }
    lines
}

fn server_lines(servers: &Value) -> Vec<String> {
    let servers = servers.as_object().into_iter().flat_map(|servers| servers.values());
    servers.map(server_line).collect()
}

fn server_line(server: &Value) -> String {
    let arguments = server["args"].as_array().into_iter().flatten();
    let words = [&server["command"]].into_iter().chain(arguments);
    let variables = server["env"].as_object().into_iter().flatten();
    let variables: Vec<(String, String)> = variables
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let variables = variables.iter().map(|(name, value)| (name, value));
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    command_words::line(server["cwd"].as_str(), variables, &words)
}

/// Returns the existing files of a folder that a command line runs or names, relative to the folder, whose path must be canonical.
/// What the shell replaces is unknown: of a word such as `$DIR/check.sh`, the rest is looked up.
pub(super) fn named_files(folder: &Path, line: &str) -> BTreeSet<PathBuf> {
    let words = command_words::words(line);
    let mut places = Places {
        folder,
        directories: vec![folder.to_owned()],
        found: BTreeSet::new(),
    };
    // Words are also looked up in the directories that the line names: `cd scripts && ./check.sh`.
    for part in words.iter().flat_map(|word| parts(&word.text)) {
        let directory = folder.join(part);
        if directory.is_dir() {
            places.directories.push(directory);
        }
    }
    // A loop over files runs them only if it runs its variable.
    let runs_replaced = words.iter().any(|word| word.text.starts_with(REPLACED) && runs(word));
    for word in &words {
        for part in parts(&word.text) {
            places.look_up(&part);
        }
        if let Some(file) = build_file_of(word) {
            file.iter().for_each(|file| places.look_up(file));
        }
        let is_loop = word.program.as_deref() == Some("for");
        if runs(word) || (is_loop && runs_replaced) {
            places.look_into(&word.text);
            module_files(word).iter().for_each(|file| places.look_up(file));
        }
    }
    places.found
}

/// The characters at which a word is split: `--file=a.sh`, `a.sh,b.sh`, `PATH=./bin:/bin`.
const SEPARATORS: &[char] = &['=', ',', ':', '{', '}'];

/// Programs that run the files or directories they are given.
const INTERPRETERS: &[&str] = &[
    "bash", "bun", "dash", "deno", "fish", "java", "ksh", "lua", "node", "nodejs", "perl", "php", "pwsh", "pypy",
    "python", "ruby", "sh", "source", "tclsh", "uv", "zsh",
];

/// Programs that run commands from a file of the directory.
const BUILD_FILES: &[(&str, &[&str])] = &[
    ("make", &["Makefile", "makefile", "GNUmakefile"]),
    ("gmake", &["Makefile", "makefile", "GNUmakefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("rake", &["Rakefile"]),
    ("npm", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("yarn", &["package.json"]),
];

/// Returns the texts of a word that may be paths: the word, its parts, and the rest after a part that the shell replaces.
fn parts(word: &str) -> Vec<String> {
    let mut parts: Vec<&str> = vec![word];
    parts.extend(word.split(SEPARATORS));
    let after = |part: &str| {
        part.rsplit(REPLACED)
            .next()
            .unwrap_or_default()
            .trim_start_matches('/')
            .to_owned()
    };
    let is_known = |part: &&str| !part.contains(REPLACED);
    let home = |part: &str| match part.strip_prefix("~/") {
        Some(rest) => os_variable("HOME").map_or_else(
            || part.to_owned(),
            |home| Path::new(&home).join(rest).display().to_string(),
        ),
        None => part.to_owned(),
    };
    let mut texts: Vec<String> = parts.iter().copied().filter(is_known).map(home).collect();
    texts.extend(parts.iter().copied().filter(|part| !is_known(part)).map(after));
    texts.retain(|text| !text.is_empty());
    texts.sort();
    texts.dedup();
    texts
}

/// Returns whether a word is the program of a command, or is run by one.
fn runs(word: &Word) -> bool {
    let Some(program) = &word.program else { return true };
    let name = program.rsplit('/').next().unwrap_or_default();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    program == "." || INTERPRETERS.contains(&name)
}

/// Returns the files from which a program takes what it runs.
fn build_file_of(word: &Word) -> Option<&'static [&'static str]> {
    let name = word.text.rsplit('/').next()?;
    let found = BUILD_FILES.iter().find(|(program, _)| *program == name);
    found.filter(|_| word.program.is_none()).map(|(_, files)| *files)
}

/// Returns the files of a module such as `scripts.check`.
fn module_files(word: &Word) -> Vec<String> {
    let is_module = word.option.as_deref().is_some_and(|option| option.starts_with("-m"))
        && word.text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let path = word.text.replace('.', "/");
    match is_module {
        true => [".py", "/__main__.py", "/__init__.py"]
            .map(|end| path.clone() + end)
            .into(),
        false => Vec::new(),
    }
}

/// Where the words of a line are looked up.
struct Places<'f> {
    folder: &'f Path,
    directories: Vec<PathBuf>,
    found: BTreeSet<PathBuf>,
}

impl Places<'_> {
    /// Adds the files with this path.
    fn look_up(&mut self, text: &str) {
        let paths: Vec<PathBuf> = self.directories.iter().map(|directory| directory.join(text)).collect();
        paths.iter().for_each(|path| self.add(path));
    }

    fn add(&mut self, path: &Path) {
        let Ok(real) = fs::canonicalize(path) else { return };
        if real.is_file() {
            // A link decides as well what runs.
            let paths = [plain(path), real];
            let inside = paths.iter().filter_map(|path| path.strip_prefix(self.folder).ok());
            self.found.extend(inside.map(Path::to_owned));
        }
    }

    /// Adds the files of a directory that is run, or of one whose files are named by a pattern.
    fn look_into(&mut self, text: &str) {
        let is_unknown = |c: char| matches!(c, '*' | '?' | '[' | REPLACED);
        let text = text.trim_start_matches(REPLACED).trim_start_matches('/');
        let directory = match text.find(is_unknown) {
            Some(at) => text[..at].rfind('/').map(|end| &text[..end]),
            None => Some(text),
        };
        let Some(directory) = directory.filter(|directory| !matches!(*directory, "" | "." | "./")) else {
            return;
        };
        let directories: Vec<PathBuf> = self.directories.iter().map(|place| place.join(directory)).collect();
        for directory in directories {
            let is_inside =
                fs::canonicalize(&directory).is_ok_and(|real| real != self.folder && real.starts_with(self.folder));
            let entries = is_inside.then(|| fs::read_dir(&directory).ok()).flatten();
            for entry in entries.into_iter().flatten().flatten().take(MAX_FILES) {
                self.add(&entry.path());
            }
        }
    }
}

/// The most files of a directory that are compared.
const MAX_FILES: usize = 500;

/// Removes `.` and resolves `..` in the text of a path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Returns the hashes of the files that may run when one of these is run: the files themselves and, if one of them is below
/// `.agcore`, everything else there that is not only read.
pub(super) fn hashes(folder: &Path, files: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, Option<String>> {
    let mut all = files.clone();
    if files.iter().any(|file| file.starts_with(PROJECT_DIRECTORY)) {
        add_files(folder, Path::new(PROJECT_DIRECTORY), &mut all, 0);
    }
    let hash = |path: PathBuf| {
        let hash = hash_of(&folder.join(&path)).ok();
        (path, hash)
    };
    all.into_iter().map(hash).collect()
}

/// Adds the files below a directory. Linked directories are not followed.
fn add_files(folder: &Path, directory: &Path, files: &mut BTreeSet<PathBuf>, depth: usize) {
    for entry in fs::read_dir(folder.join(directory)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_read_only = depth == 0 && READ_ONLY.iter().any(|known| name.eq_ignore_ascii_case(known));
        match is_directory {
            true if is_read_only || depth > 8 => {}
            true => add_files(folder, &directory.join(name), files, depth + 1),
            false => {
                files.insert(directory.join(name));
            }
        }
    }
}

/// Returns the SHA-256 hash of a file of any size.
pub(super) fn hash_of(path: &Path) -> io::Result<String> {
    // Opening a pipe could wait forever.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut hash = Context::new(&SHA256);
    let mut file = fs::File::open(path)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(hexadecimal(hash.finish().as_ref())),
            count => hash.update(&buffer[..count]),
        }
    }
}

/// Returns bytes as text.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    let mut hash = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_hooks_and_servers_are_found() {
        let settings = "[[hooks.Stop]]\ncommand = 'sh a.sh'\n[mcp.servers.x]\ncommand = 'node'\nargs = ['b.js']\n";
        let servers = r#"{"mcpServers": {"y": {"command": "./c", "cwd": "tools"}}}"#;
        assert_eq!(
            command_lines(Some(settings), Some(servers)),
            ["sh a.sh", "node b.js", "cd tools; ./c"]
        );
        assert!(command_lines(Some("["), Some("{")).is_empty());
    }

    #[test]
    fn files_are_found_wherever_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("scripts")).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        for file in [
            "scripts/check.sh",
            "scripts/__main__.py",
            "a b",
            "a,b(1).sh",
            "run",
            "Makefile",
            "tool.py",
            "src/a.js",
        ] {
            fs::write(root.join(file), "x").unwrap();
        }
        let check = |line: &str, expected: &[&str]| {
            let found: Vec<String> = named_files(&root, line)
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            assert_eq!(found, expected, "{line}");
        };
        check("sh scripts/check.sh", &["scripts/check.sh"]);
        check("cd scripts && ./check.sh", &["scripts/check.sh"]);
        check("x=./run; \"$x\" --file=scripts/../run", &["run"]);
        check(&format!("{}/run", root.display()), &["run"]);
        let check_sh = &["scripts/check.sh"];
        for line in [
            "\"$PWD/scripts/check.sh\"",
            "${PWD}/scripts/check.sh",
            "$(git rev-parse --show-toplevel)/scripts/check.sh",
            "`pwd`/scripts/check.sh",
            "D=scripts; $D/check.sh",
            "scripts/che\\ck.sh",
            "sh -c 'cd scripts; ./check.sh'",
        ] {
            check(line, check_sh);
        }
        let both = &["scripts/__main__.py", "scripts/check.sh"];
        check("for f in scripts/*.sh; do . $f; done", both);
        check("python3.12 scripts", both);
        check("sh scripts/$NAME.sh", both);
        check("python3 -m scripts", both);
        check("python3 -m scripts.check tool.py", &["tool.py"]);
        check("make -s lint", &["Makefile"]);
        check("\"a b\"", &["a b"]);
        check("sh 'a,b(1).sh'", &["a,b(1).sh"]);
        check("python3 -m tool", &["tool.py"]);
        // Programs that read files do not run them.
        check("prettier --check src/*.js", &[]);
        check("eslint src", &[]);
        check("for f in src/*.js; do eslint $f; done", &[]);
        check("prettier --write \"$(jq -r .tool_input.file_path)\"", &[]);
        check("true", &[]);
        check("cat /etc/hosts", &[]);
    }
}

//! The files of a folder that commands name: scripts of hooks, and programs of MCP servers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs, io,
    path::{Component, Path, PathBuf},
};

use agcore_document::Format;
use ring::digest::{Context, SHA256};
use serde_json::Value;

use crate::places::PROJECT_DIRECTORY;

/// The characters at which a command line is split. What remains are words that may be paths.
const SEPARATORS: &str = " \t\r\n'\"`;|&()<>{}$=,";

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
    let words = [&server["cwd"], &server["command"]].into_iter().chain(arguments);
    words.filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

/// Returns the existing files of a folder that a command line names, relative to the folder, whose path must be canonical. Words are
/// also looked up in the directories that the line names: `cd scripts && ./check.sh`.
pub(super) fn named_files(folder: &Path, line: &str) -> BTreeSet<PathBuf> {
    let words: Vec<&str> = line
        .split(|c| SEPARATORS.contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let mut directories = vec![folder.to_owned()];
    directories.extend(words.iter().map(|word| folder.join(word)).filter(|path| path.is_dir()));
    let mut found = BTreeSet::new();
    for word in words {
        for directory in &directories {
            let path = directory.join(word);
            let Ok(real) = fs::canonicalize(&path) else { continue };
            if !real.is_file() {
                continue;
            }
            // A link decides as well what runs.
            for path in [plain(&path), real] {
                found.extend(path.strip_prefix(folder).ok().map(Path::to_owned));
            }
        }
    }
    found
}

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

/// Returns the hashes of the files that may run when one of these is run: the files themselves and, if one of them is below `.agcore`,
/// everything else there that is not only read.
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
            ["sh a.sh", "node b.js", "tools ./c"]
        );
        assert!(command_lines(Some("["), Some("{")).is_empty());
    }

    #[test]
    fn files_are_found_wherever_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("scripts")).unwrap();
        for file in ["scripts/check.sh", "a b", "run"] {
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
        check("true", &[]);
        check("cat /etc/hosts", &[]);
    }
}

//! [`Snapshot`]: the files of the current directory that can change what the program does, read once.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use ring::digest::{SHA256, digest};

use super::{
    bounded,
    scripts::{command_lines, hash_of, hexadecimal, named_files},
};
use crate::places::{PROJECT_DIRECTORY, SETTINGS_FILE};

/// The directories whose files are skills and agents: ours, and those in which other programs look for skills.
pub(crate) const PROJECT_DIRECTORIES: [&str; 3] = [PROJECT_DIRECTORY, ".agents/skills", ".claude/skills"];
/// The maximum number of files below each of [`PROJECT_DIRECTORIES`].
const MAX_FILES: usize = 256;
/// The maximum size of these files together, in bytes.
const MAX_TOTAL: usize = 4 * 1024 * 1024;
/// The maximum depth of these files.
const MAX_DEPTH: usize = 8;
/// The maximum number of directories between the root of the repository and the current directory.
const MAX_PARENTS: usize = 32;

/// The files of instructions, in order of preference within a directory.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The files of a folder that need trust. The same bytes are shown to the user, hashed and used.
#[derive(Debug)]
pub struct Snapshot {
    /// The canonical path of the folder, or `None` if it no longer exists.
    pub folder: Option<PathBuf>,
    /// The files that exist.
    pub files: Vec<FolderFile>,
}

/// A file of the folder.
#[derive(Debug, Clone)]
pub struct FolderFile {
    /// The path, relative to the folder.
    pub name: String,
    /// The purpose of the file.
    pub kind: FileKind,
    /// The content, or why it is not used.
    pub content: Result<Vec<u8>, String>,
}

/// The purpose of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// `agcore.toml`.
    Settings,
    /// `.env`.
    Variables,
    /// `.mcp.json`.
    McpServers,
    /// A file below one of the directories of the program and of similar ones, such as `.agcore` and `.claude`.
    Project,
    /// `AGENTS.md` or `CLAUDE.md`.
    Instructions,
    /// Another file that a hook or an MCP server runs. Its content is the hash of the file.
    Script,
}

impl Snapshot {
    /// Reads the files of a folder.
    pub fn read(folder: &Path) -> Self {
        let Ok(folder) = fs::canonicalize(folder) else {
            return Self {
                folder: None,
                files: Vec::new(),
            };
        };
        let named = [
            (SETTINGS_FILE, FileKind::Settings),
            (".env", FileKind::Variables),
            (".mcp.json", FileKind::McpServers),
        ];
        let named = named.into_iter().filter_map(|(name, kind)| {
            let content = bounded::read(&folder.join(name), &folder)?;
            Some(FolderFile::new(name, kind, content))
        });
        let mut files: Vec<FolderFile> = named.collect();
        files.extend(
            PROJECT_DIRECTORIES
                .iter()
                .flat_map(|directory| project_files(&folder, directory)),
        );
        files.extend(instructions(&folder));
        files.extend(scripts(&folder, &files));
        Self {
            folder: Some(folder),
            files,
        }
    }

    /// Returns the file of this kind, if it exists.
    pub fn file(&self, kind: FileKind) -> Option<&FolderFile> {
        self.files.iter().find(|file| file.kind == kind)
    }

    /// Returns the SHA-256 hash of each file. Files that cannot be used have none.
    pub(crate) fn hashes(&self) -> BTreeMap<String, Option<String>> {
        let hash = |file: &FolderFile| {
            let hash = file.content.as_ref().ok().map(|bytes| sha256(bytes));
            (file.name.clone(), hash)
        };
        self.files.iter().map(hash).collect()
    }
}

impl FolderFile {
    fn new(name: impl Into<String>, kind: FileKind, content: Result<Vec<u8>, String>) -> Self {
        Self {
            name: name.into(),
            kind,
            content,
        }
    }

    /// Returns the content as text.
    ///
    /// # Errors
    /// Why the file is not used.
    pub fn text(&self) -> Result<&str, String> {
        let bytes = self.content.as_ref().map_err(Clone::clone)?;
        std::str::from_utf8(bytes).map_err(|_| "it is not valid UTF-8".to_owned())
    }
}

fn sha256(bytes: &[u8]) -> String {
    hexadecimal(digest(&SHA256, bytes).as_ref())
}

/// Returns the files below a directory of the folder, sorted by name. Linked directories are not followed.
fn project_files(folder: &Path, root: &str) -> Vec<FolderFile> {
    // A part of the path to the directory may be a link as well.
    let place = folder.join(root);
    if fs::canonicalize(&place).is_ok_and(|found| found != place) {
        return Vec::new();
    }
    let (mut files, mut total) = (Vec::new(), 0);
    let mut pending = vec![(place, root.to_owned(), 0)];
    while let Some((directory, name, depth)) = pending.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let name = format!("{name}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push((entry.path(), name, depth + 1));
                if depth >= MAX_DEPTH {
                    return vec![too_many(root)];
                }
            } else if let Some(content) = bounded::read(&entry.path(), folder) {
                total += content.as_ref().map_or(0, Vec::len);
                files.push(FolderFile::new(name, FileKind::Project, content));
            }
            if files.len() > MAX_FILES || pending.len() > MAX_FILES || total > MAX_TOTAL {
                return vec![too_many(root)];
            }
        }
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

/// Returns the files that the hooks and MCP servers in the settings name, unless they are known already.
fn scripts(folder: &Path, known: &[FolderFile]) -> Vec<FolderFile> {
    let text = |kind: FileKind| known.iter().find(|file| file.kind == kind)?.text().ok();
    let lines = command_lines(text(FileKind::Settings), text(FileKind::McpServers));
    let named: BTreeSet<PathBuf> = lines.iter().flat_map(|line| named_files(folder, line)).collect();
    let script = |path: PathBuf| {
        let name = path.to_string_lossy().replace('\\', "/");
        let hash = hash_of(&folder.join(&path)).map(String::into_bytes);
        FolderFile::new(name, FileKind::Script, hash.map_err(|error| error.to_string()))
    };
    let is_new = |file: &FolderFile| known.iter().all(|known| known.name != file.name);
    named.into_iter().map(script).filter(is_new).collect()
}

fn too_many(root: &str) -> FolderFile {
    let reason = format!(
        "it has more than {MAX_FILES} files, more than {} MiB, or more than {MAX_DEPTH} levels",
        MAX_TOTAL / 1024 / 1024
    );
    FolderFile::new(root, FileKind::Project, Err(reason))
}

/// Returns the files of instructions from the root of the repository down to the folder. Without a repository, only the
/// folder itself is searched. A link is followed only within its own directory, so that a repository cannot add other files.
fn instructions(folder: &Path) -> Vec<FolderFile> {
    let parents: Vec<&Path> = folder.ancestors().take(MAX_PARENTS).collect();
    let root = parents
        .iter()
        .position(|directory| directory.join(".git").exists())
        .unwrap_or(0);
    let find = |(levels, directory): (usize, &&Path)| {
        let read = |name| Some((name, bounded::read_sibling(directory, name)?));
        let (name, content) = INSTRUCTIONS.into_iter().find_map(read)?;
        let name = "../".repeat(levels) + name;
        Some(FolderFile::new(name, FileKind::Instructions, content))
    };
    let directories = parents.iter().enumerate().take(root + 1);
    let mut files: Vec<FolderFile> = directories.filter_map(find).collect();
    files.reverse();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let snapshot = Snapshot::read(folder);
        snapshot.files.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn hashes_are_sha256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
    }

    #[test]
    fn finds_the_files_of_a_project() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        assert!(names(root).is_empty());
        let skills = [".agents/skills/b", ".claude/skills/c"];
        for folder in [".git", ".agcore/skills/a", "sub/deep"].iter().chain(&skills) {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [
            "agcore.toml",
            ".env",
            ".mcp.json",
            ".agcore/skills/a/SKILL.md",
            ".agents/skills/b/SKILL.md",
            ".claude/skills/c/SKILL.md",
            ".claude/settings.json",
            "AGENTS.md",
            "CLAUDE.md",
            "sub/CLAUDE.md",
            "sub/deep/AGENTS.md",
            "other",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        assert_eq!(
            names(root),
            [
                "agcore.toml",
                ".env",
                ".mcp.json",
                ".agcore/skills/a/SKILL.md",
                ".agents/skills/b/SKILL.md",
                ".claude/skills/c/SKILL.md",
                "AGENTS.md"
            ]
        );
        assert_eq!(
            names(&root.join("sub/deep")),
            ["../../AGENTS.md", "../CLAUDE.md", "AGENTS.md"]
        );
        fs::remove_dir(root.join(".git")).unwrap();
        assert_eq!(names(&root.join("sub/deep")), ["AGENTS.md"], "there is no repository");
        assert!(names(&root.join("missing")).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn directories_of_skills_that_are_links_are_not_followed() {
        use std::os::unix::fs::symlink;

        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("project");
        fs::create_dir_all(directory.path().join("elsewhere/skills/a")).unwrap();
        fs::write(directory.path().join("elsewhere/skills/a/SKILL.md"), "").unwrap();
        fs::create_dir(&root).unwrap();
        symlink("../elsewhere", root.join(".claude")).unwrap();
        assert!(names(&root).is_empty());
    }

    #[test]
    fn the_number_of_files_is_limited() {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path().join(".agcore");
        fs::create_dir(&project).unwrap();
        for number in 0..=MAX_FILES {
            fs::write(project.join(number.to_string()), "").unwrap();
        }
        let snapshot = Snapshot::read(directory.path());
        assert_eq!(snapshot.files.len(), 1);
        assert!(snapshot.files[0].content.is_err());
        assert_eq!(snapshot.hashes()[".agcore"], None);
    }

    #[cfg(unix)]
    #[test]
    fn linked_instructions_stay_in_their_directory() {
        use std::os::unix::fs::symlink;

        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        for file in [".git/config", ".env", "RULES.md"] {
            fs::write(root.join(file), "text").unwrap();
        }
        let check = |folder: &Path, target: &str, expected: Result<&str, &str>| {
            symlink(target, folder.join("AGENTS.md")).unwrap();
            let snapshot = Snapshot::read(folder);
            let found = snapshot.files.iter().find(|file| file.name == "AGENTS.md").unwrap();
            let text = found.text();
            assert_eq!(text, expected.map_err(str::to_owned), "{target}");
            fs::remove_file(folder.join("AGENTS.md")).unwrap();
        };
        let outside = Err("it is a link out of its folder");
        check(root, "RULES.md", Ok("text"));
        check(root, ".git/config", outside);
        check(&root.join("sub"), "../RULES.md", outside);
        check(root, ".env", Err("it is a link to .env, which may contain keys"));
    }
}

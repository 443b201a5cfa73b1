//! The text files of the workspace that belong to it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::process;

/// Larger files are data; nobody reads them for words.
const LARGEST: u64 = 4 << 20;

/// A text file, by its path relative to the root, with `/`.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every text file of the workspace, sorted by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// The files that git tracks or would track; without git, all files
    /// outside hidden folders and `target`.
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let paths = if root.join(".git").exists() {
            tracked(root)?
        } else {
            walk(root)?
        };
        let mut files = Vec::new();
        for path in paths {
            files.extend(read_text(root, path)?);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    pub(crate) fn get(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The manifests of the members, without the root's.
    pub(crate) fn package_manifests(&self) -> impl Iterator<Item = &SourceFile> {
        self.iter().filter(|file| is_member_manifest(&file.path))
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Sources {
    fn from(files: [(&str, &str); N]) -> Self {
        let owned = |(path, text): (&str, &str)| SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        Self {
            files: files.into_iter().map(owned).collect(),
        }
    }
}

impl SourceFile {
    pub(crate) fn is_rust(&self) -> bool {
        self.extension() == Some("rs")
    }

    pub(crate) fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension().and_then(OsStr::to_str)
    }

    /// Source of a crate's library or programs: `crates/<name>/src/…`.
    pub(crate) fn is_crate_source(&self) -> bool {
        let mut folders = self.path.split('/');
        folders.next() == Some("crates") && folders.nth(1) == Some("src") && self.is_rust()
    }
}

/// Members lie where the root manifest says; a fixture may hold manifests, too.
fn is_member_manifest(path: &str) -> bool {
    let folders: Vec<_> = path.split('/').collect();
    matches!(
        folders[..],
        ["crates" | "benches", _, "Cargo.toml"] | ["benches" | "examples" | "xtask", "Cargo.toml"]
    )
}

fn tracked(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let list = process::stdout(&mut git)?;
    let paths = list.split('\0').filter(|path| !path.is_empty());
    // A file that was deleted but not committed yet is still listed.
    let paths = paths.map(PathBuf::from).filter(|path| root.join(path).is_file());
    Ok(paths.collect())
}

fn walk(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = vec![PathBuf::new()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name();
            let path = folder.join(&name);
            let kind = entry.file_type()?;
            if kind.is_file() {
                files.push(path);
            } else if kind.is_dir() && name != "target" && !is_hidden(&name) {
                folders.push(path);
            }
        }
    }
    Ok(files)
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn read_text(root: &Path, path: PathBuf) -> anyhow::Result<Option<SourceFile>> {
    let place = root.join(&path);
    let what = || format!("cannot read {}", place.display());
    if fs::metadata(&place).with_context(what)?.len() > LARGEST {
        return Ok(None);
    }
    let bytes = fs::read(&place).with_context(what)?;
    let text = String::from_utf8(bytes).ok();
    let path = path.to_string_lossy().replace('\\', "/");
    Ok(text.map(|text| SourceFile { path, text }))
}

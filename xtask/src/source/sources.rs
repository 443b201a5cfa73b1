//! The text files of the workspace.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use proc_macro2::TokenStream;

use crate::process;
use crate::source::rust_source;

/// Larger files are data, which is not checked as text.
const MAX_BYTES: u64 = 4 << 20;

/// A text file.
#[derive(Default)]
pub(crate) struct SourceFile {
    /// The path relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    tokens: OnceCell<Option<TokenStream>>,
    syntax: OnceCell<Result<syn::File, syn::Error>>,
}

/// Every text file of the workspace, sorted by path.
#[derive(Default)]
pub(crate) struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Reads the files that git tracks or would track; without git, all files outside hidden folders and `target`.
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

    /// Returns the manifests of the members, without that of the root.
    pub(crate) fn package_manifests(&self) -> impl Iterator<Item = &SourceFile> {
        self.iter().filter(|file| is_member_manifest(&file.path))
    }

    /// Returns the name and the folder of each crate in `crates/`, by its folder.
    pub(crate) fn crates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.package_manifests().filter_map(|file| {
            let folder = file.path.strip_suffix("/Cargo.toml")?;
            Some((folder.strip_prefix("crates/")?, folder))
        })
    }
}

#[cfg(test)]
impl<'a> FromIterator<(&'a str, &'a str)> for Sources {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(files: I) -> Self {
        let files = files.into_iter();
        Self {
            files: files
                .map(|(path, text)| SourceFile::new(path.to_owned(), text.to_owned()))
                .collect(),
        }
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Sources {
    fn from(files: [(&str, &str); N]) -> Self {
        files.into_iter().collect()
    }
}

impl SourceFile {
    fn new(path: String, text: String) -> Self {
        Self {
            path,
            text,
            ..Self::default()
        }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.extension() == Some("rs")
    }

    pub(crate) fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension().and_then(OsStr::to_str)
    }

    /// Returns whether the file is source code of a library or program: `crates/<name>/src/…`.
    pub(crate) fn is_crate_source(&self) -> bool {
        let mut folders = self.path.split('/');
        folders.next() == Some("crates") && folders.nth(1) == Some("src") && self.is_rust()
    }

    /// Returns whether the whole file is test code, as opposed to a file with inline tests.
    pub(crate) fn is_test_code(&self) -> bool {
        self.is_rust() && (self.path.contains("/tests/") || self.path.ends_with("/tests.rs"))
    }

    /// Returns the tokens of a Rust file; `None` for any other file and for one that has no valid tokens, which the
    /// check `module-docs` reports.
    pub(crate) fn tokens(&self) -> Option<&TokenStream> {
        let parse = || self.is_rust().then(|| self.text.parse().ok()).flatten();
        self.tokens.get_or_init(parse).as_ref()
    }

    /// Returns the syntax tree of a Rust file.
    pub(crate) fn syntax(&self) -> Result<&syn::File, &syn::Error> {
        let parse = || match self.tokens() {
            Some(tokens) => syn::parse2(tokens.clone()),
            None => syn::parse_file(&self.text),
        };
        self.syntax.get_or_init(parse).as_ref()
    }

    /// Returns the number of each line that belongs to code that is compiled only in test builds.
    pub(crate) fn test_lines(&self) -> BTreeSet<usize> {
        if self.is_test_code() {
            return (1..=self.text.lines().count()).collect();
        }
        let ranges = self.syntax().map(rust_source::test_only_lines).unwrap_or_default();
        ranges.into_iter().flatten().collect()
    }
}

/// Members are where the root manifest lists them; there are further manifests in fixtures.
fn is_member_manifest(path: &str) -> bool {
    let folders: Vec<_> = path.split('/').collect();
    matches!(
        folders[..],
        ["crates", _, "Cargo.toml"] | ["benches" | "examples" | "xtask", "Cargo.toml"]
    )
}

fn tracked(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let list = process::stdout(&mut git)?;
    let paths = list.split('\0').filter(|path| !path.is_empty());
    // A file that was deleted but not yet committed is still listed.
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
    let context = || format!("cannot read {}", place.display());
    if fs::metadata(&place).with_context(context)?.len() > MAX_BYTES {
        return Ok(None);
    }
    let bytes = fs::read(&place).with_context(context)?;
    let text = String::from_utf8(bytes).ok();
    let path = path.to_string_lossy().replace('\\', "/");
    Ok(text.map(|text| SourceFile::new(path, text)))
}

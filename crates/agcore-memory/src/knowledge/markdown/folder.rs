//! A folder of Markdown files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use agcore_chat::Actor;

use super::{
    file_name::{distinct_file_name, file_name},
    from_markdown, to_markdown,
};
use crate::{
    error::{MemoryError, MemoryErrorKind},
    knowledge::page::{KnowledgePage, MAX_PAGE_BYTES},
};

/// The maximum size of a file: a page with its front matter.
const MAX_FILE_BYTES: u64 = 2 * MAX_PAGE_BYTES as u64;

/// The maximum depth of subfolders.
const MAX_DEPTH: usize = 64;

/// The result of [`read_folder`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Folder {
    /// The pages, in the order of the paths of their files.
    pub pages: Vec<KnowledgePage>,
    /// Files and folders that were not read.
    pub skipped: Vec<Skipped>,
}

/// A file or folder that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The path within the folder.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
    /// Whether it is a file that would be a page if it could be read.
    pub is_page: bool,
}

/// Writes pages to a folder, each to the file that [`file_name`] returns. Returns the number of files.
///
/// The folder is created if it does not exist. Files of the same names are replaced, each as a whole; others are left alone.
/// Symbolic links are replaced, not followed. Blocks the thread.
///
/// # Errors
/// [`Storage`](MemoryErrorKind::Storage) with the path if a file cannot be written. Files before it were written.
pub fn write_folder(folder: &Path, pages: &[KnowledgePage]) -> Result<usize, MemoryError> {
    fs::create_dir_all(folder).map_err(|error| failed("create the folder", folder, error))?;
    // Some file systems do not distinguish upper and lower case.
    let mut taken = BTreeSet::new();
    for page in pages {
        let mut name = file_name(&page.id);
        if !taken.insert(name.to_lowercase()) {
            name = distinct_file_name(&page.id);
            taken.insert(name.to_lowercase());
        }
        let path = folder.join(&name);
        create_parents(folder, &name)?;
        write_file(&path, &to_markdown(page)).map_err(|error| failed("write", &path, error))?;
    }
    Ok(taken.len())
}

/// Creates the folders of a file within a folder.
fn create_parents(folder: &Path, name: &str) -> Result<(), MemoryError> {
    let mut parent = folder.to_owned();
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    for part in parts {
        parent.push(part);
        match fs::symlink_metadata(&parent) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let taken = io::Error::other("there is something else with this name; remove it");
                return Err(failed("create the folder", &parent, taken));
            }
            Err(_) => fs::create_dir(&parent).map_err(|error| failed("create the folder", &parent, error))?,
        }
    }
    Ok(())
}

/// Writes a file under another name, so that it appears as a whole.
fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    // Left over by a process that died, or a link that must not be followed.
    if fs::symlink_metadata(&temporary).is_ok() {
        fs::remove_file(&temporary)?;
    }
    let written = fs::File::create_new(&temporary)
        .and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The error of the write is the one that matters.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Reads all files of a folder and its subfolders whose names end with `.md` or `.markdown`. Without an `id` in its front matter,
/// a page has the path of its file without the extension as its id, such as `garden/tomatoes`.
///
/// Files and folders whose names begin with a dot are ignored. Symbolic links are not followed, and are listed as skipped. So are
/// files that cannot be read as pages: front matter with an error, an id that a file before has, bytes that are not UTF-8, too much
/// text. Blocks the thread.
///
/// # Errors
/// [`Storage`](MemoryErrorKind::Storage) if the folder cannot be read.
pub fn read_folder(folder: &Path, owner: &Actor) -> Result<Folder, MemoryError> {
    let mut found = Found::default();
    found.walk(folder, Path::new(""), 0)?;
    let mut read = Folder {
        pages: Vec::with_capacity(found.files.len()),
        skipped: found.skipped,
    };
    let mut files_of_ids: BTreeMap<String, PathBuf> = BTreeMap::new();
    for name in found.files {
        let reason = match read_page(&folder.join(&name), &name, owner) {
            Ok(page) => match files_of_ids.get(&page.id) {
                None => {
                    files_of_ids.insert(page.id.clone(), name);
                    read.pages.push(page);
                    continue;
                }
                Some(other) => format!(
                    "its page has the id `{}`, as that of {}; change the `id` of one of them",
                    page.id,
                    other.display()
                ),
            },
            Err(error) => {
                let causes = std::iter::successors(std::error::Error::source(&error), |&cause| cause.source());
                causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
            }
        };
        read.skipped.push(Skipped {
            path: name,
            reason,
            is_page: true,
        });
    }
    Ok(read)
}

/// Reads a file as a page. Without an `id` in its front matter, the page has the name of the file without its extension as its id.
/// Blocks the thread.
///
/// # Errors
/// - [`InvalidInput`](MemoryErrorKind::InvalidInput) if the front matter cannot be read, or the page is not acceptable.
/// - [`Storage`](MemoryErrorKind::Storage) if the file cannot be read.
pub fn read_file(path: &Path, owner: &Actor) -> Result<KnowledgePage, MemoryError> {
    let name = PathBuf::from(path.file_name().unwrap_or_default());
    read_page(path, &name, owner).map_err(|error| match error.kind() {
        MemoryErrorKind::InvalidInput => MemoryError::invalid(format!("{}: {error}", path.display())),
        _ => error,
    })
}

fn read_page(path: &Path, name: &Path, owner: &Actor) -> Result<KnowledgePage, MemoryError> {
    let size = fs::metadata(path).map_err(|error| failed("read", path, error))?.len();
    if size > MAX_FILE_BYTES {
        return Err(MemoryError::invalid(format!(
            "the file has {size} bytes; at most {MAX_FILE_BYTES} are allowed: split it into several pages"
        )));
    }
    let bytes = fs::read(path).map_err(|error| failed("read", path, error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        MemoryError::invalid(format!("the text is not UTF-8 in line {line}; save the file as UTF-8"))
    })?;
    let stem = name.with_extension("");
    let parts: Option<Vec<&str>> = stem.iter().map(|part| part.to_str()).collect();
    let id = parts.ok_or_else(|| MemoryError::invalid("the name of the file is not UTF-8; rename it"))?;
    from_markdown(&id.join("/"), &text, owner)
}

#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    skipped: Vec<Skipped>,
}

impl Found {
    fn skip(&mut self, path: PathBuf, reason: &str) {
        self.skipped.push(Skipped {
            path,
            reason: reason.to_owned(),
            is_page: false,
        });
    }

    /// Finds the files of a folder, in the order of their names.
    fn walk(&mut self, folder: &Path, within: &Path, depth: usize) -> Result<(), MemoryError> {
        let path: PathBuf = folder.iter().chain(within).collect();
        let entries = fs::read_dir(&path)
            .and_then(Iterator::collect::<io::Result<Vec<_>>>)
            .map_err(|error| failed("read the folder", &path, error))?;
        let mut names: Vec<_> = entries.into_iter().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let name = within.join(name);
            let path = folder.join(&name);
            let kind = fs::symlink_metadata(&path).map_err(|error| failed("read", &path, error))?;
            let extension = name.extension().and_then(|extension| extension.to_str());
            let is_page = extension.is_some_and(|extension| matches!(extension, "md" | "markdown"));
            if kind.is_symlink() {
                self.skip(name, "it is a symbolic link");
            } else if kind.is_dir() && depth == MAX_DEPTH {
                self.skip(name, "it is too deep");
            } else if kind.is_dir() {
                self.walk(folder, &name, depth + 1)?;
            } else if is_page && kind.is_file() {
                self.files.push(name);
            }
        }
        Ok(())
    }
}

fn failed(attempt: &str, path: &Path, error: io::Error) -> MemoryError {
    MemoryError::with_source(
        MemoryErrorKind::Storage,
        format!("cannot {attempt} {}", path.display()),
        error,
    )
}

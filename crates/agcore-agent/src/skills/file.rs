//! [`SkillFiles`]: the files of a skill, on disk or in memory.

use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

/// The largest file, in bytes.
const MAX_FILE: u64 = 256 * 1024;

/// The largest number of files that are listed.
const MAX_FILES: usize = 200;

/// The deepest folder whose files are listed.
const MAX_DEPTH: usize = 4;

/// The files of a skill. Only regular text files of limited size are read, and only inside of its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SkillFiles {
    /// A folder, whose path has no links.
    Folder(PathBuf),
    /// Files that were read before, by their paths relative to the folder.
    Memory(Arc<BTreeMap<String, Vec<u8>>>),
}

impl SkillFiles {
    /// Reads a file.
    ///
    /// # Errors
    /// Why the file is not read.
    pub(super) fn read_text(&self, name: &str) -> Result<String, String> {
        let is_plain = |component: Component<'_>| matches!(component, Component::Normal(_) | Component::CurDir);
        let relative = Path::new(name);
        if !relative.components().all(is_plain) {
            return Err("the path must be relative to the folder of the skill, without `..`".to_owned());
        }
        let bytes = match self {
            Self::Folder(folder) => read(folder, relative)?,
            Self::Memory(files) => {
                let parts = relative
                    .components()
                    .filter(|part| matches!(part, Component::Normal(_)));
                let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
                files.get(&parts.join("/")).ok_or(NO_FILE)?.clone()
            }
        };
        if bytes.len() as u64 > MAX_FILE {
            return Err(format!("it is larger than {} KiB", MAX_FILE / 1024));
        }
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
    }

    /// Returns the paths of the files, relative to the folder and sorted, without `except`. Links are left out.
    pub(super) fn list(&self, except: &str) -> Vec<String> {
        match self {
            Self::Folder(folder) => list(folder, except),
            Self::Memory(files) => {
                let names = files.keys().filter(|name| *name != except);
                names.take(MAX_FILES).cloned().collect()
            }
        }
    }
}

const NO_FILE: &str = "there is no such file";

fn read(folder: &Path, relative: &Path) -> Result<Vec<u8>, String> {
    let path = fs::canonicalize(folder.join(relative)).map_err(|_| NO_FILE.to_owned())?;
    if !path.starts_with(folder) {
        return Err("it is a link that leads out of the folder of the skill".to_owned());
    }
    // Opening a pipe would wait for its other end.
    if !path.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn list(folder: &Path, except: &str) -> Vec<String> {
    let (mut files, mut pending) = (Vec::new(), vec![(PathBuf::new(), 0)]);
    while let Some((relative, depth)) = pending.pop() {
        let mut entries: Vec<_> = fs::read_dir(folder.join(&relative))
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = relative.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => pending.push((path, depth + 1)),
                Ok(kind) if kind.is_file() && path != Path::new(except) => files.push(path.display().to_string()),
                _ => {}
            }
            if files.len() >= MAX_FILES {
                return files;
            }
        }
    }
    files.sort();
    files
}

//! Reads files that somebody else may have prepared: never a special file, never without a limit, never through a link
//! that leaves the folder.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

/// The maximum size of a file, in bytes.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;

/// Reads a file within a root directory, whose path must be canonical. Returns `None` if there is no such file.
///
/// # Errors
/// Why the file is not read, as in `it is larger than 1 MiB`.
pub(super) fn read(path: &Path, root: &Path) -> Option<Result<Vec<u8>, String>> {
    let real = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if is_missing(&error) => return None,
        Err(error) => return Some(Err(error.to_string())),
    };
    if !real.starts_with(root) {
        return Some(Err("it is a link to a file outside of the folder".to_owned()));
    }
    match fs::metadata(&real) {
        Ok(metadata) if metadata.is_dir() => None,
        // Opening a named pipe could wait forever.
        Ok(metadata) if !metadata.is_file() => Some(Err("it is not a regular file".to_owned())),
        Ok(_) => Some(read_up_to_limit(&real)),
        Err(error) if is_missing(&error) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// Reads a file of a directory, whose path must be canonical. A link may lead to another file of this directory only, and
/// not to one that usually contains keys. Returns `None` if there is no such file.
///
/// # Errors
/// Why the file is not read, as in `it is a link out of its folder`.
pub(super) fn read_sibling(directory: &Path, name: &str) -> Option<Result<Vec<u8>, String>> {
    let path = directory.join(name);
    if let Ok(real) = fs::canonicalize(&path) {
        if real.parent() != Some(directory) {
            return Some(Err("it is a link out of its folder".to_owned()));
        }
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(".env") {
            return Some(Err(format!("it is a link to {name}, which may contain keys")));
        }
    }
    read(&path, directory)
}

fn read_up_to_limit(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it is larger than {} MiB", MAX_BYTES / 1024 / 1024));
    }
    Ok(bytes)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_regular_files_of_limited_size() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let file = root.join("a");
        assert_eq!(read(&file, &root), None);
        fs::write(&file, "text").unwrap();
        assert_eq!(read(&file, &root), Some(Ok(b"text".to_vec())));
        assert_eq!(read(&file.join("below"), &root), None);
        assert_eq!(read(&root, &root), None, "a directory is not a file");
        fs::write(&file, vec![b'x'; usize::try_from(MAX_BYTES).unwrap() + 1]).unwrap();
        assert_eq!(read(&file, &root).unwrap().unwrap_err(), "it is larger than 1 MiB");
    }

    #[cfg(unix)]
    #[test]
    fn follows_links_within_the_root_only() {
        use std::os::unix::fs::symlink;

        let (outside, inside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = inside.path().canonicalize().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        fs::write(root.join("AGENTS.md"), "rules").unwrap();
        symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
        symlink(outside.path().join("secret"), root.join(".env")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        assert_eq!(read(&root.join("CLAUDE.md"), &root), Some(Ok(b"rules".to_vec())));
        assert_eq!(
            read(&root.join(".env"), &root).unwrap().unwrap_err(),
            "it is a link to a file outside of the folder"
        );
        assert_eq!(read(&root.join("dangling"), &root), None);
        assert_eq!(
            read(Path::new("/dev/null"), Path::new("/")).unwrap().unwrap_err(),
            "it is not a regular file"
        );
    }
}

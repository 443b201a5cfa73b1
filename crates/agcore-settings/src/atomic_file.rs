//! Files that are written completely or not at all, readable by their owner only.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use tempfile::NamedTempFile;

/// Writes a file, atomically replacing one that exists. A symbolic link is followed, not replaced.
///
/// # Errors
/// When the file cannot be written; an existing file is then unchanged.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    write_temporary(&target, text)?.persist(&target)?;
    Ok(())
}

/// Writes a file that must not exist yet.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the file exists; when it cannot be written.
pub fn create(path: &Path, text: &str) -> io::Result<()> {
    write_temporary(path, text)?.persist_noclobber(path)?;
    Ok(())
}

/// Writes a temporary file in the same directory, so that it can be renamed to the target.
fn write_temporary(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn create_keeps_an_existing_file_and_replace_overwrites_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        create(&path, "one").unwrap();
        assert_eq!(create(&path, "two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        replace(&path, "three").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        assert_eq!(
            fs::read_dir(directory.path()).unwrap().count(),
            1,
            "temporary files were left behind"
        );
    }
}

//! Files that are written whole or not at all. Only their owner can read them.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use tempfile::NamedTempFile;

/// Writes a file; one that is there gives way at once. A link stays one.
///
/// # Errors
/// When it cannot be written; what was there is there still.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    written_beside(&target, text)?.persist(&target)?;
    Ok(())
}

/// Writes a file where there is none.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] where there is one; when it cannot be written.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<()> {
    written_beside(path, text)?.persist_noclobber(path)?;
    Ok(())
}

fn written_beside(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_way_only_to_who_means_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        create(&path, "one").unwrap();
        assert_eq!(create(&path, "two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        replace(&path, "three").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing else is left behind"
        );
    }
}

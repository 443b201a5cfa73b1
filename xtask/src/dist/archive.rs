//! The archive: the same content makes the same bytes.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// Writes the files of a folder to an archive, below `name`, sorted, without times and owners.
pub(super) fn write(folder: &Path, name: &str, archive: &Path) -> anyhow::Result<()> {
    let file = File::create(archive).with_context(|| format!("cannot create {}", archive.display()))?;
    let gzip = GzBuilder::new().mtime(0).write(file, Compression::best());
    let mut builder = Builder::new(gzip);
    for path in files(folder)? {
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let relative = Path::new(name).join(path.strip_prefix(folder)?);
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(bytes.len() as u64);
        header.set_mode(if is_executable(&path)? { 0o755 } else { 0o644 });
        header.set_mtime(0);
        builder.append_data(&mut header, relative, bytes.as_slice())?;
    }
    builder.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// Returns all files below a folder, sorted.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(files(&path)?),
            false => found.push(path),
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> anyhow::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;

    Ok(fs::metadata(path)?.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> anyhow::Result<bool> {
    Ok(path
        .extension()
        .is_some_and(|extension| extension == std::env::consts::EXE_EXTENSION))
}

#[cfg(test)]
mod tests {
    use flate2::read::GzDecoder;
    use tar::Archive;

    use super::*;

    #[test]
    fn the_same_content_makes_the_same_archive() {
        let folder = tempfile::tempdir().unwrap();
        let content = folder.path().join("content");
        fs::create_dir_all(content.join("man")).unwrap();
        fs::write(content.join("man").join("a.1"), "page").unwrap();
        fs::write(content.join("README.md"), "text").unwrap();
        let archives = ["one", "two"].map(|name| folder.path().join(name));
        for archive in &archives {
            write(&content, "agcore-1", archive).unwrap();
        }
        assert_eq!(fs::read(&archives[0]).unwrap(), fs::read(&archives[1]).unwrap());
        let mut archive = Archive::new(GzDecoder::new(File::open(&archives[0]).unwrap()));
        let names: Vec<String> = archive
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap().path().unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["agcore-1/README.md", "agcore-1/man/a.1"]);
        assert!(write(&folder.path().join("none"), "x", &archives[0]).is_err());
    }
}

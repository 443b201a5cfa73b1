//! The mounts that a command sees: everything read-only, except what it may change.

use std::{
    ffi::CString,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::child::Mount;
use crate::{policy::Policy, temporary::Temporary};

/// The folders that are replaced by the private temporary folder.
const SHARED: &[&str] = &["/dev/shm", "/var/tmp", LAST];

/// The last of them, which may contain the private folder itself.
const LAST: &str = "/tmp";

/// Returns the changes of the mounts, in their order, and where the command sees its temporary folder.
///
/// # Errors
/// When a path contains a zero byte.
pub(super) fn mounts(policy: &Policy, temporary: &Temporary) -> io::Result<(Vec<Mount>, PathBuf)> {
    let existing = |path: &Path| path.canonicalize().ok();
    let write: Vec<PathBuf> = policy.write().filter_map(existing).collect();
    let read: Vec<PathBuf> = policy.read().filter_map(existing).collect();
    let own = temporary.path().to_owned();
    // A folder of the policy below one of them must stay visible, and so must the private folder, until the last one is replaced.
    let is_replaced = |shared: &Path| {
        let is_used = write.iter().chain(&read).any(|path| path.starts_with(shared));
        let hides_own = own.starts_with(shared) && shared != Path::new(LAST);
        shared.is_dir() && !shared.is_symlink() && !is_used && !hides_own
    };
    let mut binds: Vec<(PathBuf, PathBuf)> = write.iter().map(|path| (path.clone(), path.clone())).collect();
    // A folder with a mount on it cannot be renamed, so that what is protected in it stays in its place.
    let protected: Vec<PathBuf> = policy
        .protected()
        .filter(|path| !path.is_symlink())
        .filter_map(existing)
        .collect();
    for path in &protected {
        let parents = path.ancestors().skip(1);
        let inner = parents.take_while(|parent| write.iter().any(|root| parent.starts_with(root) && *parent != root));
        binds.extend(inner.map(|parent| (parent.to_owned(), parent.to_owned())));
    }
    binds.sort();
    binds.dedup();
    let mut seen = None;
    let shared = SHARED.iter().map(Path::new).filter(|path| is_replaced(path));
    for path in shared {
        binds.push((temporary.part(path), path.to_owned()));
        if path == Path::new(LAST) {
            seen = Some(path.to_owned());
        }
    }
    let seen = seen.unwrap_or_else(|| temporary.part(Path::new(LAST)));
    if seen != Path::new(LAST) {
        binds.push((own.clone(), own));
    }
    let mut mounts = Vec::new();
    for (from, to) in &binds {
        let (from, to) = (c_path(from)?, c_path(to)?);
        mounts.push(Mount::Bind { from, to });
    }
    mounts.push(Mount::AllReadOnly);
    for (_, to) in &binds {
        mounts.push(Mount::Writable(c_path(to)?));
    }
    for path in &protected {
        let (from, to, path) = (c_path(path)?, c_path(path)?, c_path(path)?);
        mounts.extend([Mount::Bind { from, to }, Mount::ReadOnly(path)]);
    }
    Ok((mounts, seen))
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Mode;

    fn text(path: &Path) -> CString {
        c_path(path).unwrap()
    }

    #[test]
    fn folders_around_a_protected_file_are_mounts_too() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join(".git/hooks")).unwrap();
        let policy = Policy::new(Mode::Workspace)
            .with_write(&root)
            .with_protected(root.join(".git/hooks"))
            .with_protected(root.join("missing"));
        let temporary = Temporary::new().unwrap();
        let (mounts, _) = mounts(&policy, &temporary).unwrap();
        let at = |wanted: &Mount| mounts.iter().position(|mount| mount == wanted).unwrap();
        let bind = |path: &Path| Mount::Bind {
            from: text(path),
            to: text(path),
        };
        let hooks = root.join(".git/hooks");
        assert!(at(&bind(&root)) < at(&bind(&root.join(".git"))));
        assert!(at(&bind(&root.join(".git"))) < at(&Mount::AllReadOnly));
        assert!(at(&Mount::Writable(text(&root.join(".git")))) < at(&bind(&hooks)));
        assert_eq!(mounts.last(), Some(&Mount::ReadOnly(text(&hooks))));
    }
}

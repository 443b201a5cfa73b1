//! The rules for the files of a child. Landlock has no rule that denies, so each rule allows access.

use std::{
    fs::{self, FileType},
    path::{Path, PathBuf},
};

use crate::policy::{Mode, Policy};

/// The access that a rule allows to a file, or for a folder and everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    /// The names in folders.
    Names,
    /// Reading and running files.
    Read,
    /// Reading, running, changing and creating files.
    Write,
    /// Reading and writing a device.
    Device,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grant {
    pub(super) path: PathBuf,
    pub(super) access: Access,
}

/// The devices that commands may use. The terminal is not one of them: what a command shows there would not be checked.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The folders that are readable in the mode `strict`.
const SYSTEM: &[&str] = &[
    "/bin",
    "/etc",
    "/gnu",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/proc",
    "/run/current-system",
    "/run/systemd/resolve",
    "/sbin",
    "/sys",
    "/usr",
];

/// The files and folders that no mode makes readable, also not for root.
const SECRETS: &[&str] = &[
    "/dev",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssl/private",
];

/// Returns the rules of a policy, for the files that exist now.
pub(super) fn grants(policy: &Policy, temporary: impl Iterator<Item = PathBuf>) -> Vec<Grant> {
    let mut hidden: Vec<PathBuf> = SECRETS.iter().map(PathBuf::from).collect();
    for path in policy.hidden() {
        hidden.extend([Some(path.to_owned()), path.canonicalize().ok()].into_iter().flatten());
    }
    let mut walk = Walk {
        hidden,
        grants: DEVICES
            .iter()
            .map(|path| grant(Path::new(path), Access::Device))
            .collect(),
    };
    match policy.mode() {
        Mode::Strict => SYSTEM
            .iter()
            .for_each(|path| walk.add_root(Path::new(path), Access::Read)),
        _ => walk.add_root(Path::new("/"), Access::Read),
    }
    policy.read().for_each(|path| walk.add_root(path, Access::Read));
    policy.write().for_each(|path| walk.add_root(path, Access::Write));
    // Each part, because a mounted folder is not below the one that contains it.
    temporary.for_each(|path| walk.add_root(&path, Access::Write));
    walk.grants
}

fn grant(path: &Path, access: Access) -> Grant {
    Grant {
        path: path.to_owned(),
        access,
    }
}

struct Walk {
    hidden: Vec<PathBuf>,
    grants: Vec<Grant>,
}

impl Walk {
    /// Adds a folder that the policy names, even if it is hidden itself.
    fn add_root(&mut self, path: &Path, access: Access) {
        // A rule for a link would be one for its target.
        if let Ok(path) = path.canonicalize() {
            self.add(&path, access);
        }
    }

    /// Adds a rule, or, for a folder that contains hidden files, rules for everything in it but these.
    fn add(&mut self, path: &Path, access: Access) {
        let contains_hidden = self
            .hidden
            .iter()
            .any(|hidden| hidden != path && hidden.starts_with(path));
        if !contains_hidden {
            self.grants.push(grant(path, access));
            return;
        }
        self.grants.push(grant(path, Access::Names));
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path();
            let is_link = entry.file_type().as_ref().is_ok_and(FileType::is_symlink);
            if !is_link && !self.hidden.contains(&path) {
                self.add(&path, access);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_files_are_left_out_of_the_rules_around_them() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for path in [".ssh", ".config/gh", ".config/git", "project"] {
            fs::create_dir_all(home.join(path)).unwrap();
        }
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).unwrap();
        let mut walk = Walk {
            hidden: vec![home.join(".ssh"), home.join(".config/gh")],
            grants: Vec::new(),
        };
        walk.add(&home, Access::Read);
        walk.grants.sort();
        let expected = [
            (home.clone(), Access::Names),
            (home.join(".config"), Access::Names),
            (home.join(".config/git"), Access::Read),
            (home.join("project"), Access::Read),
        ];
        assert_eq!(walk.grants, expected.map(|(path, access)| grant(&path, access)));
    }

    #[test]
    fn a_folder_that_the_policy_names_is_added_although_it_is_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let policy = Policy::new(Mode::Strict).with_hidden(&path).with_read(&path);
        let found = grants(&policy, std::iter::empty());
        assert!(found.contains(&grant(&path, Access::Read)), "{found:?}");
        assert!(!found.iter().any(|grant| grant.path == Path::new("/")), "{found:?}");
    }
}

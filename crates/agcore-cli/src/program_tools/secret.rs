//! Files that usually contain secrets. Tools do not read them unless the settings name them.

use std::path::Path;

/// The beginnings of names.
const STARTS: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// Whole names.
const NAMES: [&str; 9] = [
    ".env",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "credentials",
];

/// Endings.
const ENDS: [&str; 6] = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"];

/// Directories.
const DIRECTORIES: [&str; 3] = [".ssh", ".aws", ".gnupg"];

/// The endings of files that only show what a `.env` would contain.
const SAMPLES: [&str; 4] = [".example", ".sample", ".template", ".dist"];

/// Returns whether a file usually contains secrets, by its path.
pub(super) fn is_secret(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .map(|component| component.as_os_str().to_string_lossy().to_lowercase())
        .collect();
    let Some((name, directories)) = names.split_last() else {
        return false;
    };
    let is_sample = SAMPLES.iter().any(|end| name.ends_with(end));
    directories.iter().any(|name| DIRECTORIES.contains(&name.as_str()))
        || NAMES.contains(&name.as_str())
        || name.starts_with(".env.") && !is_sample
        || ENDS.iter().any(|end| name.ends_with(end))
        || STARTS.iter().any(|start| name.starts_with(start)) && !name.ends_with(".pub")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_secrets_by_their_names() {
        for secret in [
            ".env",
            "a/.ENV",
            ".env.local",
            "server.pem",
            "id_rsa",
            "x/.ssh/config",
            ".aws/credentials",
        ] {
            assert!(is_secret(Path::new(secret)), "{secret}");
        }
        for other in [
            ".env.example",
            "environment",
            "key.rs",
            "id_rsa.pub",
            "src/env.rs",
            ".github/x.yml",
            "",
        ] {
            assert!(!is_secret(Path::new(other)), "{other}");
        }
    }
}

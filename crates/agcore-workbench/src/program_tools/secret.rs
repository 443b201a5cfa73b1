//! Files that usually contain secrets. Tools do not read them unless the settings name them.

use std::path::{Path, PathBuf};

use agcore_terminal::process::expand_home;

/// The beginnings of names.
const STARTS: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_xmss",
    "terraform.tfstate",
];

/// Whole names.
const NAMES: &[&str] = &[
    ".bash_history",
    ".boto",
    ".dev.vars",
    ".claude.json",
    ".credentials.json",
    ".dockercfg",
    ".env",
    ".envrc",
    ".git-credentials",
    ".histfile",
    ".htpasswd",
    ".my.cnf",
    ".mylogin.cnf",
    ".mysql_history",
    ".netrc",
    "_netrc",
    ".node_repl_history",
    ".npmrc",
    ".pgpass",
    ".psql_history",
    ".pypirc",
    ".python_history",
    ".rediscli_history",
    ".s3cfg",
    ".sh_history",
    ".sqlite_history",
    ".terraformrc",
    ".vault-token",
    ".zhistory",
    ".zsh_history",
    "api_keys.json",
    "apikeys.json",
    "auth.json",
    "consolehost_history.txt",
    "credentials",
    "credentials.tfrc.json",
    "fish_history",
    "kubeconfig",
    "login.keychain-db",
    "oauth_creds.json",
    "rclone.conf",
    "serviceaccountkey.json",
    "token.json",
    "wallet.dat",
    ".yarnrc.local.yml",
];

/// Endings.
const ENDS: &[&str] = &[
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".keychain",
    ".keychain-db",
    ".keytab",
    ".ovpn",
    ".ppk",
    ".tfstate",
    ".env",
];

/// Directories.
const DIRECTORIES: &[&str] = &[
    ".1password",
    ".aws",
    ".azure",
    ".bitcoin",
    ".electrum",
    ".ethereum",
    ".gnupg",
    ".kube",
    ".mozilla",
    ".oci",
    ".password-store",
    ".pulumi",
    ".ssh",
    ".terraform.d",
    ".thunderbird",
    ".vault",
    "gnupg",
    "keychains",
    "keyrings",
];

/// Directories and files below certain other directories: consecutive parts of a path.
const BELOW: &[&[&str]] = &[
    &[".docker", "config.json"],
    &[".gradle", "gradle.properties"],
    &[".m2", "settings.xml"],
    &[".m2", "settings-security.xml"],
    &[".config", "sops"],
    &[".gem", "credentials"],
    &[".huggingface", "token"],
    &["huggingface", "token"],
    &["huggingface", "stored_tokens"],
    &[".config", "gh"],
    &[".config", "hub"],
    &[".config", "gcloud"],
    &[".config", "op"],
    &[".config", "configstore"],
    &[".config", "github-copilot"],
    &[".config", "doctl"],
    &[".config", "heroku"],
    &[".config", "google-chrome"],
    &[".config", "chromium"],
    &[".config", "bravesoftware"],
    &[".config", "microsoft-edge"],
    &[".config", "opera"],
    &[".config", "vivaldi"],
    &["application support", "google"],
    &["application support", "firefox"],
    &["application support", "bravesoftware"],
    &["google", "chrome", "user data"],
    &["microsoft", "edge", "user data"],
    // Those of other users, whose place is not known.
    &["agcore", "secrets.json"],
];

/// Parts of the names of files with data, not with the source of a program.
const PARTS: &[&str] = &["credential", "secret", "service-account", "service_account"];

/// The endings of files with data.
const DATA: &[&str] = &["", "json", "yaml", "yml", "toml", "ini", "cfg", "conf", "db", "xml"];

/// The endings of files that only show what a `.env` would contain.
const SAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist"];

/// Places in a home directory that are secrets by a rule for names, or whose names in the lists above are incomplete.
const IN_HOME: &[&str] = &[
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/git/credentials",
    ".local/share/fish/fish_history",
    ".local/share/keyrings",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Firefox",
    "Library/Application Support/Google",
    "Library/Keychains",
    "Library/Cookies",
];

/// Returns the places in the user's home directory that usually contain secrets, if they exist. Commands in a sandbox cannot
/// read them.
pub(super) fn in_home() -> impl Iterator<Item = PathBuf> {
    let home = expand_home("~");
    let names = DIRECTORIES.iter().chain(NAMES).chain(IN_HOME).map(PathBuf::from);
    let below = BELOW.iter().map(|parts| parts.iter().collect());
    let places = names.chain(below).map(move |place: PathBuf| home.join(place));
    places.filter(|place| place.is_absolute() && place.symlink_metadata().is_ok())
}

/// Returns whether a file usually contains secrets, by its path.
pub(super) fn is_secret(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .map(|component| component.as_os_str().to_string_lossy().to_lowercase())
        .collect();
    let Some((name, directories)) = names.split_last() else {
        return false;
    };
    let is_sample = SAMPLES.iter().any(|end| name.ends_with(end))
        || ["example", "sample", "template"]
            .iter()
            .any(|start| name.starts_with(start));
    if is_sample {
        return false;
    }
    let is_below = |known: &&[&str]| names.windows(known.len()).any(|parts| parts == *known);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_named = !ending.is_empty() || matches!(stem, "secrets" | "secret");
    let is_data = is_named && DATA.contains(&ending) && PARTS.iter().any(|part| stem.contains(part));
    let is_in_secrets = !ending.is_empty()
        && DATA.contains(&ending)
        && directories
            .iter()
            .any(|name| matches!(name.trim_start_matches('.'), "secret" | "secrets"));
    directories.iter().any(|name| DIRECTORIES.contains(&name.as_str()))
        || NAMES.contains(&name.as_str())
        || BELOW.iter().any(is_below)
        || is_data
        || is_in_secrets
        || name.starts_with(".env.")
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
            "secrets/db.yaml",
            ".secrets/a.json",
            ".dev.vars",
            ".kube/prod-config",
            ".m2/settings.xml",
            ".gradle/gradle.properties",
            ".config/sops/age/keys.txt",
            "apikeys.json",
            "id_rsa",
            "x/.ssh/config",
            ".aws/credentials",
            ".config/gh/hosts.yml",
            ".config/gcloud/application_default_credentials.json",
            ".docker/config.json",
            ".kube/config",
            ".vault-token",
            "terraform.tfstate",
            "infra/terraform.tfstate.backup",
            "credentials.json",
            "service-account.json",
            "secrets.yaml",
            "prod.env",
            ".bash_history",
            ".gnupg/pubring.kbx",
            ".npmrc",
            ".pypirc",
            "_netrc",
            ".cargo/credentials.toml",
            ".mozilla/firefox/x.default/logins.json",
            ".config/google-chrome/Default/Login Data",
            ".local/state/agcore/secrets.json",
        ] {
            assert!(is_secret(Path::new(secret)), "{secret}");
        }
        for other in [
            ".env.example",
            "environment",
            "key.rs",
            "id_rsa.pub",
            "src/env.rs",
            "src/secrets.rs",
            "src/secrets/file.rs",
            "docs/secrets.md",
            "credentials.rs",
            "example.env",
            "secrets.example.yaml.sample",
            ".docker/Dockerfile",
            "config.json",
            ".github/x.yml",
            "",
        ] {
            assert!(!is_secret(Path::new(other)), "{other}");
        }
    }
}

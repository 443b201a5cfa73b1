//! Command lines that the program runs for a model or for settings: without its secrets, in a process group of their own.

use std::path::Path;

use agcore::chat::redact::key_ranges;
use agcore_settings::vendor::is_known_variable;
use agcore_terminal::process::{os_variable, variable_names};
use tokio::process::{Child, Command};

/// Words in the names of variables that contain secrets, which these commands do not get.
const SECRETS: [&str; 18] = [
    "APIKEY",
    "APITOKEN",
    "AUTHTOKEN",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "KEY",
    "KEYS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PASSWORDS",
    "PAT",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// Endings of such names that are not words of their own.
const ENDINGS: [&str; 7] = ["_AUTH", "_PASS", "_PWD", "PASSWORD", "TOKEN", "SECRET", "APIKEY"];

/// The beginnings of the names of variables that identify someone.
const BEGINNINGS: [&str; 3] = ["AWS_", "ARM_CLIENT_", "DOCKER_AUTH"];

/// Returns the shell with a command line, to be run in a folder. It does not get variables that contain secrets, except those of these
/// names. It is killed when its handle is dropped.
pub fn shell(command: &str, folder: &Path, kept: &[String]) -> Command {
    let (program, option) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("/bin/sh", "-c")
    };
    let mut shell = Command::new(program);
    shell.args([option, command]).current_dir(folder).kill_on_drop(true);
    let is_kept = |name: &str| kept.iter().any(|kept| kept == name);
    for name in variable_names().filter(|name| !is_kept(name) && (is_secret(name) || has_secret(name))) {
        shell.env_remove(name);
    }
    #[cfg(unix)]
    shell.process_group(0);
    shell
}

fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    is_known_variable(name)
        || upper.split(['_', '-', '.']).any(|word| SECRETS.contains(&word))
        || ENDINGS.iter().any(|end| upper.ends_with(end))
        || BEGINNINGS.iter().any(|start| upper.starts_with(start))
}

/// Returns whether the value of a variable contains a password or a key, such as the URL of a database.
fn has_secret(name: &str) -> bool {
    let value = os_variable(name).unwrap_or_default();
    contains_secret(&value.to_string_lossy())
}

fn contains_secret(value: &str) -> bool {
    let has_password = |(_, rest): (&str, &str)| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        user.and_then(|user| user.split_once(':'))
            .is_some_and(|(_, password)| !password.is_empty())
    };
    value.split_once("://").is_some_and(has_password) || !key_ranges(value).is_empty()
}

/// The process group of a command, which is killed on drop.
pub(crate) struct Group(#[cfg(unix)] Option<rustix::process::Pid>);

impl Group {
    /// Returns the group of a child that was started with [`shell`].
    #[cfg(unix)]
    pub(crate) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(rustix::process::Pid::from_raw))
    }

    /// Returns the group of a child that was started with [`shell`].
    #[cfg(not(unix))]
    pub fn of(_: &Child) -> Self {
        Self()
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It fails if no process of the group is left.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognized_by_the_names_of_variables() {
        for name in [
            "OPENAI_API_KEY",
            "AGCORE_MODEL",
            "GITHUB_TOKEN",
            "db_password",
            "AWS_ACCESS_KEY_ID",
            "AWS_PROFILE",
            "GITHUB_PAT",
            "PGPASSWORD",
            "MYSQL_PWD",
            "TOKEN",
            "NPM_TOKEN_READ",
            "SENTRY_DSN",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "KEYBOARD",
            "LANG",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "COMPATIBILITY",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        for value in [
            "postgres://ann:pw@host/db",
            "redis://:pw@host",
            "sk-0123456789abcdef0123",
        ] {
            assert!(contains_secret(value), "{value}");
        }
        for value in ["postgres://ann@host/db", "https://host/a:b@c", "/usr/bin:/bin", ""] {
            assert!(!contains_secret(value), "{value}");
        }
    }
}

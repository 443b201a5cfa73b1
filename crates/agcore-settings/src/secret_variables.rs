//! Variables that contain secrets, by their names and values.

use agcore::chat::redact::key_ranges;

use crate::vendor::is_known_variable;

/// Words in the names of variables that contain secrets.
const SECRETS: &[&str] = &[
    "APIKEY",
    "APITOKEN",
    "AUTHTOKEN",
    "BEARER",
    "COOKIE",
    "COOKIES",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
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
    "WEBHOOK",
];

/// Endings of such names that are not words of their own.
const ENDINGS: &[&str] = &[
    "_AUTH",
    "_PASS",
    "_PWD",
    "_CONNECTION_STRING",
    "_WEBHOOK_URL",
    "PASSWORD",
    "TOKEN",
    "SECRET",
    "APIKEY",
];

/// The beginnings of the names of variables that identify someone.
const BEGINNINGS: &[&str] = &["AWS_", "ARM_CLIENT_", "DOCKER_AUTH"];

/// Returns whether a variable contains a secret, by its name.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    is_known_variable(name)
        || upper.split(['_', '-', '.']).any(|word| SECRETS.contains(&word))
        || ENDINGS.iter().any(|end| upper.ends_with(end))
        || BEGINNINGS.iter().any(|start| upper.starts_with(start))
}

/// Returns whether a value contains a password or a key, such as the URL of a database.
pub fn contains_secret(value: &str) -> bool {
    let has_password = |(_, rest): (&str, &str)| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        user.and_then(|user| user.split_once(':'))
            .is_some_and(|(_, password)| !password.is_empty())
    };
    value.split_once("://").is_some_and(has_password) || !key_ranges(value).is_empty()
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
            "AZURE_STORAGE_CONNECTION_STRING",
            "SLACK_WEBHOOK_URL",
            "SESSION_COOKIE",
            "JWT",
        ] {
            assert!(is_secret_name(name), "{name}");
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
            assert!(!is_secret_name(name), "{name}");
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

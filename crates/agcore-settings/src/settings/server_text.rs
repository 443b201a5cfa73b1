//! Describes MCP servers for people.

use agcore::{
    chat::redact::{KeyRedactor, Redactor as _},
    mcp::ServerEntry,
};

use crate::{
    secret_variables::{contains_secret, is_secret_name},
    vendor::redacted_url,
};

/// Describes how a server is reached. Of variables, values that may be keys are left out; others can decide what runs, as
/// `GIT_SSH_COMMAND` does. Values of headers are left out.
pub(super) fn describe(entry: &ServerEntry) -> String {
    let mut text = match (&entry.command, &entry.url) {
        (Some(command), _) => {
            let words = [command].into_iter().chain(&entry.args);
            format!("`{}`", words.map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
        }
        (None, Some(url)) => redacted_url(url),
        (None, None) => "neither a command nor a URL".to_owned(),
    };
    if let Some(directory) = &entry.cwd {
        text += &format!(" in {directory}");
    }
    let variables: Vec<String> = entry.env.iter().map(|(name, value)| variable(name, value)).collect();
    let headers: Vec<String> = entry.headers.keys().cloned().collect();
    for (kind, shown) in [("variables", variables), ("headers", headers)] {
        if !shown.is_empty() {
            text += &format!(", {kind} {}", shown.join(", "));
        }
    }
    if entry.disabled {
        text += " (disabled)";
    }
    text
}

/// Returns a variable with its value, or only with its name if the value is a secret. Keys within other values are replaced: what
/// is around them must be seen.
fn variable(name: &str, value: &str) -> String {
    match is_secret_name(name) {
        true => name.to_owned(),
        // A URL with a password; not a command that only looks like one.
        false if contains_secret(value) && !value.contains(|c: char| c.is_whitespace() || ";|&$`()<>".contains(c)) => {
            format!("{name}={}", redacted_url(value))
        }
        false => format!("{name}={}", quoted(&KeyRedactor.redact(value))),
    }
}

/// Returns a word of a command, in quotation marks if it would look like several.
fn quoted(word: &str) -> String {
    match word.is_empty() || word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_contain_no_values() {
        let entry = r#"{"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "sk-1"}, "cwd": "/data"}"#;
        let entry: ServerEntry = serde_json::from_str(entry).unwrap();
        assert_eq!(describe(&entry), "`npx -y server` in /data, variables TOKEN");
        let entry = r#"{"command": "git", "env": {"GIT_SSH_COMMAND": "touch x; : sk-0123456789abcdef0123", "A": "b"}}"#;
        let entry: ServerEntry = serde_json::from_str(entry).unwrap();
        assert_eq!(
            describe(&entry),
            "`git`, variables A=b, GIT_SSH_COMMAND='touch x; : [redacted]'"
        );
        let entry = r#"{"url": "https://u:p@h/mcp", "headers": {"Authorization": "Bearer sk-1"}}"#;
        let entry: ServerEntry = serde_json::from_str(entry).unwrap();
        assert_eq!(describe(&entry), "https://***@h/mcp, headers Authorization");
    }
}

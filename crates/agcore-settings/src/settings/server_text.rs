//! Describes MCP servers for people.

use agcore::mcp::ServerEntry;

use crate::vendor::redacted_url;

/// Describes how a server is reached, without the values of variables and headers, which may be keys.
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
    for (kind, names) in [("variables", entry.env.keys()), ("headers", entry.headers.keys())] {
        let names: Vec<&str> = names.map(String::as_str).collect();
        if !names.is_empty() {
            text += &format!(", {kind} {}", names.join(", "));
        }
    }
    if entry.disabled {
        text += " (disabled)";
    }
    text
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
        let entry = r#"{"url": "https://u:p@h/mcp", "headers": {"Authorization": "Bearer sk-1"}}"#;
        let entry: ServerEntry = serde_json::from_str(entry).unwrap();
        assert_eq!(describe(&entry), "https://***@h/mcp, headers Authorization");
    }
}

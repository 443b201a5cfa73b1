//! [`Wanted`]: the settings for a provider and a model, and how they change a settings file.

use toml_edit::{DocumentMut, Item, value};

use crate::vendor::redacted_url;

/// The settings that are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The name of the provider.
    pub provider: String,
    /// The model, if it is not the provider's default.
    pub model: Option<String>,
    /// The base URL, if it is not the provider's default.
    pub base_url: Option<String>,
}

/// A change of a settings file.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    /// The new text.
    pub text: String,
    /// The changes, a line for each setting. Keys are not shown.
    pub lines: Vec<String>,
}

impl Wanted {
    /// Returns how a settings file must change. Other settings, comments and the order of lines stay as they are. A base URL
    /// and a key of another provider are removed, so that no key is sent to a server that it is not meant for.
    ///
    /// # Errors
    /// When the text is not TOML.
    pub fn change(&self, text: &str) -> Result<Change, String> {
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            // The message could quote a key.
            let line = error
                .span()
                .map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            format!("line {line} is not valid TOML; correct it first")
        })?;
        let before = |document: &DocumentMut, name: &str| document.get(name).map(shown);
        let mut lines = Vec::new();
        let is_same_provider = document.get("provider").and_then(Item::as_str) == Some(&self.provider);
        let wanted = [
            ("provider", Some(&self.provider)),
            ("model", self.model.as_ref()),
            ("base_url", self.base_url.as_ref()),
        ];
        for (name, wanted) in wanted {
            let old = before(&document, name);
            match wanted {
                Some(new) => {
                    if document.get(name).and_then(Item::as_str) == Some(new) {
                        continue;
                    }
                    let was = old.map(|old| format!(" (was {old})")).unwrap_or_default();
                    lines.push(format!("{name} = {}{was}", shown(&value(new.as_str()))));
                    set(&mut document, name, new);
                }
                None => {
                    if let Some(old) = old {
                        lines.push(format!("{name} is removed (was {old})"));
                        document.remove(name);
                    }
                }
            }
        }
        if !is_same_provider && document.remove("api_key").is_some() {
            lines.push("api_key is removed; it belongs to another provider".to_owned());
        }
        Ok(Change {
            text: document.to_string(),
            lines,
        })
    }
}

/// Sets a value, and keeps the comment after it.
fn set(document: &mut DocumentMut, name: &str, text: &str) {
    match document.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = text.into();
            *old.decor_mut() = decor;
        }
        None => document[name] = value(text),
    }
}

/// Shows a value. Credentials in URLs are masked.
fn shown(item: &Item) -> String {
    match item.as_str() {
        Some(text) if text.contains("://") => format!("\"{}\"", redacted_url(text)),
        // Without the comment after it.
        _ => match item.as_value() {
            Some(value) => value.clone().decorated("", "").to_string(),
            None => item.to_string().trim().to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(provider: &str, model: &str) -> Wanted {
        Wanted {
            provider: provider.to_owned(),
            model: Some(model.to_owned()),
            base_url: None,
        }
    }

    #[test]
    fn a_new_file_has_the_settings() {
        let change = wanted("openai", "gpt-5-mini").change("").unwrap();
        assert_eq!(change.text, "provider = \"openai\"\nmodel = \"gpt-5-mini\"\n");
        assert_eq!(change.lines.len(), 2);
    }

    #[test]
    fn everything_else_in_a_file_stays() {
        let text = "# mine\nmodel = 'old' # a comment\nhistory = false\n\n[permissions]\nallow = ['read_*']\n";
        let change = wanted("openai", "new").change(text).unwrap();
        for part in [
            "# mine",
            "# a comment",
            "history = false",
            "allow = ['read_*']",
            "model = \"new\"",
        ] {
            assert!(change.text.contains(part), "{part}: {}", change.text);
        }
        // A setting after a table would belong to the table.
        assert!(change.text.find("provider").unwrap() < change.text.find("[permissions]").unwrap());
        assert_eq!(change.lines, ["provider = \"openai\"", "model = \"new\" (was 'old')"]);
        let again = wanted("openai", "new").change(&change.text).unwrap();
        assert_eq!((again.lines.len(), again.text == change.text), (0, true));
    }

    #[test]
    fn a_key_and_a_server_of_another_provider_are_removed() {
        let text = "provider = 'compatible'\nbase_url = 'http://me:pw@10.0.0.1/v1'\napi_key = 'sk-1'\n";
        let change = wanted("openai", "m").change(text).unwrap();
        assert_eq!(change.text, "provider = \"openai\"\nmodel = \"m\"\n");
        let lines = change.lines.join("\n");
        assert!(
            lines.contains("base_url is removed") && lines.contains("api_key is removed"),
            "{lines}"
        );
        assert!(!lines.contains("pw") && !lines.contains("sk-1"), "{lines}");
        let same = wanted("compatible", "m").change(text).unwrap();
        assert!(same.text.contains("api_key = 'sk-1'"), "{}", same.text);
    }

    #[test]
    fn an_invalid_file_is_reported_without_its_text() {
        let error = wanted("openai", "m").change("a = 1\napi_key = sk-1\n").unwrap_err();
        assert!(error.starts_with("line 2 ") && !error.contains("sk-1"), "{error}");
    }
}

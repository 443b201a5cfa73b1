//! [`Effect`]: what a file of the current directory sets or adds, as it is shown to the user.

use super::{
    dotenv::Dotenv,
    file::{File, SETTINGS},
    untrusted::is_used,
};
use crate::{
    places::SETTINGS_FILE,
    trust::{FileKind, FolderFile, Snapshot},
    vendor::{is_known_variable, redacted_url},
};

/// The maximum length of the instructions that are shown, in characters.
const MAX_SYSTEM: usize = 200;

/// A change that a file makes to the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    /// The file.
    pub(crate) file: String,
    /// The setting or variable, if it is one.
    pub(crate) name: Option<String>,
    /// The value or a description, without keys.
    pub(crate) value: Option<String>,
    /// Whether it is used in trusted folders only.
    pub(crate) needs_trust: bool,
}

/// Returns the effects of `agcore.toml`: every setting in the file.
pub(super) fn of_settings(file: &File) -> Vec<Effect> {
    let effect = |(name, value): (&String, &toml::Value)| Effect {
        file: SETTINGS_FILE.to_owned(),
        name: Some(name.clone()),
        value: Some(shown(name, value)),
        needs_trust: !is_used(file, name),
    };
    file.named.0.iter().map(effect).collect()
}

/// Returns the effects of `.env`: the variables that the program uses by name, the others together.
pub(super) fn of_variables(variables: &Dotenv) -> Vec<Effect> {
    let mut names: Vec<&String> = variables.names.iter().collect();
    // A broken line that sets a variable of the program would be an error.
    let broken = variables.invalid.iter().map(|line| &line.word);
    names.extend(broken.filter(|word| is_known_variable(word)));
    names.sort();
    names.dedup();
    let (known, others): (Vec<&String>, Vec<&String>) = names.into_iter().partition(|name| is_known_variable(name));
    let of_env = |name: Option<&String>, value: Option<String>| Effect {
        file: ".env".to_owned(),
        needs_trust: name.is_some(),
        name: name.cloned(),
        value,
    };
    let mut effects: Vec<Effect> = known.into_iter().map(|name| of_env(Some(name), None)).collect();
    if !others.is_empty() {
        let names: Vec<&str> = others.into_iter().map(String::as_str).collect();
        effects.push(of_env(None, Some(format!("not used: {}", names.join(", ")))));
    }
    effects
}

/// Returns the effects of the other files.
pub(super) fn of_files(snapshot: &Snapshot, with_instructions: bool) -> Vec<Effect> {
    let effect = |file: &FolderFile| {
        let (value, needs_trust) = match (&file.content, file.kind) {
            (_, FileKind::Settings | FileKind::Variables) => return None,
            (_, FileKind::Instructions) if !with_instructions => return None,
            (Err(reason), _) => (format!("ignored: {reason}"), false),
            (Ok(bytes), FileKind::Instructions) => (format!("{} bytes, added to the instructions", bytes.len()), true),
            (Ok(_), FileKind::McpServers | FileKind::Project) => ("not used by this version".to_owned(), false),
        };
        Some(Effect {
            file: file.name.clone(),
            name: None,
            value: Some(value),
            needs_trust,
        })
    };
    snapshot.files.iter().filter_map(effect).collect()
}

/// Summarizes effects by file: `agcore.toml (base_url, permissions) and AGENTS.md are`.
pub(super) fn summary(effects: &[Effect]) -> String {
    let mut files: Vec<(&str, Vec<&str>)> = Vec::new();
    for effect in effects {
        let name = effect.name.as_deref();
        match files.last_mut().filter(|(file, _)| *file == effect.file) {
            Some((_, names)) => names.extend(name),
            None => files.push((&effect.file, name.into_iter().collect())),
        }
    }
    let file = |(file, names): &(&str, Vec<&str>)| match names.as_slice() {
        [] => (*file).to_owned(),
        names => format!("{file} ({})", names.join(", ")),
    };
    let files: Vec<String> = files.iter().map(file).collect();
    match files.split_last() {
        Some((last, [])) => format!("{last} is"),
        Some((last, others)) => format!("{} and {last} are", others.join(", ")),
        None => String::new(),
    }
}

/// Shows a value. Keys, and credentials in URLs, are hidden. Values that need trust are shown completely.
fn shown(name: &str, value: &toml::Value) -> String {
    if !SETTINGS.contains(&name) {
        return "not known to this version".to_owned();
    }
    if name == "api_key" {
        return "(hidden)".to_owned();
    }
    let text = match value {
        toml::Value::String(text) if text.contains("://") => redacted_url(text),
        toml::Value::String(text) => text.clone(),
        toml::Value::Table(table) => {
            let lists = table.iter().map(|(name, value)| format!("{name} {}", json(value)));
            lists.collect::<Vec<_>>().join("; ")
        }
        value => json(value),
    };
    match text.char_indices().nth(MAX_SYSTEM) {
        Some((end, _)) if name == "system" => {
            format!("{}… ({} characters in total)", &text[..end], text.chars().count())
        }
        _ => text,
    }
}

fn json(value: &toml::Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::dotenv;

    fn settings(text: &str) -> Vec<(String, String, bool)> {
        let file = File::parse(Path::new("agcore.toml"), text).unwrap();
        let effects = of_settings(&file).into_iter();
        effects
            .map(|effect| (effect.name.unwrap(), effect.value.unwrap(), effect.needs_trust))
            .collect()
    }

    #[test]
    fn shows_every_setting_and_no_key() {
        let effect = |name: &str, value: &str, needs_trust| (name.to_owned(), value.to_owned(), needs_trust);
        assert_eq!(
            settings(
                "model = 'm'\nsystem = 'Be kind.'\nhistory = false\nprovider = 'vllm'\nbase_url = 'http://u:p@h/v1'\n\
                 api_key = 'sk-1'\n[permissions]\nallow = ['a', 'b']\n[mcp]\nkey = 'sk-1'\n"
            ),
            [
                effect("api_key", "(hidden)", true),
                effect("base_url", "http://***@h/v1", true),
                effect("history", "false", false),
                effect("mcp", "not known to this version", true),
                effect("model", "m", false),
                effect("permissions", "allow [\"a\",\"b\"]", true),
                effect("provider", "vllm", true),
                effect("system", "Be kind.", false),
            ]
        );
        assert_eq!(
            settings("model = 'meta-llama/llama-3'"),
            [effect("model", "meta-llama/llama-3", false)]
        );
        for model in ["anthropic:claude", "anthropic/claude", "Claude:x"] {
            assert_eq!(
                settings(&format!("model = '{model}'")),
                [effect("model", model, true)],
                "this selects a provider"
            );
        }
        let many = format!("[permissions]\nallow = [{}'*']", "'a',".repeat(300));
        assert!(
            settings(&many)[0].1.ends_with(",\"*\"]"),
            "everything that needs trust is shown"
        );
        let long = &settings(&format!("system = '{}'", "x".repeat(300)))[0].1;
        assert!(long.ends_with("x… (300 characters in total)"), "{long}");
    }

    #[test]
    fn lists_variables_by_whether_they_are_used() {
        let variables = dotenv::parse("Z=1\nOPENAI_BASE_URL=u\nAGCORE_MODEL=m\nA=2\nMISTRAL_API_KEY x\n");
        let effects = of_variables(&variables);
        let names: Vec<Option<&str>> = effects.iter().map(|effect| effect.name.as_deref()).collect();
        assert_eq!(
            names,
            [
                Some("AGCORE_MODEL"),
                Some("MISTRAL_API_KEY"),
                Some("OPENAI_BASE_URL"),
                None
            ]
        );
        assert_eq!(effects[3].value.as_deref(), Some("not used: A, Z"));
        assert!(!effects[3].needs_trust && effects[0].needs_trust);
    }

    #[test]
    fn summaries_name_files_and_settings() {
        let effect = |file: &str, name: Option<&str>| Effect {
            file: file.to_owned(),
            name: name.map(str::to_owned),
            value: None,
            needs_trust: true,
        };
        let effects = [
            effect("agcore.toml", Some("base_url")),
            effect("agcore.toml", Some("permissions")),
            effect("AGENTS.md", None),
        ];
        assert_eq!(
            summary(&effects),
            "agcore.toml (base_url, permissions) and AGENTS.md are"
        );
        assert_eq!(summary(&effects[2..]), "AGENTS.md is");
    }
}

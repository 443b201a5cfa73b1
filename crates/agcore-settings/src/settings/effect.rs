//! [`Effect`]: what a file of the current directory sets or adds, as it is shown to the user.

use agcore::{
    chat::text::visible,
    mcp::{McpConfig, ServerEntry},
    tools::Permission,
};
use agcore_document::{Member, Node, Value};
use agcore_terminal::render::shown_value;
use serde_json::Value as Json;

use super::{
    file::{File, dotenv::Dotenv, hooks::HookTable},
    project::Project,
    server_text::describe,
    table::{is_in_file, needs_trust},
};
use crate::{
    places::SETTINGS_FILE,
    trust::{FileKind, FolderFile, PROJECT_DIRECTORIES, Snapshot},
    vendor::{is_known_variable, redacted_url},
};

/// The maximum length of a value, or of the path of a URL, in characters.
const MAX_VALUE: usize = 200;
/// The maximum length of the scheme and host of a URL. A name in the DNS has at most 253 characters.
const MAX_HOST: usize = 300;
/// The maximum number of names that are listed.
const MAX_NAMES: usize = 20;

/// A change that a file makes to the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The file.
    pub file: String,
    /// The purpose of the file.
    pub kind: FileKind,
    /// The setting or variable, if it is one.
    pub name: Option<String>,
    /// The value or a description, without keys and invisible characters. Only `permissions`, `hooks` and `mcp`
    /// may have several lines.
    pub value: Option<String>,
    /// Whether it is used in trusted folders only.
    pub needs_trust: bool,
}

impl Effect {
    /// Returns whether this is a setting that does not exist.
    pub(super) fn is_unknown_setting(&self) -> bool {
        let name = self.name.as_deref();
        self.kind == FileKind::Settings && name.is_some_and(|name| !is_in_file(name))
    }
}

/// Returns the effects of `agcore.toml`: every setting in the file.
pub(super) fn of_settings(file: &File) -> Vec<Effect> {
    let effect = |Member { name, node, .. }: &Member| Effect {
        file: SETTINGS_FILE.to_owned(),
        kind: FileKind::Settings,
        name: Some(short(name)),
        value: Some(shown(name, node)),
        needs_trust: needs_trust(name),
    };
    file.named.0.iter().map(effect).collect()
}

/// Returns the effect of an `agcore.toml` that cannot be parsed and is not used in this run.
pub(super) fn of_broken_settings() -> Effect {
    Effect {
        file: SETTINGS_FILE.to_owned(),
        kind: FileKind::Settings,
        name: None,
        value: Some("cannot be read; runs that use it fail".to_owned()),
        needs_trust: false,
    }
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
        kind: FileKind::Variables,
        needs_trust: name.is_some(),
        name: name.map(|name| short(name)),
        value,
    };
    let mut effects: Vec<Effect> = known
        .into_iter()
        .map(|name| of_env(Some(name), Some(shown_variable(name, variables))))
        .collect();
    if !others.is_empty() {
        let more = others.len().saturating_sub(MAX_NAMES);
        let mut names: Vec<String> = others.into_iter().take(MAX_NAMES).map(|name| short(name)).collect();
        names.extend((more > 0).then(|| format!("{more} more")));
        effects.push(of_env(None, Some(format!("not used: {}", names.join(", ")))));
    }
    effects
}

/// Returns the effects of the other files, and of those that cannot be used. Those below each directory of
/// the project are one effect.
pub(super) fn of_files(snapshot: &Snapshot) -> Vec<Effect> {
    let mut effects: Vec<Effect> = snapshot.files.iter().flat_map(of_file).collect();
    effects.extend(PROJECT_DIRECTORIES.iter().filter_map(|root| of_project(snapshot, root)));
    effects
}

fn of_file(file: &FolderFile) -> Vec<Effect> {
    let effect = |name: Option<String>, value: String, needs_trust| Effect {
        file: file.name.clone(),
        kind: file.kind,
        name,
        value: Some(value),
        needs_trust,
    };
    match (file.text(), file.kind) {
        (_, FileKind::Settings | FileKind::Project) | (Ok(_), FileKind::Variables) => Vec::new(),
        (Ok(_), FileKind::Script) => vec![effect(
            None,
            "named by a command of a hook or an MCP server".to_owned(),
            false,
        )],
        (Err(reason), _) => vec![effect(None, format!("ignored: {reason}"), false)],
        (Ok(text), FileKind::Instructions) => {
            let value = format!("{} bytes, added to the instructions", text.len());
            vec![effect(None, value, true)]
        }
        (Ok(text), FileKind::McpServers) => match McpConfig::from_json(text) {
            Ok(config) => {
                let of_server = |(name, entry): (&String, &ServerEntry)| {
                    effect(Some(visible(name).into_owned()), server(entry), true)
                };
                config.servers.iter().map(of_server).collect()
            }
            Err(_) => vec![effect(None, "cannot be read; runs that use it fail".to_owned(), true)],
        },
    }
}

/// Shows what an MCP server runs or where it is.
fn server(entry: &ServerEntry) -> String {
    shown_value(&describe(entry))
}

/// Returns one effect for all files below a directory of the project: the skills and agents that they contain.
fn of_project(snapshot: &Snapshot, root: &str) -> Option<Effect> {
    let is_below = |file: &&FolderFile| {
        let rest = file.name.strip_prefix(root);
        file.kind == FileKind::Project && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let files: Vec<FolderFile> = snapshot.files.iter().filter(is_below).cloned().collect();
    let mut needs_trust = false;
    let value = match files.as_slice() {
        [] => return None,
        [
            FolderFile {
                name,
                content: Err(reason),
                ..
            },
        ] if name == root => format!("ignored: {reason}"),
        files => {
            let project = Project::of_files(files);
            let count = match files.len() {
                1 => "1 file".to_owned(),
                count => format!("{count} files"),
            };
            let found = project
                .summary()
                .unwrap_or_else(|| "no skills and no agents".to_owned());
            let problems = project.problems.len();
            let broken = match problems {
                0 => String::new(),
                _ => format!("; {problems} of the files cannot be used"),
            };
            needs_trust = project.summary().is_some();
            short(&format!("{found} ({count}{broken})"))
        }
    };
    Some(Effect {
        file: root.to_owned(),
        kind: FileKind::Project,
        name: None,
        value: Some(value),
        needs_trust,
    })
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
        names => {
            let more = names.len().saturating_sub(MAX_NAMES);
            let more = if more > 0 {
                format!(", {more} more")
            } else {
                String::new()
            };
            format!("{file} ({}{more})", names[..names.len().min(MAX_NAMES)].join(", "))
        }
    };
    let files: Vec<String> = files.iter().map(file).collect();
    match files.split_last() {
        Some((last, [])) => format!("{last} is"),
        Some((last, others)) => format!("{} and {last} are", others.join(", ")),
        None => String::new(),
    }
}

/// Shows the value of a setting. Keys, and credentials in URLs, are hidden.
fn shown(name: &str, node: &Node) -> String {
    if !is_in_file(name) {
        return "not known to this version".to_owned();
    }
    match (&node.value, name) {
        (_, "api_key") => "(hidden)".to_owned(),
        (Value::Text(text), _) => shown_text(name, text),
        (Value::Table(_), "permissions") => permissions(node),
        (Value::Table(_), "mcp") => mcp_servers(node),
        (Value::Table(_), "hooks") => hooks(node),
        _ => short(&node.to_json().to_string()),
    }
}

/// Shows the value of a variable, unless it is a key.
fn shown_variable(name: &str, variables: &Dotenv) -> String {
    match variables.shown.get(name) {
        _ if name.ends_with("_KEY") => "set".to_owned(),
        Some(value) => shown_text(&name.to_ascii_lowercase(), value),
        None => "(invalid line)".to_owned(),
    }
}

/// Shows text, as a URL if the name in lower case is that of an address.
fn shown_text(name: &str, text: &str) -> String {
    let is_system = name.ends_with("system");
    let is_address = name.ends_with("base_url") || name.ends_with("proxy") || (!is_system && text.contains("://"));
    if !is_address {
        return short(text);
    }
    let url = redacted_url(text);
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..]
        .find(['/', '\\', '?', '#'])
        .map_or(url.len(), |at| start + at);
    // The end of the host is as important as its start.
    [cut(&url[..end], MAX_HOST), cut(&url[end..], MAX_VALUE)].concat()
}

/// Shows the entries of `[permissions]`, one on each line. Those that allow the most are first, so that others cannot hide them:
/// all that allow more than one tool, and then the first of the others.
fn permissions(table: &Node) -> String {
    let mut entries = Vec::new();
    for (rank, state) in ["allow", "ask", "deny"].into_iter().enumerate() {
        let list = table.member(state).map(|member| member.node.to_json());
        let list = list.as_ref().and_then(Json::as_array).cloned().unwrap_or_default();
        entries.extend(list.into_iter().map(|entry| (rank, state, entry)));
    }
    let breadth_of = |entry: &Json| breadth(entry.as_str().unwrap_or_default());
    entries.sort_by_key(|(rank, _, entry)| (*rank, breadth_of(entry)));
    let is_broad = |(rank, _, entry): &&(usize, &str, Json)| *rank == 0 && breadth_of(entry) != usize::MAX;
    let broad = entries.iter().filter(is_broad).count();
    let mut lines = entries
        .iter()
        .map(|(_, state, entry)| format!("{state} {}", visible(&entry.to_string())));
    let mut shown: Vec<String> = lines.by_ref().take(broad.max(MAX_NAMES)).collect();
    let more = lines.count();
    shown.extend((more > 0).then(|| format!("{more} more; see {SETTINGS_FILE}")));
    shown.join("\n")
}

/// Shows the servers of `[mcp]`, one on each line.
fn mcp_servers(table: &Node) -> String {
    let servers = table.member("servers").into_iter();
    let servers = servers.flat_map(|servers| servers.node.members());
    let servers = servers.filter_map(|member| Some((&member.name, member.node.read().ok()?)));
    listed(servers.map(|(name, entry)| format!("{}: {}", shown_value(name), server(&entry))))
}

/// Shows the commands of `[hooks]`, one on each line: the same that would run.
fn hooks(table: &Node) -> String {
    let Ok(hooks) = table.read::<HookTable>() else {
        return "cannot be read; runs that use it fail".to_owned();
    };
    listed(
        hooks
            .entries()
            .map(|(event, entry)| format!("{} {}", event.as_str(), shown_value(&entry.to_string()))),
    )
}

/// Joins all lines of a list of what will run.
fn listed(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a number that is small if an entry applies to many tools.
fn breadth(entry: &str) -> usize {
    let literals = entry.chars().filter(|c| !matches!(c, '*' | '?')).count();
    match entry.parse::<Permission>() {
        Ok(Permission::Custom(_)) => 1,
        Ok(_) => 0,
        Err(_) if literals < entry.chars().count() => literals,
        Err(_) => usize::MAX,
    }
}

/// Shows text on one line of limited length.
fn short(text: &str) -> String {
    cut(text, MAX_VALUE)
}

/// Shows the start and the end of a text that is longer than the limit, in characters.
fn cut(text: &str, limit: usize) -> String {
    let text = text.replace(['\n', '\t'], " ");
    let text = visible(&text);
    let count = text.chars().count();
    if count <= limit {
        return text.into_owned();
    }
    let tail = limit / 3;
    let head: String = text.chars().take(limit - tail).collect();
    let tail: String = text.chars().skip(count - tail).collect();
    format!("{head}…{tail} ({count} characters in total)")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::file::dotenv;
    use super::*;

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
                "model = 'm'\nsystem = 'Be kind.'\nhistory = false\ntheme = 'dark'\nprovider = 'vllm'\nbase_url = 'http://u:p@h/v1'\n\
                 api_key = 'sk-1'\n[permissions]\nallow = ['a', 'b']\n[mcp.servers.x]\ncommand = 'npx'\nenv = { TOKEN = 'sk-1' }\n\
                 [other]\nkey = 'sk-1'\n[[hooks.Stop]]\ncommand = 'done'\n\
                 [[hooks.PreToolUse]]\nmatcher = 'shell'\ncommand = './check'\n"
            ),
            [
                effect("api_key", "(hidden)", true),
                effect("base_url", "http://***@h/v1", true),
                effect("history", "false", false),
                effect("hooks", "PreToolUse for shell: `./check`\nStop `done`", true),
                effect("mcp", "x: `npx`, variables TOKEN", true),
                effect("model", "m", true),
                effect("other", "not known to this version", true),
                effect("permissions", "allow \"a\"\nallow \"b\"", true),
                effect("provider", "vllm", true),
                effect("system", "Be kind.", true),
                effect("theme", "dark", true),
            ]
        );
        assert_eq!(
            settings("model = 'meta-llama/llama-3'"),
            [effect("model", "meta-llama/llama-3", true)]
        );
        for model in ["anthropic:claude", "anthropic/claude", "Claude:x"] {
            assert_eq!(
                settings(&format!("model = '{model}'")),
                [effect("model", model, true)],
                "this selects a provider"
            );
        }
        let many = format!("[permissions]\nallow = [{}'*']", "'a',".repeat(300));
        let shown = &settings(&many)[0].1;
        assert!(
            shown.starts_with("allow \"*\"\nallow \"a\"\n") && shown.ends_with("\n281 more; see agcore.toml"),
            "{shown}"
        );
        let decoys: String = (0..30).map(|number| format!("'a{number}*', 'x:{number}',")).collect();
        let shown = &settings(&format!("[permissions]\nask = ['*']\nallow = [{decoys}'shell', '**']"))[0].1;
        assert!(
            shown.starts_with("allow \"shell\"\n") || shown.starts_with("allow \"**\"\n"),
            "{shown}"
        );
        assert!(shown.lines().count() > 32, "{shown}");
        assert!(shown.contains("\"**\"") && shown.contains("\"shell\""), "{shown}");
        let long = &settings(&format!("system = '{}'", "x".repeat(300)))[0].1;
        assert!(long.ends_with("x (300 characters in total)"), "{long}");
    }

    #[test]
    fn what_will_run_is_shown_whole() {
        let hidden = "harmless ".repeat(40);
        let hook = format!("[[hooks.UserPromptSubmit]]\ncommand = \"\"\": {hidden}\ntouch PWN\n: {hidden}\"\"\"\n");
        let shown = &settings(&hook)[0].1;
        assert_eq!(
            shown,
            &format!("UserPromptSubmit `: {hidden}\n\u{1}touch PWN\n\u{1}: {hidden}`")
        );
        let tricky = "[[hooks.Stop]]\ncommand = \"true # see\\ntouch\\u00a0PWN\\tx\\r\\nid\"\n";
        let shown = &settings(tricky)[0].1;
        assert_eq!(shown, "Stop `true # see\n\u{1}touch\\u{a0}PWN\tx\\u{d}\n\u{1}id`");
        let many: String = (0..30)
            .map(|number| format!("[[hooks.Stop]]\ncommand = 'run {number}'\n"))
            .collect();
        assert_eq!(settings(&many)[0].1.lines().count(), 30);
        let server = "[mcp.servers.x]\ncommand = 'sh'\nargs = ['-c', \"true\\ntouch PWN\"]\n";
        assert_eq!(settings(server)[0].1, "x: `sh -c 'true\n\u{1}touch PWN'`");
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
    fn shows_the_values_of_variables_but_no_key() {
        let many: String = (0..30).map(|number| format!("OTHER{number:02}=1\n")).collect();
        let variables = dotenv::parse(&format!(
            "OPENAI_API_KEY=sk-1\nAGCORE_BASE_URL=http://u:p@h/v1\nAGCORE_PROVIDER='a\u{202e}b'\n\
             AGCORE_PROXY=http://${{HOST}}:1\n{many}"
        ));
        let effects = of_variables(&variables);
        let values: Vec<&str> = effects.iter().map(|effect| effect.value.as_deref().unwrap()).collect();
        assert_eq!(
            values[..4],
            ["http://***@h/v1", "a\\u{202e}b", "http://${host}:1", "set"]
        );
        assert!(values[4].ends_with("OTHER19, 10 more"), "{}", values[4]);
    }

    #[test]
    fn the_host_of_a_long_url_is_shown() {
        let host = format!("https://api.openai.com.{}.evil.example", "a".repeat(200));
        let text = shown_text("base_url", &format!("{host}/{}", "b".repeat(5_000)));
        assert!(text.starts_with(&host) && text.chars().count() < 550, "{text}");
        let text = shown_text("proxy", &format!("http://{}.evil.example", "a".repeat(5_000)));
        assert!(text.contains(".evil.example (5"), "{text}");
    }

    #[test]
    fn summaries_name_files_and_settings() {
        let effect = |file: &str, name: Option<&str>| Effect {
            file: file.to_owned(),
            kind: FileKind::Settings,
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

//! Checks of what the settings name: MCP servers, hooks, prices, files of the server, and the database. Nothing is started,
//! created or changed.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use agcore::mcp::ServerEntry;
use agcore_settings::{Choices, HookEntry, HookEvent, NamedServer};
use agcore_terminal::process::os_variable;
use agcore_workbench::{hook_commands::CommandHooks, permission_mode::PermissionMode};

use super::check::Check;
use crate::{exit::Failure, prices::Prices};

/// The largest database that is read completely, in bytes.
#[cfg(feature = "sqlite")]
const MAX_DATABASE: u64 = 256 * 1024 * 1024;

/// Runs the checks.
pub(super) async fn checks(choices: &Choices) -> Vec<Check> {
    let mut checks: Vec<Check> = choices.tools.mcp.all().iter().map(server).collect();
    checks.extend(hooks(choices));
    checks.extend(prices(choices));
    checks.extend(served_files(choices));
    #[cfg(feature = "sqlite")]
    checks.push(database().await);
    checks
}

/// Checks that the program of an MCP server exists, or that its address is one.
fn server(server: &NamedServer) -> Check {
    let name = format!("{}: {}", server.name, server.describe());
    match problem(&server.entry) {
        _ if server.entry.disabled => Check::ok("mcp", format!("{name} ({})", server.origin)),
        None => Check::ok("mcp", name),
        Some(problem) => Check::warn(
            "mcp",
            format!("{name}: {problem}"),
            format!(
                "Correct it in {}; `agcore mcp doctor` connects to the servers.",
                server.origin
            ),
        ),
    }
}

fn problem(entry: &ServerEntry) -> Option<String> {
    match (&entry.command, &entry.url) {
        // It is known only when the variables are replaced.
        (Some(text), _) | (None, Some(text)) if text.contains("${") => None,
        (Some(command), _) => (!is_program(command)).then(|| format!("there is no program `{command}`")),
        (None, Some(url)) => url::Url::parse(url)
            .err()
            .map(|error| format!("the address is invalid: {error}")),
        (None, None) => Some("it has neither a command nor a URL".to_owned()),
    }
}

/// Checks the matchers of hooks, and that the scripts which they name exist.
fn hooks(choices: &Choices) -> Vec<Check> {
    let hooks = &choices.tools.hooks;
    if let Err(error) = CommandHooks::new(hooks, PathBuf::new(), PermissionMode::Default) {
        return vec![Check::fail("hooks", &error.into())];
    }
    let check = |(event, entry): &(HookEvent, HookEntry)| {
        let name = format!("{} {entry}", event.as_str());
        match script(&entry.command) {
            Some(path) if !path.exists() => Check::warn(
                "hooks",
                format!("{name}: there is no file {}", path.display()),
                "Correct the command in [hooks].",
            ),
            _ => Check::ok("hooks", name),
        }
    };
    hooks.iter().map(check).collect()
}

/// Returns the file that a command line runs, if it is named by a plain path.
fn script(command: &str) -> Option<&Path> {
    let word = command.split_whitespace().next()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    (word.contains('/') && word.chars().all(is_plain)).then(|| Path::new(word))
}

/// Checks the catalog with the prices.
fn prices(choices: &Choices) -> Option<Check> {
    match Prices::read(None, choices.prices.as_ref(), &choices.provider_config()) {
        Ok(None) => None,
        Ok(Some(prices)) => Some(Check::ok("prices", prices.source)),
        Err(failure) => Some(Check::fail("prices", &failure)),
    }
}

/// Checks the files of the table `[serve]`, which are relative to the settings file.
fn served_files(choices: &Choices) -> Vec<Check> {
    let Some(serve) = &choices.serve else {
        return Vec::new();
    };
    let folder = serve.origin.place().map(PathBuf::from);
    let folder = folder.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let keys = serve.value.jwt.as_ref().and_then(|jwt| jwt.keys.as_ref());
    let keys = keys.map(|keys| {
        let path = folder.join(keys);
        let read = fs::read_to_string(&path).map_err(|error| error.to_string());
        let parsed = read.and_then(|text| {
            serde_json::from_str::<serde_json::Value>(&text).map_err(|error| format!("it is not JSON: {error}"))
        });
        match parsed {
            Ok(_) => Check::ok("serve", format!("keys of tokens: {}", path.display())),
            Err(error) => Check::fail(
                "serve",
                &Failure::usage(format!("`keys` of [serve.jwt] is {}: {error}", path.display())),
            ),
        }
    });
    let files = serve.value.files.as_ref().map(|files| {
        let path = folder.join(files);
        match path.is_dir() {
            true => Check::ok("serve", format!("uploads: {}", path.display())),
            false => Check::warn(
                "serve",
                format!("`files` of [serve] is {}, which is not a directory", path.display()),
                "Create it, or correct the setting.",
            ),
        }
    });
    keys.into_iter().chain(files).collect()
}

/// Checks the database of the sessions.
#[cfg(feature = "sqlite")]
async fn database() -> Check {
    use agcore::store::sqlite::{SqliteOptions, maintenance};

    const NAME: &str = "sessions";
    let Some(path) = agcore_settings::places::database() else {
        let advice = "Set HOME or XDG_STATE_HOME.";
        return Check::warn(NAME, "there is no directory for the database; nothing is kept", advice);
    };
    let shown = path.display().to_string();
    match fs::metadata(&path) {
        Err(_) => return Check::ok(NAME, format!("{shown} does not exist yet")),
        Ok(found) if found.len() > MAX_DATABASE => {
            return Check::ok(
                NAME,
                format!("{shown}; too large to be read here: `agcore store check` does"),
            );
        }
        Ok(_) => {}
    }
    match maintenance::check(&SqliteOptions::new(path)).await {
        Ok(report) if report.is_intact() => Check::ok(NAME, format!("{shown} is intact")),
        Ok(_) => {
            let message = format!("{shown} is damaged\n`agcore store check` lists the damage.");
            Check::fail(NAME, &Failure::task(message))
        }
        Err(error) => Check::fail(NAME, &Failure::from(error)),
    }
}

/// Returns whether there is a program with this name or path.
fn is_program(command: &str) -> bool {
    let is_file = |path: PathBuf| {
        path.is_file()
            || (cfg!(windows)
                && ["exe", "cmd", "bat"]
                    .iter()
                    .any(|end| path.with_extension(end).is_file()))
    };
    if command.contains(['/', '\\']) {
        return is_file(PathBuf::from(command));
    }
    let paths = os_variable("PATH").unwrap_or_default();
    env::split_paths(&paths).any(|folder| is_file(folder.join(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_are_scripts() {
        assert_eq!(script(".agcore/check.sh --all"), Some(Path::new(".agcore/check.sh")));
        for command in ["true", "$HOME/check.sh", "cd a && ./b", "", "'./a b'"] {
            assert_eq!(script(command), None, "{command}");
        }
    }
}

//! The directories that the program uses outside of the current one: the user's settings, and the program's state.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use agcore_terminal::process::{expand_home, os_variable};

/// The name of a settings file.
pub(crate) const SETTINGS_FILE: &str = "agcore.toml";

/// The directory of a project's agents, skills and flows.
pub(crate) const PROJECT_DIRECTORY: &str = ".agcore";

/// The name of the file with the user's MCP servers, next to the settings file.
const MCP_FILE: &str = "mcp.json";

/// The variable that names the directory of the user's settings.
pub(crate) const CONFIG_DIRECTORY: &str = "AGCORE_CONFIG_DIR";

/// Returns the path of the user's settings file: `agcore.toml` in `$AGCORE_CONFIG_DIR`, else in `agcore` in
/// `$XDG_CONFIG_HOME`, in `%APPDATA%` on Windows, or in `~/.config`. Returns `None` if no variable names such a place.
pub fn user_settings() -> Option<PathBuf> {
    config_directory(path_variable).map(|directory| directory.join(SETTINGS_FILE))
}

/// Returns the path of the user's MCP servers: `mcp.json`, next to [`user_settings`].
pub(crate) fn user_mcp_servers() -> Option<PathBuf> {
    config_directory(path_variable).map(|directory| directory.join(MCP_FILE))
}

/// Returns the directory of the user's skills: `skills` next to the settings.
pub(crate) fn user_skills() -> Option<PathBuf> {
    config_directory(path_variable).map(|directory| directory.join("skills"))
}

/// Returns the directory of the user's agents: `agents` next to the settings.
pub(crate) fn user_agents() -> Option<PathBuf> {
    config_directory(path_variable).map(|directory| directory.join("agents"))
}

/// Returns the directory of the user's flows: `flows` next to the settings.
pub(crate) fn user_flows() -> Option<PathBuf> {
    config_directory(path_variable).map(|directory| directory.join("flows"))
}

/// Returns the path of the user's instructions: `AGENTS.md` next to the settings.
pub(crate) fn user_instructions() -> Option<PathBuf> {
    config_directory(path_variable).map(|directory| directory.join("AGENTS.md"))
}

/// Returns the directory of the user's commands: `commands` next to the settings.
pub(crate) fn user_commands() -> Option<PathBuf> {
    config_directory(path_variable).map(|directory| directory.join("commands"))
}

/// Returns the path of the user's catalog of models and prices: `catalog.toml` next to the settings.
pub fn user_catalog() -> Option<PathBuf> {
    config_directory(path_variable).map(|directory| directory.join("catalog.toml"))
}

/// Returns the path of the models and prices that `agcore catalog update` has written: `snapshot.jsonl` next to the settings.
pub fn user_snapshot() -> Option<PathBuf> {
    config_directory(path_variable).map(|directory| directory.join("snapshot.jsonl"))
}

/// Returns a message if the variable for the directory of the user's settings is ignored. A relative path would name a
/// directory of the current folder, whose files are not the user's own.
pub(crate) fn ignored_config_directory() -> Option<String> {
    let directory = path_variable(CONFIG_DIRECTORY).filter(|directory| !directory.is_absolute())?;
    Some(format!(
        "{CONFIG_DIRECTORY} is ignored: {} is not an absolute path",
        directory.display()
    ))
}

/// Returns the directory of trusted folders, stored answers and typed lines: `agcore` in `$XDG_STATE_HOME`, else in
/// `%LOCALAPPDATA%` on Windows, else in `~/.local/state`. Returns `None` if no variable names such a place.
pub fn state_directory() -> Option<PathBuf> {
    state_directory_of(path_variable)
}

/// Returns the path of the database: `agcore.db` in [`state_directory`].
pub fn database() -> Option<PathBuf> {
    state_directory().map(|directory| directory.join("agcore.db"))
}

/// Returns a path for people, with `~` for the user's home directory.
pub fn abbreviated(path: &Path) -> String {
    let home = path_variable("HOME").filter(|home| home.is_absolute() && !cfg!(windows));
    abbreviated_in(home.as_deref(), path)
}

fn abbreviated_in(home: Option<&Path>, path: &Path) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => Path::new("~").join(rest).display().to_string(),
        None => path.display().to_string(),
    }
}

/// Creates a directory that only its owner can access. An existing directory is left unchanged.
///
/// # Errors
/// When the directory cannot be created.
pub fn create_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Creates an empty file that only its owner can access. An existing file is left unchanged.
///
/// # Errors
/// When the file cannot be created.
pub fn create_private_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Returns a warning if the current directory is that of the user, or contains it: there, tools could use everything.
pub fn wide_folder_warning() -> Option<String> {
    let home = path_variable("HOME")
        .or_else(|| path_variable("USERPROFILE"))?
        .canonicalize()
        .ok()?;
    let current = Path::new(".").canonicalize().ok()?;
    let place = match home.starts_with(&current) {
        false => return None,
        true if home == current => "your home directory",
        true => "a directory that contains your home directory",
    };
    Some(format!(
        "this is {place}, so the tools may use all your files; start the program in the directory of a project instead"
    ))
}

/// Checks a folder that the tools are to use besides the current directory: one that was typed, where a leading `~` is the home
/// directory. Returns its path without links.
///
/// # Errors
/// When it is not a directory, contains the files of the whole user or system, or belongs to the program itself; with the reason,
/// and what to name instead.
pub fn further_folder(typed: &str) -> Result<PathBuf, String> {
    let home = path_variable("HOME").or_else(|| path_variable("USERPROFILE"));
    let home = home.and_then(|home| home.canonicalize().ok());
    checked_folder(&expand_home(typed), home.as_deref(), &own_files())
}

fn checked_folder(path: &Path, home: Option<&Path>, own: &[PathBuf]) -> Result<PathBuf, String> {
    let found = match path.canonicalize() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err("it does not exist; create it first, or check the name".to_owned());
        }
        Err(error) => return Err(format!("it cannot be used: {error}")),
    };
    if !found.is_dir() {
        return Err("it is not a folder; name the folder that contains it".to_owned());
    }
    const INSTEAD: &str = "name the folder of a project instead";
    if found.parent().is_none() {
        return Err(format!("it contains all files of this machine; {INSTEAD}"));
    }
    match home {
        Some(home) if home == found => return Err(format!("it is your home directory; {INSTEAD}")),
        Some(home) if home.starts_with(&found) => {
            return Err(format!("it contains your home directory; {INSTEAD}"));
        }
        _ => {}
    }
    match own.iter().any(|own| found.starts_with(own)) {
        true => Err(format!("it contains the keys and sessions of agcore; {INSTEAD}")),
        false => Ok(found),
    }
}

/// Returns the canonical paths of what the tools must never use: the directory of the program's state, with keys, sessions and
/// decisions, and the user's settings, which may contain keys.
pub fn own_files() -> Vec<PathBuf> {
    let files = [state_directory(), user_settings(), user_mcp_servers()];
    let canonical = |path: PathBuf| path.canonicalize().unwrap_or(path);
    files.into_iter().flatten().map(canonical).collect()
}

fn path_variable(name: &str) -> Option<PathBuf> {
    os_variable(name).map(PathBuf::from)
}

fn config_directory(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    if let Some(directory) = absolute(CONFIG_DIRECTORY) {
        return Some(directory);
    }
    let home = || absolute("HOME").map(|home| home.join(".config"));
    let roaming = || absolute("APPDATA").filter(|_| cfg!(windows));
    let config = absolute("XDG_CONFIG_HOME").or_else(roaming).or_else(home)?;
    Some(config.join("agcore"))
}

fn state_directory_of(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // Relative paths must be ignored: XDG Base Directory Specification 0.8.
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(".local").join("state"));
    let local = || absolute("LOCALAPPDATA").filter(|_| cfg!(windows));
    let state = absolute("XDG_STATE_HOME").or_else(local).or_else(home)?;
    Some(state.join("agcore"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_in_the_home_directory_are_abbreviated() {
        let check = |home: Option<&str>, path: &str, expected: &str| {
            assert_eq!(abbreviated_in(home.map(Path::new), Path::new(path)), expected, "{path}");
        };
        check(
            Some("/users/ada"),
            "/users/ada/.local/grants.json",
            "~/.local/grants.json",
        );
        check(Some("/users/ada"), "/users/adam/grants.json", "/users/adam/grants.json");
        check(Some("/users/ada"), "grants.json", "grants.json");
        check(None, "/users/ada/grants.json", "/users/ada/grants.json");
    }

    #[test]
    fn further_folders_are_folders_of_projects() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for folder in ["home/project", "home/.state/agcore/x"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("home/file"), "").unwrap();
        std::os::unix::fs::symlink("home", root.join("link")).unwrap();
        let (home, own) = (root.join("home"), [root.join("home/.state/agcore")]);
        let check = |path: &str| checked_folder(&root.join(path), Some(&home), &own);
        assert_eq!(check("link/project/../project").unwrap(), root.join("home/project"));
        for (path, reason) in [
            ("home/none", "it does not exist; create it first"),
            ("home/file", "it is not a folder"),
            (
                "/",
                "it contains all files of this machine; name the folder of a project instead",
            ),
            ("home", "it is your home directory"),
            ("link", "it is your home directory"),
            (".", "it contains your home directory"),
            ("home/.state/agcore", "it contains the keys and sessions of agcore"),
            ("home/.state/agcore/x", "it contains the keys and sessions of agcore"),
        ] {
            let error = check(path).unwrap_err();
            assert!(error.starts_with(reason), "{path}: {error}");
        }
    }

    fn variables(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<PathBuf> {
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), PathBuf::from(value)))
            .collect();
        move |name| {
            let found = variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        }
    }

    #[test]
    fn the_state_directory_follows_the_xdg_specification() {
        let check = |values: &[(&str, &str)], expected: Option<&str>| {
            assert_eq!(
                state_directory_of(variables(values)),
                expected.map(PathBuf::from),
                "{values:?}"
            );
        };
        check(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")], Some("/s/agcore"));
        check(
            &[("XDG_STATE_HOME", "s"), ("HOME", "/h")],
            Some("/h/.local/state/agcore"),
        );
        check(&[("XDG_STATE_HOME", ""), ("LOCALAPPDATA", "/w")], None);
        check(&[], None);
    }

    #[test]
    fn one_variable_overrides_the_directory_of_the_users_settings() {
        let check = |values: &[(&str, &str)], expected: Option<&str>| {
            assert_eq!(
                config_directory(variables(values)),
                expected.map(PathBuf::from),
                "{values:?}"
            );
        };
        check(
            &[("AGCORE_CONFIG_DIR", "/own"), ("XDG_CONFIG_HOME", "/c")],
            Some("/own"),
        );
        check(
            &[("AGCORE_CONFIG_DIR", "own"), ("HOME", "/h")],
            Some("/h/.config/agcore"),
        );
        check(&[("XDG_CONFIG_HOME", "/c"), ("HOME", "/h")], Some("/c/agcore"));
        check(&[("XDG_CONFIG_HOME", "c"), ("HOME", "/h")], Some("/h/.config/agcore"));
        check(&[("APPDATA", "/w")], None);
    }
}

//! [`Folder`]: what the files of the current directory set, and whether it may be used.

use std::{fmt, path::Path};

use agcore::chat::text::suggestion;

use super::{
    context::ContextFiles,
    effect::{self, Effect},
    file::{
        File,
        dotenv::{self, Dotenv},
    },
    table::file_settings,
};
use crate::{
    PolicyOptions, SettingsError,
    places::{SETTINGS_FILE, ignored_config_directory, user_settings},
    trust::{FileKind, FolderFile, Snapshot, Trust, TrustStore, listed_changes},
    vendor::is_known_variable,
};

/// Which files of the folder a command reads.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// `.env`.
    pub variables: bool,
    /// `AGENTS.md` and `CLAUDE.md`.
    pub instructions: bool,
    /// `.mcp.json` and `[mcp]`.
    pub servers: bool,
    /// Skills and agents below `.agcore`.
    pub project: bool,
    /// All settings, and not only `[permissions]`.
    pub(crate) all_settings: bool,
}

/// The files of the current directory, parsed. Without trust, only a few settings are used.
pub struct Folder {
    /// The files.
    pub snapshot: Snapshot,
    /// Whether they may be used.
    pub trust: Trust,
    wanted: Wanted,
    /// `agcore.toml`, if it exists.
    file: Option<File>,
    /// Whether `agcore.toml` may be used as the settings of the folder: no other file replaces it.
    uses_file: bool,
    /// `.env`, if it exists.
    variables: Option<Dotenv>,
    /// Problems with files, for the user.
    warnings: Vec<String>,
    /// Whether the user knows that files are ignored.
    is_declined: bool,
}

/// Does not print values: they may be secrets.
impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder")
            .field("trust", &self.trust)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

impl Folder {
    /// Reads the files of the current directory and whether the user trusts them.
    ///
    /// # Errors
    /// When `agcore.toml` cannot be read or parsed.
    pub fn open(policy: &PolicyOptions, wanted: Wanted) -> Result<Self, SettingsError> {
        let snapshot = Snapshot::read(Path::new("."));
        let mut warnings: Vec<String> = ignored_config_directory().into_iter().collect();
        let trust = match TrustStore::of_user().trust(&snapshot) {
            _ if policy.trust_folder => Trust::ThisRun,
            Ok(trust) => trust,
            Err(error) => {
                warnings.push(format!(
                    "no folder is trusted, because the list of trusted folders cannot be used: {error}"
                ));
                Trust::Unknown
            }
        };
        let uses_file = policy.config.is_none() && !is_users_file();
        // Trust covers all files, so they are read even if this run does not use them.
        let file = match snapshot.file(FileKind::Settings).map(parse_settings).transpose() {
            Err(error) if uses_file => return Err(error),
            file => file.ok().flatten(),
        };
        let variables = snapshot.file(FileKind::Variables).and_then(|file| match file.text() {
            Ok(text) => Some(dotenv::parse(text)),
            Err(error) => {
                warnings.extend(wanted.variables.then(|| format!(".env is ignored: {error}")));
                None
            }
        });
        Ok(Self {
            snapshot,
            trust,
            wanted,
            file,
            uses_file,
            variables,
            warnings,
            is_declined: false,
        })
    }

    /// Uses the files in this run.
    pub fn trust(&mut self) {
        self.trust = Trust::ThisRun;
    }

    /// Continues without the files, which the user has decided.
    pub fn decline(&mut self) {
        self.is_declined = true;
    }

    /// Returns whether the user must decide before everything in the folder is used.
    pub fn needs_decision(&self) -> bool {
        !self.trust.is_given() && self.used_effects().iter().any(|effect| effect.needs_trust)
    }

    /// Returns everything that the files set or add, also what the options of this run leave out: an answer applies to
    /// later runs without these options.
    pub fn effects(&self) -> Vec<Effect> {
        let mut effects = match (&self.file, self.snapshot.file(FileKind::Settings)) {
            (Some(file), _) => effect::of_settings(file),
            (None, Some(_)) => vec![effect::of_broken_settings()],
            (None, None) => Vec::new(),
        };
        if let Some(variables) = &self.variables {
            effects.extend(effect::of_variables(variables));
        }
        effects.extend(effect::of_files(&self.snapshot));
        effects
    }

    /// Returns the effects of what this run would use.
    fn used_effects(&self) -> Vec<Effect> {
        let wanted = self.wanted;
        let is_used = |effect: &Effect| match effect.kind {
            FileKind::Settings => {
                let is_wanted = match effect.name.as_deref() {
                    Some("permissions") => true,
                    Some("mcp") => wanted.servers,
                    _ => wanted.all_settings,
                };
                self.uses_file && is_wanted
            }
            FileKind::Variables => wanted.variables,
            FileKind::Instructions => wanted.instructions,
            FileKind::McpServers => wanted.servers,
            FileKind::Project => wanted.project,
            FileKind::Script => wanted.servers,
        };
        let mut effects = self.effects();
        effects.retain(is_used);
        effects
    }

    /// Returns the effects that are ignored because the folder is not trusted.
    pub fn ignored(&self) -> Vec<Effect> {
        if self.trust.is_given() {
            return Vec::new();
        }
        let mut effects = self.used_effects();
        effects.retain(|effect| effect.needs_trust);
        effects
    }

    /// Returns one line that lists the ignored effects and how to use them, unless there are none, or the user has declined
    /// them.
    pub fn ignored_notice(&self) -> Option<String> {
        let ignored = self.ignored();
        if ignored.is_empty() || self.is_declined {
            return None;
        }
        let reason = match &self.trust {
            Trust::Changed(changes) => format!(
                "files have changed since you trusted this folder ({})",
                listed_changes(changes)
            ),
            _ => "this folder is not trusted".to_owned(),
        };
        // Trust does not help against a typing error.
        let (unknown, ignored): (Vec<Effect>, Vec<Effect>) = ignored.into_iter().partition(Effect::is_unknown_setting);
        let unknown = unknown.iter().filter_map(|effect| {
            let name = effect.name.as_deref()?;
            Some(format!(
                "{} has the unknown setting {name}{}",
                effect.file,
                suggestion(name, file_settings())
            ))
        });
        let ignored = (!ignored.is_empty()).then(|| {
            format!(
                "{} ignored, because {reason}. Review the files and run `agcore trust`, or pass --trust-folder to use them \
                 in this run only.",
                effect::summary(&ignored)
            )
        });
        Some(ignored.into_iter().chain(unknown).collect::<Vec<_>>().join(" "))
    }

    /// Returns the settings of `agcore.toml` that may be used.
    pub(super) fn take_file(&mut self) -> Option<File> {
        let is_trusted = self.trust.is_given();
        self.file
            .take()
            .filter(|_| self.uses_file)
            .map(|file| if is_trusted { file } else { file.without_trust() })
    }

    /// Returns the variables of `.env` that may be used. Invalid lines are added to the warnings.
    ///
    /// # Errors
    /// When a line that sets a variable of this program is invalid.
    pub(super) fn take_variables(&mut self) -> Result<Option<Dotenv>, SettingsError> {
        let is_used = self.wanted.variables && self.trust.is_given();
        let Some(variables) = self.variables.take().filter(|_| is_used) else {
            return Ok(None);
        };
        for line in &variables.invalid {
            let number = line.number;
            if is_known_variable(&line.word) {
                return Err(SettingsError::new(format!(
                    ".env:{number}: expected {}=value; quote values that contain spaces or special characters",
                    line.word
                )));
            }
            self.warnings
                .push(format!(".env:{number} is ignored: expected NAME=value"));
        }
        Ok(Some(variables))
    }

    /// Returns the instructions of the user, and those of the project, if they may be used.
    pub(super) fn context_files(&self) -> ContextFiles {
        if !self.wanted.instructions {
            return ContextFiles::default();
        }
        let files = self.snapshot.files.iter();
        let files: Vec<_> = files.filter(|file| file.kind == FileKind::Instructions).collect();
        ContextFiles::new(&files, self.trust.is_given()).with_those_of_user()
    }

    /// Takes the warnings.
    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}

fn parse_settings(file: &FolderFile) -> Result<File, SettingsError> {
    let unreadable = |error| SettingsError::new(format!("cannot read {SETTINGS_FILE}: {error}"));
    let text = file.text().map_err(unreadable)?;
    File::parse(Path::new(SETTINGS_FILE), text)
}

/// Returns whether `agcore.toml` in the current directory is the user's own settings file.
fn is_users_file() -> bool {
    let Some(users) = user_settings().and_then(|path| path.canonicalize().ok()) else {
        return false;
    };
    Path::new(SETTINGS_FILE).canonicalize().is_ok_and(|path| path == users)
}

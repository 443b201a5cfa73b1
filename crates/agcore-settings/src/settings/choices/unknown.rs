//! [`Unknown`]: names of settings and variables that do not exist.

use agcore::chat::text::suggestion;

use crate::settings::{
    sources::Sources,
    table::{file_settings, variables},
};

/// Messages about unknown names, each with its location.
#[derive(Debug, Default)]
pub struct Unknown {
    /// Settings in the settings file.
    pub settings: Vec<String>,
    /// Variables with the program's prefix.
    pub variables: Vec<String>,
}

/// Finds unknown names in all sources.
pub(super) fn unknown(sources: &Sources) -> Unknown {
    let settings = sources.files.iter().flat_map(|file| &file.file.unknown);
    let settings = settings.map(|(name, error)| {
        let near = name.as_deref().map(|name| suggestion(name, file_settings()));
        error.to_string() + &near.unwrap_or_default()
    });
    let settings = settings.collect();
    let names = sources.program_variables();
    let known = variables().map(|variable| variable.name);
    let unknown = names.iter().filter(|name| known.clone().all(|known| known != *name));
    let unknown = unknown.map(|name| format!("unknown variable {name}{}", suggestion(name, known.clone())));
    let misplaced = variables().filter(|variable| variable.is_environment_only);
    let misplaced = misplaced
        .map(|variable| variable.name)
        .filter(|name| sources.is_in_dotenv(name));
    let misplaced = misplaced.map(|name| format!("{name} is ignored in .env; set it in the environment"));
    Unknown {
        settings,
        variables: unknown.chain(misplaced).collect(),
    }
}

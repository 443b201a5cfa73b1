//! [`Profile`]: the user for whom a flow runs.

use std::{fs, path::Path};

use agcore::profile::{ProfileDocument, UserAgentContext, Uuid, build_global_system_prompt};
use agcore_args::FlowValues;
use agcore_terminal::render::sanitized_line;

use crate::exit::Failure;

/// The user for whom a flow runs, from the file of `--profiles`.
pub(super) struct Profile {
    pub(super) document: ProfileDocument,
    pub(super) user: Uuid,
    /// The part of the system prompts of all agents that describes the user.
    pub(super) prompt: String,
}

impl Profile {
    /// Reads the profile that the arguments name; `None` if they name none.
    ///
    /// # Errors
    /// When the file cannot be read or has problems, or it is not clear which user is meant.
    pub(super) async fn of(values: &FlowValues) -> Result<Option<Self>, Failure> {
        let Some(path) = &values.profiles else {
            return Ok(None);
        };
        let name = sanitized_line(&path.display().to_string());
        let document = read(path).map_err(|problem| Failure::usage(format!("cannot read {name}: {problem}")))?;
        let users: Vec<Uuid> = document.users().collect();
        let user = match (values.user, users.as_slice()) {
            (Some(user), users) if users.contains(&user) => user,
            (Some(user), _) => return Err(Failure::usage(format!("{name} has no profile of the user {user}"))),
            (None, [only]) => *only,
            (None, []) => return Err(Failure::usage(format!("{name} has no profiles"))),
            (None, users) => {
                let message = format!("{name} has {} profiles\nChoose a user: --user ID", users.len());
                return Err(Failure::usage(message));
            }
        };
        let failed =
            |error: &dyn std::error::Error| Failure::usage(format!("the profile of {user} cannot be used: {error}"));
        let context = UserAgentContext::load(&document, user)
            .await
            .map_err(|error| failed(&error))?;
        let prompt = build_global_system_prompt(&context).map_err(|error| failed(&error))?;
        Ok(Some(Self { document, user, prompt }))
    }
}

/// Reads a file as TOML or, with any other end of its name, as YAML.
fn read(path: &Path) -> Result<ProfileDocument, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let is_toml = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let document = match is_toml {
        true => ProfileDocument::from_toml(&text),
        false => ProfileDocument::from_yaml(&text),
    };
    document.map_err(|error| error.to_string())
}

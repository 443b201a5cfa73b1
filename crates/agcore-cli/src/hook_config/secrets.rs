//! [`of`]: the secrets of a hook, from the environment and from files.

use std::{fs::File, io::Read as _, path::Path};

use agcore::webhook::DeliverySecret;
use agcore_document::{Place, Placed};
use agcore_settings::IncomingHookEntry;
use agcore_terminal::process::variable;

/// The largest file with a secret, in bytes.
const MAX_FILE: u64 = 4096;

/// Returns the secrets that a table names. No error has a secret.
pub(super) fn of(entry: &IncomingHookEntry, folder: &Path) -> Result<Vec<DeliverySecret>, (Place, String)> {
    if entry.secrets.is_empty() && entry.secret_files.is_empty() {
        let problem = "it has no secret; set `secrets` to the names of environment variables, or `secret_files`";
        return Err((entry.id.place, problem.to_owned()));
    }
    let of_variables = entry.secrets.iter().map(of_variable);
    let of_files = entry.secret_files.iter().map(|file| of_file(file, folder));
    of_variables.chain(of_files).collect()
}

fn of_variable(name: &Placed<String>) -> Result<DeliverySecret, (Place, String)> {
    let is_name = |text: &str| {
        let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        text.starts_with(|first: char| first.is_ascii_uppercase() || first == '_')
            && text.len() <= 64
            && text.bytes().all(is_part)
    };
    let problem = |problem: String| (name.place, problem);
    if !is_name(&name.value) {
        // It may be the secret itself.
        return Err(problem(
            "an entry of `secrets` is not the name of an environment variable, such as GITHUB_HOOK_SECRET; secrets are not \
             written into the file"
                .to_owned(),
        ));
    }
    let value = variable(&name.value).ok_or_else(|| {
        problem(format!(
            "the environment variable {} is not set, or is empty; set it to the secret",
            name.value
        ))
    })?;
    DeliverySecret::new(value).map_err(|error| problem(format!("the environment variable {}: {error}", name.value)))
}

fn of_file(file: &Placed<String>, folder: &Path) -> Result<DeliverySecret, (Place, String)> {
    let path = folder.join(&file.value);
    let problem = |problem: String| (file.place, format!("the secret in {}: {problem}", path.display()));
    let mut text = String::new();
    let opened = File::open(&path).and_then(|opened| opened.take(MAX_FILE + 1).read_to_string(&mut text));
    opened.map_err(|error| problem(error.to_string()))?;
    DeliverySecret::new(text).map_err(|error| problem(error.to_string()))
}

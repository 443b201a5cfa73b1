//! [`AwsAccess`]: the region of a provider and the keys of an account, as Amazon's own programs find them.

use std::{fs, io, path::PathBuf};

use agcore::llm::{
    ProviderConfig, ProviderType,
    credential::{AwsKeys, AwsProfile, AwsSigner, Credential},
};
use agcore_terminal::process::{os_variable, variable};

use crate::settings::{
    origin::{Chosen, Origin},
    sources::Sources,
};

const REGIONS: &[&str] = &["AWS_REGION", "AWS_DEFAULT_REGION"];
const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const TOKEN: &str = "AWS_SESSION_TOKEN";
const PROFILE: &str = "AWS_PROFILE";

/// The name of the profile if no variable names one.
const DEFAULT: &str = "default";

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The region that requests are signed for if none is set, which only works at a base URL of the user.
const ANY_REGION: &str = "us-east-1";

/// The region of a provider and the keys of an account.
///
/// Variables take precedence over the profile that `AWS_PROFILE` names, or the one called `default`, in the files `config` and
/// `credentials` in `~/.aws`. Single sign-on and metadata servers are not asked.
#[derive(Debug, Clone, Default)]
pub struct AwsAccess {
    /// The region.
    pub region: Option<Chosen<String>>,
    /// The keys, if there is no API key.
    pub keys: Option<Chosen<AwsKeys>>,
}

impl AwsAccess {
    /// Searches the variables and files, if the provider is Amazon's. Keys are searched unless there is an API key. Adds a
    /// warning if some are incomplete or cannot be used.
    pub(super) fn find(
        provider: &ProviderType,
        has_api_key: bool,
        sources: &Sources,
        warnings: &mut Vec<String>,
    ) -> Self {
        if !provider.is_regional() {
            return Self::default();
        }
        let profile = profile(sources).unwrap_or_else(|warning| {
            warnings.push(warning);
            None
        });
        let in_profile = profile.as_ref().and_then(|(profile, origin)| {
            let (value, origin) = (profile.region()?.to_owned(), origin.clone());
            Some(Chosen { value, origin })
        });
        let keys = match has_api_key {
            true => Ok(None),
            false => keys(sources, profile),
        };
        Self {
            region: sources.variable(REGIONS).or(in_profile),
            keys: keys.unwrap_or_else(|warning| {
                warnings.push(warning);
                None
            }),
        }
    }

    /// Adds the region to a configuration, and the keys as its credential.
    pub(super) fn add_to(&self, config: ProviderConfig) -> ProviderConfig {
        let config = match &self.region {
            Some(region) => config.with_region(region.value.as_str()),
            None => config,
        };
        let Some(keys) = &self.keys else {
            return config;
        };
        let region = config.region().unwrap_or(ANY_REGION).to_owned();
        config.with_credential(Credential::signer(AwsSigner::new(keys.value.clone(), region)))
    }
}

fn keys(sources: &Sources, profile: Option<(AwsProfile, Origin)>) -> Result<Option<Chosen<AwsKeys>>, String> {
    let (id, secret) = (sources.variable(&[KEY_ID]), sources.variable(&[SECRET]));
    match (id, secret) {
        (Some(Chosen { value: id, origin }), Some(secret)) => {
            let keys = AwsKeys::new(id, secret.value);
            let value = match sources.variable(&[TOKEN]) {
                Some(token) => keys.with_session_token(token.value),
                None => keys,
            };
            return Ok(Some(Chosen { value, origin }));
        }
        (Some(_), None) => return Err(format!("{KEY_ID} is set without {SECRET}: set both")),
        (None, Some(_)) => return Err(format!("{SECRET} is set without {KEY_ID}: set both")),
        (None, None) => {}
    }
    let Some((profile, origin)) = profile else {
        return Ok(None);
    };
    let keys = profile.keys().map_err(|error| error.to_string())?;
    Ok(keys.map(|keys| Chosen {
        value: keys.clone(),
        origin,
    }))
}

/// Returns the profile with the file that it comes from.
fn profile(sources: &Sources) -> Result<Option<(AwsProfile, Origin)>, String> {
    let named = sources.variable(&[PROFILE]);
    let name = named.as_ref().map_or(DEFAULT, |named| named.value.as_str());
    let Some(files) = files() else { return Ok(None) };
    let [config, credentials] = &files;
    let found = AwsProfile::read(name, &read(config)?, &read(credentials)?);
    match (found, named) {
        (Some(profile), _) => Ok(Some((profile, Origin::SecretFile(credentials.clone())))),
        (None, Some(Chosen { value, origin })) => Err(format!(
            "{origin}: there is no AWS profile `{value}` in {} and {}",
            config.display(),
            credentials.display()
        )),
        (None, None) => Ok(None),
    }
}

/// Returns the paths of the files `config` and `credentials`.
fn files() -> Option<[PathBuf; 2]> {
    let home = ["HOME", "USERPROFILE"]
        .into_iter()
        .find_map(os_variable)
        .map(PathBuf::from);
    let path = |name: &str, file: &str| {
        let of_variable = variable(name).map(PathBuf::from);
        of_variable.or_else(|| Some(home.as_ref()?.join(".aws").join(file)))
    };
    Some([
        path("AWS_CONFIG_FILE", "config")?,
        path("AWS_SHARED_CREDENTIALS_FILE", "credentials")?,
    ])
}

/// Returns the text of a file, which is empty if there is none.
fn read(path: &PathBuf) -> Result<String, String> {
    let unreadable = |reason: &dyn std::fmt::Display| format!("{} cannot be read: {reason}", path.display());
    match fs::metadata(path) {
        Ok(file) if file.len() > MAX_FILE => return Err(unreadable(&"it is larger than 1 MiB")),
        Ok(file) if !file.is_file() => return Err(unreadable(&"it is not a file")),
        _ => {}
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(unreadable(&error)),
    }
}

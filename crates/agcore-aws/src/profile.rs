//! [`AwsProfile`]: a profile in the files of Amazon's command line.

use std::collections::BTreeMap;

use crate::keys::AwsKeys;

/// The settings that lead to credentials in a way that is not supported, with a description.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("credential_process", "runs a program"),
    ("role_arn", "assumes a role"),
    ("sso_session", "uses single sign-on"),
    ("sso_start_url", "uses single sign-on"),
    ("web_identity_token_file", "uses a web identity"),
];

/// A profile: credentials and a region.
///
/// ```
/// use agcore_aws::AwsProfile;
///
/// let config = "[default]\nregion = us-east-1\n\n[profile work]\nregion = eu-central-1\n";
/// let credentials = "[work]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = secret\n";
/// let profile = AwsProfile::read("work", config, credentials).unwrap();
/// assert_eq!(profile.region(), Some("eu-central-1"));
/// assert_eq!(profile.keys()?.unwrap().id(), "AKIDEXAMPLE");
/// assert!(AwsProfile::read("other", config, credentials).is_none());
/// # Ok::<(), agcore_aws::ProfileError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AwsProfile {
    name: String,
    region: Option<String>,
    keys: Option<AwsKeys>,
    /// The reason the profile has no keys: it lacks them, or gets them in a way that is not supported.
    problem: Option<String>,
}

/// The reason a profile has no credentials that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the AWS profile `{profile}` {problem}")]
pub struct ProfileError {
    profile: String,
    problem: String,
}

impl AwsProfile {
    /// Finds a profile in the texts of the files `config` and `credentials`. Both are optional: the text of a missing file is
    /// empty. A setting in `credentials` takes precedence. Returns `None` if neither has the profile.
    pub fn read(name: &str, config: &str, credentials: &str) -> Option<Self> {
        let is_of_config = |section: &str| {
            let named = section
                .strip_prefix("profile")
                .filter(|rest| rest.starts_with([' ', '\t']));
            named.map_or(name == "default" && section == "default", |rest| rest.trim() == name)
        };
        let config = section(config, is_of_config);
        let credentials = section(credentials, |section| section == name);
        if config.is_none() && credentials.is_none() {
            return None;
        }
        let mut settings = config.unwrap_or_default();
        settings.extend(credentials.unwrap_or_default());
        let get = |name: &str| settings.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let (id, secret) = (get("aws_access_key_id"), get("aws_secret_access_key"));
        let keys = id.zip(secret).map(|(id, secret)| {
            let keys = AwsKeys::new(id, secret);
            match get("aws_session_token") {
                Some(token) => keys.with_session_token(token),
                None => keys,
            }
        });
        let unsupported = UNSUPPORTED.iter().find(|(name, _)| get(name).is_some());
        let problem = match (id, secret, unsupported) {
            (Some(_), Some(_), _) => None,
            (Some(_), None, _) => Some("has an access key without `aws_secret_access_key`: add it".to_owned()),
            (None, Some(_), _) => Some("has a secret without `aws_access_key_id`: add it".to_owned()),
            (None, None, Some((setting, what))) => Some(format!(
                "{what} (`{setting}`), which is not supported: run `aws configure export-credentials --profile {name} --format \
                 env`, and set the variables that it prints"
            )),
            (None, None, None) => None,
        };
        Some(Self {
            name: name.to_owned(),
            region: get("region").map(str::to_owned),
            keys,
            problem,
        })
    }

    /// Returns the region, if the profile sets one.
    pub fn region(&self) -> Option<&str> {
        self.region.as_deref()
    }

    /// Returns the credentials, or `None` if the profile has no settings about any.
    ///
    /// # Errors
    /// If the credentials are incomplete, or must be obtained in a way that is not supported.
    pub fn keys(&self) -> Result<Option<&AwsKeys>, ProfileError> {
        match &self.problem {
            None => Ok(self.keys.as_ref()),
            Some(problem) => Err(ProfileError {
                profile: self.name.clone(),
                problem: problem.clone(),
            }),
        }
    }
}

/// Returns the settings of the sections whose name is accepted, or `None` if there is no such section. Settings in the lines of
/// another one, which are indented, are left out.
fn section(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<BTreeMap<String, String>> {
    let (mut found, mut is_inside) = (None, false);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let content = line.trim();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = content.strip_prefix('[') {
            let name = rest.split(']').next().unwrap_or_default();
            is_inside = is_wanted(name.trim());
            if is_inside {
                found.get_or_insert_with(BTreeMap::new);
            }
            continue;
        }
        let is_nested = line.starts_with([' ', '\t']);
        if let (true, false, Some((name, value)), Some(found)) =
            (is_inside, is_nested, content.split_once('='), found.as_mut())
        {
            let value = without_comment(value.trim());
            found.insert(name.trim().to_ascii_lowercase(), value.to_owned());
        }
    }
    found
}

/// Removes a comment behind a value, which begins with a blank.
fn without_comment(value: &str) -> &str {
    let begin = [" #", " ;", "\t#", "\t;"]
        .iter()
        .filter_map(|mark| value.find(mark))
        .min();
    begin.map_or(value, |at| value[..at].trim_end())
}

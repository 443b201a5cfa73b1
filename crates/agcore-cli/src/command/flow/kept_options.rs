//! The options of a run that later runs of its session need not repeat.

use std::{
    fs,
    path::{Path, PathBuf},
};

use agcore::{profile::Uuid, session::Session};
use agcore_args::FlowValues;
use serde::{Deserialize, Serialize};

use crate::sessions::FLOW_OPTIONS;

/// The options, as they are kept in the metadata of a session.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    #[serde(skip_serializing_if = "Option::is_none")]
    profiles: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skills: Option<PathBuf>,
}

/// Returns the options to keep in a new session. Paths are absolute, so that they are found from another directory.
pub(super) fn kept(values: &FlowValues) -> String {
    let absolute = |path: &PathBuf| fs::canonicalize(path).unwrap_or_else(|_| path.clone());
    let kept = Kept {
        profiles: values.profiles.as_ref().map(absolute),
        user: values.user,
        skills: values.skills.as_ref().map(absolute),
    };
    serde_json::to_string(&kept).unwrap_or_default()
}

/// Returns the options of a run: those that it is given, then those with which the session was started. The second part describes
/// what was added.
pub(super) fn completed(values: &FlowValues, session: Option<&Session>) -> (FlowValues, Option<String>) {
    let text = session.and_then(|session| session.metadata.get(FLOW_OPTIONS)?.as_str());
    let kept: Kept = text
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let mut values = values.clone();
    let mut added = Vec::new();
    let shown = |name: &str, path: &Path| format!("{name} {}", path.display());
    if let (None, Some(profiles)) = (&values.profiles, kept.profiles) {
        added.push(shown("--profiles", &profiles));
        values.profiles = Some(profiles);
        // The user of another file is not meant.
        values.user = values.user.or(kept.user);
    }
    if let (None, Some(skills)) = (&values.skills, kept.skills) {
        added.push(shown("--skills", &skills));
        values.skills = Some(skills);
    }
    let note = (!added.is_empty()).then(|| format!("note: as when the session began: {}", added.join(" ")));
    (values, note)
}

#[cfg(test)]
mod tests {
    use agcore::session::{NewSession, Timestamp};

    use super::*;

    fn values(profiles: Option<&str>, skills: Option<&str>) -> FlowValues {
        FlowValues {
            profiles: profiles.map(PathBuf::from),
            skills: skills.map(PathBuf::from),
            ..FlowValues::default()
        }
    }

    #[test]
    fn given_options_come_before_kept_ones() {
        let mut session = NewSession::new("s").create(Timestamp::default());
        let user = Uuid::nil();
        let first = FlowValues {
            user: Some(user),
            ..values(Some("no-such-profiles.toml"), Some("no-such-skills"))
        };
        session.metadata.insert(FLOW_OPTIONS.to_owned(), kept(&first).into());
        let (all, note) = completed(&values(None, None), Some(&session));
        assert_eq!(
            (&all.profiles, &all.skills, all.user),
            (&first.profiles, &first.skills, Some(user))
        );
        assert!(
            note.unwrap()
                .ends_with("--profiles no-such-profiles.toml --skills no-such-skills")
        );
        let (other, note) = completed(&values(Some("b.toml"), None), Some(&session));
        assert_eq!((other.profiles, other.user), (Some("b.toml".into()), None));
        assert!(note.unwrap().ends_with("began: --skills no-such-skills"));
        let (none, note) = completed(&values(None, None), None);
        assert_eq!((none.profiles, none.skills, note), (None, None, None));
    }
}

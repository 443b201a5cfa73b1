//! [`change_rules`]: adds an entry to `[permissions]` of a settings file, or removes one.

use std::{fs, io, path::Path};

use agcore::tools::RuleState;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::{atomic_file, file_lock::FileLock, settings::permissions_of};

/// A change of the entries in `[permissions]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleChange {
    /// The entry is added.
    Add,
    /// The entry is removed.
    Remove,
}

/// Changes the entries of a settings file, which is created if it does not exist. Everything else in it stays as it is.
///
/// # Errors
/// When the file cannot be read or written, or is not valid, before or after the change.
pub fn change_rules(path: &Path, change: RuleChange, state: RuleState, entry: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let _lock = FileLock::of(path).map_err(failed)?;
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let after = changed(&before, change, state, entry).map_err(|reason| format!("{}: {reason}", path.display()))?;
    permissions_of(path, &after).map_err(|error| error.to_string())?;
    match path.exists() {
        true => atomic_file::replace(path, &after).map_err(failed),
        false => atomic_file::create(path, &after).map_err(failed),
    }
}

fn changed(text: &str, change: RuleChange, state: RuleState, entry: &str) -> Result<String, String> {
    // The message of an error could quote a key.
    let mut document: DocumentMut = text
        .parse()
        .map_err(|_| "it is not valid TOML; correct it first".to_owned())?;
    let name = &state.to_string();
    let table = document
        .entry("permissions")
        .or_insert_with(|| Item::Table(Table::new()))
        .as_table_like_mut()
        .ok_or("`permissions` is not a table; correct it first")?;
    let list = table.entry(name).or_insert_with(|| value(Array::new()));
    let list = list
        .as_array_mut()
        .ok_or_else(|| format!("`permissions.{name}` is not a list; correct it first"))?;
    let is_entry = |item: &toml_edit::Value| item.as_str() == Some(entry);
    let contains = list.iter().any(is_entry);
    match (change, contains) {
        (RuleChange::Add, true) => return Err("it contains the rule already".to_owned()),
        (RuleChange::Add, false) => list.push(entry),
        (RuleChange::Remove, true) => list.retain(|item| !is_entry(item)),
        (RuleChange::Remove, false) => return Err("it does not contain the rule any more".to_owned()),
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_added_and_removed_and_all_else_stays() {
        let text = "model = 'm' # mine\n\n[permissions]\nallow = ['a', # first\n  'b']\n\n[retry]\nbase = '1s'\n";
        let added = changed(text, RuleChange::Add, RuleState::Deny, "shell(rm *)").unwrap();
        assert!(
            added.starts_with("model = 'm' # mine\n\n[permissions]\nallow = ['a', # first\n  'b']\n"),
            "{added}"
        );
        assert!(
            added.contains("deny = [\"shell(rm *)\"]\n") && added.ends_with("[retry]\nbase = '1s'\n"),
            "{added}"
        );
        let more = changed(&added, RuleChange::Add, RuleState::Allow, "c*").unwrap();
        let removed = changed(&more, RuleChange::Remove, RuleState::Allow, "a").unwrap();
        let entries = permissions_of("agcore.toml".as_ref(), &removed).unwrap();
        let shown: Vec<&str> = entries.iter().map(crate::PermissionEntry::text).collect();
        assert_eq!(shown, ["b", "c*", "shell(rm *)"]);
        let new = changed("", RuleChange::Add, RuleState::Ask, "network").unwrap();
        assert_eq!(new, "[permissions]\nask = [\"network\"]\n");
        for (text, reason) in [
            ("x = ", "it is not valid TOML"),
            ("permissions = 1", "`permissions` is not a table"),
            ("[permissions]\nask = 'a'", "`permissions.ask` is not a list"),
            ("[permissions]\nask = ['a']", "it contains the rule already"),
        ] {
            let error = changed(text, RuleChange::Add, RuleState::Ask, "a").unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
        assert!(changed("", RuleChange::Remove, RuleState::Ask, "a").is_err());
    }

    #[test]
    fn a_file_is_written_only_if_it_stays_valid() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new").join("agcore.toml");
        change_rules(&path, RuleChange::Add, RuleState::Allow, "shell(git log *)").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "[permissions]\nallow = [\"shell(git log *)\"]\n");
        let error = change_rules(&path, RuleChange::Add, RuleState::Ask, "read_file(.env)").unwrap_err();
        assert!(error.contains("can only be allowed"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        change_rules(&path, RuleChange::Remove, RuleState::Allow, "shell(git log *)").unwrap();
        assert!(
            permissions_of(&path, &fs::read_to_string(&path).unwrap())
                .unwrap()
                .is_empty()
        );
    }
}

//! [`Wish`]: what the table `[permissions]` of the settings file says, entry by entry.

use std::{fmt, path::Path};

use agcore::tools::{Permission, Rule, RuleState, ToolSnapshot, permission::Glob};
use serde::Deserialize;
use toml::Spanned;

use super::{fault::Fault, place::place};

/// The names of the permissions that are nobody's own.
const PERMISSIONS: &str = "read, write, delete, network, shell, file_system, or your own as namespace:name";

/// The table `[permissions]` as it stands in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Lists {
    allow: Vec<Spanned<String>>,
    ask: Vec<Spanned<String>>,
    deny: Vec<Spanned<String>>,
}

/// One entry: what is allowed, asked about or denied.
#[derive(Debug)]
pub(crate) struct Wish {
    /// What it says.
    pub(crate) state: RuleState,
    /// Of which calls.
    pub(crate) subject: Subject,
    /// Where it stands: `agcore.toml:3:9`.
    place: String,
}

/// Of which calls an entry speaks.
#[derive(Debug)]
pub(crate) enum Subject {
    /// Of tools that need this.
    Permission(Permission),
    /// Of tools of this name.
    Tool(Glob),
}

impl Lists {
    /// Reads the entries.
    ///
    /// # Errors
    /// An entry that names nothing, with its place.
    pub(super) fn wishes(&self, path: &Path, text: &str) -> Result<Vec<Wish>, Fault> {
        let lists = [
            (RuleState::Allow, &self.allow),
            (RuleState::Ask, &self.ask),
            (RuleState::Deny, &self.deny),
        ];
        let entries = lists
            .into_iter()
            .flat_map(|(state, entries)| entries.iter().map(move |entry| (state, entry)));
        let wish = |(state, entry): (RuleState, &Spanned<String>)| {
            let place = format!("{}{}", path.display(), place(text, entry.span().start));
            match subject(entry.get_ref()) {
                Ok(subject) => Ok(Wish { state, subject, place }),
                Err(why) => Err(Fault(format!("{place}: {why}"))),
            }
        };
        entries.map(wish).collect()
    }
}

/// A word that is a permission speaks of it; all else is a tool's name, or a pattern of such.
fn subject(text: &str) -> Result<Subject, String> {
    if text.trim().is_empty() {
        return Err(format!(
            "the entry is empty; write a tool's name, a pattern, or a permission: {PERMISSIONS}"
        ));
    }
    match text.parse::<Permission>() {
        Ok(permission) => Ok(Subject::Permission(permission)),
        // No tool's name is meant by what has the form of a permission.
        // What looks like a setting may be one in a text whose quotes are wrong, and hold a key.
        Err(_) if text.contains(['=', '"', '\'', '\n']) => Err(format!("the entry is no name; use {PERMISSIONS}")),
        Err(error) if text.contains(':') => Err(error.message().to_owned()),
        Err(_) => Ok(Subject::Tool(Glob::new(text))),
    }
}

impl Wish {
    /// The wish as a rule that bears the place as its name.
    pub(crate) fn rule(&self) -> Rule {
        let rule = match &self.subject {
            Subject::Permission(permission) => Rule::permission(self.state, permission.clone()),
            Subject::Tool(tool) => Rule::tool(self.state, tool.clone()),
        };
        rule.with_name(&self.place)
    }

    /// Checks that a name without wildcards is one of these tools. A pattern may be for tools to come.
    ///
    /// # Errors
    /// The name, its place, and what there is.
    pub(crate) fn check(&self, tools: &ToolSnapshot) -> Result<(), Fault> {
        let Subject::Tool(glob) = &self.subject else {
            return Ok(());
        };
        let name = glob.as_str();
        if name.contains(['*', '?']) || tools.get(name).is_some() {
            return Ok(());
        }
        let names: Vec<&str> = tools.tools().iter().map(|tool| tool.name().as_str()).collect();
        Err(Fault(format!(
            "{self}: there is neither a tool nor a permission `{name}`\n\
             The tools are {}; the permissions {PERMISSIONS}.",
            names.join(", ")
        )))
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

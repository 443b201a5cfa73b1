//! The table `[hooks]`: commands that run at points of a turn.

use std::fmt;

use serde::Deserialize;

/// The events by their names, with the commands of each.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookTable {
    /// Before a tool runs.
    #[serde(default, rename = "PreToolUse")]
    pre_tool_use: Vec<HookEntry>,
    /// After a tool has run.
    #[serde(default, rename = "PostToolUse")]
    post_tool_use: Vec<HookEntry>,
    /// Before a message of the user is sent.
    #[serde(default, rename = "UserPromptSubmit")]
    user_prompt_submit: Vec<HookEntry>,
    /// After a turn.
    #[serde(default, rename = "Stop")]
    stop: Vec<HookEntry>,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookEntry {
    /// A regular expression for the whole name of the tool. By default, all tools are meant.
    #[serde(default)]
    pub matcher: Option<String>,
    /// The command line.
    pub command: String,
    /// The time that it may take.
    #[serde(default)]
    pub timeout_seconds: Option<u32>,
}

/// A point of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEvent {
    /// Before a tool runs.
    PreToolUse,
    /// After a tool has run.
    PostToolUse,
    /// Before a message of the user is sent.
    UserPromptSubmit,
    /// When the model has answered.
    Stop,
}

impl HookEvent {
    /// Returns the name in settings, and in the input of commands.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
        }
    }
}

impl HookTable {
    /// Returns the commands with their events, in the order in which they run.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (HookEvent, &HookEntry)> {
        let lists = [
            (HookEvent::PreToolUse, &self.pre_tool_use),
            (HookEvent::PostToolUse, &self.post_tool_use),
            (HookEvent::UserPromptSubmit, &self.user_prompt_submit),
            (HookEvent::Stop, &self.stop),
        ];
        lists
            .into_iter()
            .flat_map(|(event, entries)| entries.iter().map(move |entry| (event, entry)))
    }
}

impl fmt::Display for HookEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.matcher {
            Some(matcher) => write!(f, "for {matcher}: `{}`", self.command),
            None => write!(f, "`{}`", self.command),
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_document::Format;

    use super::*;

    #[test]
    fn commands_are_listed_by_event() {
        let text = "[[Stop]]\ncommand = 'b'\n[[PreToolUse]]\nmatcher = 'shell'\ncommand = 'a'\ntimeout_seconds = 5\n";
        let table: HookTable = Format::Toml.parse(text).unwrap().read().unwrap();
        let listed: Vec<String> = table
            .entries()
            .map(|(event, entry)| format!("{} {entry}", event.as_str()))
            .collect();
        assert_eq!(listed, ["PreToolUse for shell: `a`", "Stop `b`"]);
        for wrong in [
            "[[PreTool]]\ncommand = 'a'\n",
            "[[Stop]]\n",
            "[[Stop]]\ncommand = 'a'\nshell = 'b'\n",
        ] {
            assert!(
                Format::Toml
                    .parse(wrong)
                    .and_then(|root| root.read::<HookTable>())
                    .is_err(),
                "{wrong}"
            );
        }
    }
}

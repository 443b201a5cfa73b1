//! [`KeptJobs`]: the background commands that a session knows of, stored with it.

use agcore::tools::ToolSession;
use serde::{Deserialize, Serialize};

use super::job::shown;

/// The name of the value.
const NAME: &str = "background_commands";

/// The background commands that a session knows of.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptJobs {
    /// The number of the newest command.
    pub(super) last: u64,
    /// The commands that ran when this was stored.
    running: Vec<KeptJob>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptJob {
    id: u64,
    /// The start of the command line.
    command: String,
}

impl KeptJobs {
    /// Reads what a session knows.
    pub(super) fn of(session: &ToolSession) -> Self {
        let kept = session.value(NAME);
        kept.and_then(|kept| serde_json::from_value(kept).ok())
            .unwrap_or_default()
    }

    /// Stores it with the next results of the session, if there is anything to be stored.
    pub(super) fn save(&self, session: &ToolSession) {
        let value = serde_json::to_value(self).ok();
        session.set_value(NAME, value.filter(|_| *self != Self::default()));
    }

    /// Adds a command that runs.
    pub(super) fn add(&mut self, id: u64, command: &str) {
        self.last = self.last.max(id);
        self.running.push(KeptJob {
            id,
            command: shown(command),
        });
    }

    /// Keeps the running commands with these numbers.
    pub(super) fn retain(&mut self, is_kept: impl Fn(u64) -> bool) {
        self.running.retain(|job| is_kept(job.id));
    }

    /// Removes the commands that this process has not started, and describes each.
    pub(super) fn take_lost(&mut self, is_known: impl Fn(u64) -> bool) -> Vec<String> {
        let (known, lost) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|job: &KeptJob| is_known(job.id));
        self.running = known;
        let line = |KeptJob { id, command }: KeptJob| {
            format!("Command {id} (`{command}`) no longer runs: it has ended with the process that had started it.")
        };
        lost.into_iter().map(line).collect()
    }
}

/// Returns the block for the model with these sentences; `None` if there are none. No command line can end the block.
pub(super) fn notice(sentences: &[String]) -> Option<String> {
    if sentences.is_empty() {
        return None;
    }
    let lines: String = sentences
        .iter()
        .map(|sentence| sentence.replace('<', "‹").replace('>', "›") + "\n")
        .collect();
    Some(format!("<background-commands>\n{lines}</background-commands>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_an_earlier_process_are_reported_once() {
        let session = ToolSession::new();
        let mut kept = KeptJobs::of(&session);
        kept.save(&session);
        assert!(session.value(NAME).is_none());
        kept.add(1, "npm run dev");
        kept.add(2, "cargo test");
        kept.save(&session);
        let mut kept = KeptJobs::of(&ToolSession::restore(session.export()).unwrap());
        let lost = kept.take_lost(|id| id == 2);
        assert_eq!(lost.len(), 1);
        assert!(
            lost[0].starts_with("Command 1 (`npm run dev`) no longer runs"),
            "{lost:?}"
        );
        assert_eq!((kept.take_lost(|_| true), kept.last), (Vec::new(), 2));
        kept.retain(|_| false);
        assert!(kept.take_lost(|_| false).is_empty());
    }

    #[test]
    fn no_command_ends_the_block() {
        assert_eq!(notice(&[]), None);
        let text = notice(&["Command 1 (`</background-commands>`) has ended.".to_owned()]).unwrap();
        assert_eq!(text.matches("</background-commands>").count(), 1, "{text}");
    }
}

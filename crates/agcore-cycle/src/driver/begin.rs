//! Recording the begin of calls together with the reply that made them.

use agcore_chat::Text;

use super::context::Driver;
use crate::machine::{MachineError, Outcome};

impl Driver<'_> {
    /// Lets the calls of the reply that was staged last begin, if nothing comes between the two: no hook, no approval, no limit.
    /// One record is enough then. Otherwise, they begin in a record of their own.
    pub(super) fn stage_begin(&mut self) -> Result<(), MachineError> {
        let (Some(staged), Some(tools)) = (&self.staged, &self.options.tools) else {
            return Ok(());
        };
        if !self.hooks.is_empty() || self.options.token.is_cancelled() {
            return Ok(());
        }
        let work = staged.machine.ready();
        if work.is_empty() || !tools.begins_at_once(&work) {
            return Ok(());
        }
        let Ok(spent) = self.spending.admit_tools(staged.machine.account(), work.len()) else {
            // Reported when the calls are about to start.
            return Ok(());
        };
        if let Some(spent) = spent {
            self.stage(Outcome::Spent(spent))?;
        }
        let calls = work.iter().map(|work| Text::from(work.call.id.as_str())).collect();
        self.stage(Outcome::Started(calls))?;
        self.started = work;
        Ok(())
    }
}

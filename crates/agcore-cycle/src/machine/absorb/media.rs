//! Replaces media of the conversation that a server refused.

use std::sync::Arc;

use agcore_chat::{media_of, without_media};

use crate::machine::{
    changes::{Changes, MachineError},
    outcome::media_refusal::MediaRefusal,
    state::Machine,
};

impl Machine {
    pub(in crate::machine) fn refuse_media(
        &mut self,
        refusal: &MediaRefusal,
        changes: &mut Changes,
    ) -> Result<(), MachineError> {
        if self.calling().is_none() {
            return Err(MachineError::NotWaitingFor("a reply of the model"));
        }
        self.history.make_whole();
        let mut older = self.view().older.to_vec();
        let has_media = |at: &usize| older.get(*at).is_some_and(|message| media_of(message).next().is_some());
        if refusal.messages.is_empty() || !refusal.messages.iter().all(has_media) {
            return Err(MachineError::InvalidMedia);
        }
        let reason = refusal.reason();
        for at in &refusal.messages {
            if let Some(without) = without_media(&older[*at], |_| false, &reason) {
                older[*at] = Arc::new(without);
            }
        }
        changes.rewritten |= self.set_older(older);
        Ok(())
    }
}

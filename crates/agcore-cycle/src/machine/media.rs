//! [`MediaRefusal`]: media of the conversation that a server refused, and their replacement.

use std::sync::Arc;

use agcore_chat::{Fault, media_of, text::clip, without_media};
use serde::{Deserialize, Serialize};

use super::{
    changes::{Changes, MachineError},
    state::Machine,
};

/// The longest quotation of a server in a note, in bytes.
const MAX_REASON: usize = 200;

/// Media of the conversation that a server refused. Notes take their place for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MediaRefusal {
    /// The refusal.
    pub fault: Fault,
    /// The indices of the messages whose media are replaced, in [`View::older`](super::View::older).
    pub messages: Vec<usize>,
}

impl MediaRefusal {
    /// Creates a refusal of the media of these messages.
    pub fn new(fault: Fault, messages: Vec<usize>) -> Self {
        Self { fault, messages }
    }

    /// Returns the end of the notes that take the place of the media.
    pub fn reason(&self) -> String {
        format!("the server refused it ({})", clip(&self.fault.message, MAX_REASON))
    }
}

impl Machine {
    pub(super) fn refuse_media(&mut self, refusal: &MediaRefusal, changes: &mut Changes) -> Result<(), MachineError> {
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

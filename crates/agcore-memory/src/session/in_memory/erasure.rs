//! Erasing sessions.

use super::{State, stored::Stored};
use crate::timestamp::Timestamp;

impl State {
    /// Erases a session. Returns whether there was one that was not erased already.
    pub(super) fn erase(&mut self, tenant: &str, id: &str, now: Timestamp) -> bool {
        let Some(sessions) = self.tenants.get_mut(tenant) else {
            return false;
        };
        if sessions.get(id).is_none_or(|stored| stored.session.is_erased()) {
            return false;
        }
        let Some(stored) = sessions.remove(id) else {
            return false;
        };
        self.streams.delete(&stored.session.stream());
        let mut number = sessions.len();
        let id = loop {
            let id = format!("erased-{number}");
            if !sessions.contains_key(&id) {
                break id;
            }
            number += 1;
        };
        sessions.insert(id.clone(), stored.erased(&id, now));
        true
    }
}

impl Stored {
    fn erased(self, id: &str, now: Timestamp) -> Self {
        let mut erased = Self::new(self.session.erased(id, now));
        let messages = self.conversation.into_iter().chain(self.audit);
        for message in messages.map(|message| {
            let id = format!("{id}/{}", message.seq);
            message.erased(id)
        }) {
            erased.message_ids.insert(message.id.clone());
            match message.seq > 0 {
                true => erased.conversation.push(message),
                false => erased.audit.push(message),
            }
        }
        erased.last_event = self.last_event;
        erased
    }
}

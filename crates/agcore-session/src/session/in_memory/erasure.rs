//! Erasing sessions.

use agcore_chat::Timestamp;

use super::{State, stored::Stored};

impl State {
    /// Erases a session with its parts. Returns whether there was one that was not erased already.
    pub(super) fn erase(&mut self, tenant: &str, id: &str, now: Timestamp) -> bool {
        let parts = self.parts_of(tenant, id);
        let Some(whole) = self.erase_one(tenant, id, now) else {
            return false;
        };
        for part in parts {
            // One that was erased before keeps its id.
            let part = self.erase_one(tenant, &part, now).unwrap_or(part);
            let sessions = self.tenants.get_mut(tenant);
            if let Some(stored) = sessions.and_then(|sessions| sessions.get_mut(&part)) {
                stored.session.part_of = Some(whole.clone());
            }
        }
        true
    }

    /// Erases a session without its parts. Returns its new id.
    fn erase_one(&mut self, tenant: &str, id: &str, now: Timestamp) -> Option<String> {
        let sessions = self.tenants.get_mut(tenant)?;
        if sessions.get(id)?.session.is_erased() {
            return None;
        }
        let stored = sessions.remove(id)?;
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
        Some(id)
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

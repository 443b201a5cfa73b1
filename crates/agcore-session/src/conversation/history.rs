//! [`History`]: the messages of a conversation, as the result of its changes.

use std::{iter::zip, sync::Arc};

use agcore_chat::{Message, SequenceError, SequenceErrorKind, validate_messages};

use super::change::{Change, Numbered, Slot};

/// The messages of a conversation. Pure data: what the journal contains is the only source of it.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    messages: Vec<Arc<Message>>,
    /// The number of each message.
    ids: Vec<u64>,
    /// The number of the next message.
    next: u64,
    /// The number of messages that can be sent; those after it are a round whose calls are not answered yet.
    sendable: usize,
}

impl History {
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn sendable(&self) -> &[Arc<Message>] {
        &self.messages[..self.sendable]
    }

    pub(super) fn open_round(&self) -> &[Arc<Message>] {
        &self.messages[self.sendable..]
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the changes that append messages.
    ///
    /// # Errors
    /// When the conversation could never be sent with these messages.
    pub(super) fn appending(&self, messages: Vec<Arc<Message>>) -> Result<Vec<Change>, SequenceError> {
        // Only the newest round matters: those before it are complete.
        let start = self.newest_round();
        let round: Vec<_> = self.messages[start..].iter().chain(&messages).collect();
        let round: Vec<&Message> = round.into_iter().map(|message| &**message).collect();
        sendable_len(&round).map_err(|mut error| {
            error.index += start;
            error
        })?;
        let numbered = zip(self.next.., messages).map(|(id, message)| Change::Message(Numbered { id, message }));
        Ok(numbered.collect())
    }

    /// Returns the changes that replace all messages: nothing, messages that are appended, or a new list.
    ///
    /// # Errors
    /// When the new list could never be sent.
    pub(super) fn replacing(&self, messages: Vec<Arc<Message>>) -> Result<Vec<Change>, SequenceError> {
        let is_same = |(one, other): (&Arc<Message>, &Arc<Message>)| is_same(one, other);
        let is_longer = messages.len() >= self.messages.len();
        if is_longer && zip(&messages, &self.messages).all(is_same) {
            return self.appending(messages[self.messages.len()..].to_vec());
        }
        sendable_len(&messages)?;
        Ok(vec![Change::Compaction(self.slots(messages))])
    }

    /// Compares a new list with this one. Messages that were kept are in the same order in both.
    fn slots(&self, messages: Vec<Arc<Message>>) -> Vec<Slot> {
        let (mut from, mut next) = (0, self.next);
        let slot = |message: Arc<Message>| {
            let kept = self.messages[from..].iter().position(|known| is_same(known, &message));
            if let Some(at) = kept {
                from += at + 1;
                return Slot::Kept(self.ids[from - 1]);
            }
            let id = next;
            next += 1;
            Slot::New(Numbered { id, message })
        };
        messages.into_iter().map(slot).collect()
    }

    /// Applies changes of this history, and cuts off the turns before the newest ones.
    ///
    /// # Errors
    /// When the messages could never be sent. The history is then unspecified.
    pub(super) fn update(&mut self, changes: Vec<Change>, turns: Option<usize>) -> Result<(), SequenceError> {
        let is_append = changes.iter().all(|change| matches!(change, Change::Message(_)));
        for change in changes {
            // Changes refer to messages of this history.
            self.apply(change);
        }
        if is_append {
            self.validate_newest_round()?;
        } else {
            self.validate()?;
        }
        turns.into_iter().for_each(|turns| self.keep_turns(turns));
        Ok(())
    }

    /// Applies a change. Returns `None`, with an unspecified list of messages, if it does not fit.
    pub(super) fn apply(&mut self, change: Change) -> Option<()> {
        match change {
            Change::Message(message) => self.append(message),
            Change::Compaction(slots) => {
                let old = std::mem::take(self);
                self.next = old.next;
                let mut known = zip(old.ids, old.messages);
                for slot in slots {
                    match slot {
                        Slot::Kept(id) => {
                            let (_, message) = known.find(|(known, _)| *known == id)?;
                            self.ids.push(id);
                            self.messages.push(message);
                        }
                        Slot::New(message) => self.append(message),
                    }
                }
            }
            Change::Cleared(next) => {
                *self = Self::default();
                self.next = next;
            }
            Change::Snapshot { next, messages } => {
                *self = Self::default();
                messages.into_iter().for_each(|message| self.append(message));
                self.next = self.next.max(next);
            }
        }
        Some(())
    }

    fn append(&mut self, Numbered { id, message }: Numbered) {
        self.next = self.next.max(id.saturating_add(1));
        self.ids.push(id);
        self.messages.push(message);
    }

    /// Finds out which messages can be sent, after changes.
    ///
    /// # Errors
    /// When the messages can never be sent.
    pub(super) fn validate(&mut self) -> Result<(), SequenceError> {
        self.sendable = sendable_len(&self.messages)?;
        Ok(())
    }

    /// Does the same as [`validate`](Self::validate) after messages were appended, without looking at older ones.
    fn validate_newest_round(&mut self) -> Result<(), SequenceError> {
        let start = self.newest_round();
        self.sendable = start + sendable_len(&self.messages[start..])?;
        Ok(())
    }

    /// Removes the turns before the newest ones. The instructions at the beginning stay.
    pub(super) fn keep_turns(&mut self, turns: usize) {
        let is_user = |message: &Arc<Message>| matches!(**message, Message::User(_));
        let borders = self.messages.iter().enumerate().rev();
        let mut borders = borders.filter(|(_, message)| is_user(message)).map(|(at, _)| at);
        let Some(cut) = borders.nth(turns.saturating_sub(1)) else {
            return;
        };
        // An older turn has to exist: what precedes the first one belongs to it.
        if borders.next().is_none() {
            return;
        }
        let leading = self
            .messages
            .iter()
            .take_while(|message| message.is_instruction())
            .count();
        self.messages.drain(leading..cut);
        self.ids.drain(leading..cut);
        self.sendable -= cut - leading;
    }

    /// Returns the change that contains the whole state.
    pub(super) fn snapshot(&self) -> Change {
        let numbered = zip(&self.ids, &self.messages).map(|(id, message)| Numbered {
            id: *id,
            message: Arc::clone(message),
        });
        Change::Snapshot {
            next: self.next,
            messages: numbered.collect(),
        }
    }

    /// Returns the index of the newest message that is not the result of a call.
    fn newest_round(&self) -> usize {
        let is_result = |message: &Arc<Message>| matches!(**message, Message::Tool(_));
        self.messages
            .iter()
            .rposition(|message| !is_result(message))
            .unwrap_or(0)
    }
}

/// Returns the number of messages that can be sent: all, or those before a round that waits for results of calls.
fn sendable_len<M: std::borrow::Borrow<Message>>(messages: &[M]) -> Result<usize, SequenceError> {
    match validate_messages(messages) {
        Ok(()) => Ok(messages.len()),
        Err(error) => match error.kind {
            SequenceErrorKind::Empty => Ok(0),
            SequenceErrorKind::Unanswered(_)
                if messages[error.index + 1..]
                    .iter()
                    .all(|message| matches!(message.borrow(), Message::Tool(_))) =>
            {
                Ok(error.index)
            }
            _ => Err(error),
        },
    }
}

fn is_same(one: &Arc<Message>, other: &Arc<Message>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

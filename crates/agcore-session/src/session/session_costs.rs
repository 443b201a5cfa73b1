//! The model calls of a whole session.

use super::{MessageFilter, Session, SessionStore, costs::CostEntry};
use crate::error::SessionError;

/// The number of messages that are read at once.
const PAGE: u64 = 500;

impl CostEntry {
    /// Returns the model calls of all messages of a session, also of those that only document calls, such as summaries.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// As [`SessionReader::messages`](crate::SessionReader::messages).
    pub async fn of_session(store: &dyn SessionStore, session: &Session) -> Result<Vec<Self>, SessionError> {
        let mut entries = Vec::new();
        for part in [MessageFilter::new(), MessageFilter::audit()] {
            let mut after = 0;
            loop {
                let filter = part.clone().after(after).with_first(PAGE);
                let messages = store.messages(session.tenant(), &session.id, &filter).await?;
                entries.extend(messages.iter().flat_map(Self::of));
                match messages.last() {
                    Some(last) if messages.len() as u64 == PAGE => after = last.seq.unsigned_abs(),
                    _ => break,
                }
            }
        }
        Ok(entries)
    }
}

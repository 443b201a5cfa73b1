//! [`Prepared`]: a write of a log together with those of others.

use std::sync::Arc;

use agcore_session::{Committed, SessionError, SessionEvents};
use tokio::sync::OwnedMutexGuard;

use super::{InDoubt, RunLog, Writer};

/// A write of previews together with those of other logs. Until its end, nothing else of the log is written. If this is dropped before
/// the end, it is unknown whether the write took place.
pub(in crate::log) struct Prepared {
    log: Arc<RunLog>,
    writer: OwnedMutexGuard<Writer>,
}

impl RunLog {
    /// Prepares a write of the previews together with those of other logs. Returns `None` if they must be written alone, by
    /// [`flush`](Self::flush), or if there are none.
    pub(in crate::log) fn prepare(self: &Arc<Self>) -> Option<(Prepared, SessionEvents)> {
        let mut writer = Arc::clone(&self.writer).try_lock_owned().ok()?;
        if writer.in_doubt.is_some() {
            return None;
        }
        self.take_pending(&mut writer);
        if !writer.messages.is_empty() || writer.first.is_empty() {
            return None;
        }
        let events = writer.first.iter().map(|event| event.to_new_event(&self.run));
        let session = (self.job.actor.tenant.clone(), self.thread.clone());
        let events = SessionEvents::new(session, writer.end, events.collect::<Result<_, _>>().ok()?);
        writer.in_doubt = Some(InDoubt::new(None));
        let log = Arc::clone(self);
        Some((Prepared { log, writer }, events))
    }
}

impl Prepared {
    /// Takes over the result of the write. Returns the log, and the error if it was not written. Then the previews are kept.
    pub(in crate::log) fn finish(
        mut self,
        result: Result<Committed, SessionError>,
    ) -> (Arc<RunLog>, Result<(), SessionError>) {
        let result = result.map(|committed| self.log.written(&mut self.writer, &committed, Vec::new()));
        (self.log, result)
    }
}

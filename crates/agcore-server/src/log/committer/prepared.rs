//! [`PreparedWrite`]: a write of the reports of a run together with those of others.

use std::sync::Arc;

use agcore_session::{Committed, SessionError, SessionEvents};
use tokio::sync::OwnedMutexGuard;

use super::{Committer, InDoubt, Writer};

/// A write of reports together with those of other runs. Until its end, nothing else of the run is written. If this is
/// dropped before the end, it is unknown whether the write took place.
pub(in crate::log) struct PreparedWrite(OwnedMutexGuard<Writer>);

impl Committer {
    /// Prepares a write of the reports together with those of other runs. Returns `None` if they must be written alone,
    /// by [`append`](Self::append), or if there are none.
    pub(in crate::log) fn prepare(&self) -> Option<(PreparedWrite, SessionEvents)> {
        let mut writer = Arc::clone(&self.writer).try_lock_owned().ok()?;
        if writer.in_doubt.is_some() {
            return None;
        }
        self.take_reports(&mut writer);
        if !writer.messages.is_empty() || writer.first.is_empty() {
            return None;
        }
        let events = writer.first.iter().map(|event| event.to_new_event(&self.run));
        let session = (self.job.actor.tenant.clone(), self.thread.clone());
        let mut events = SessionEvents::new(session, writer.end, events.collect::<Result<_, _>>().ok()?);
        events.fence.clone_from(&self.target.fence);
        writer.in_doubt = Some(InDoubt::new(None));
        Some((PreparedWrite(writer), events))
    }

    /// Takes over the result of a prepared write.
    ///
    /// # Errors
    /// The error of the write. The reports are kept then.
    pub(in crate::log) fn finish(
        &self,
        mut prepared: PreparedWrite,
        result: Result<Committed, SessionError>,
    ) -> Result<(), SessionError> {
        self.written(&mut prepared.0, &result?, Vec::new());
        Ok(())
    }
}

//! [`Unfinished`]: a write that may end after the code that waited for it was dropped.

use std::{future::Future, pin::Pin};

use agcore_session::{Committed, SessionError};

/// A write that may end after the code that waited for it was dropped.
///
/// A database may carry out a write whose future was dropped later than what it is asked next: the write waits in a queue, or is on
/// its way. So the future is kept, and finished before anything else is asked.
#[derive(Default)]
pub(super) struct Unfinished(Option<Write>);

type Write = Pin<Box<dyn Future<Output = Result<Committed, SessionError>> + Send>>;

impl Unfinished {
    /// Carries out a write. If this is dropped, [`finish`](Self::finish) continues.
    pub(super) async fn carry_out(
        &mut self,
        write: impl Future<Output = Result<Committed, SessionError>> + Send + 'static,
    ) -> Result<Committed, SessionError> {
        let result = self.0.insert(Box::pin(write)).await;
        self.0 = None;
        result
    }

    /// Waits for the end of the write, if there is one.
    ///
    /// Cancel safe: the write is kept until it has ended.
    pub(super) async fn finish(&mut self) {
        if let Some(write) = &mut self.0 {
            // The store knows whether it took place.
            let _ = write.await;
            self.0 = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_write_that_was_dropped_on_the_way_is_finished() {
        let (database, answered) = oneshot::channel::<Committed>();
        let (ends, mut ended) = oneshot::channel();
        let mut unfinished = Unfinished::default();
        let write = async move {
            let committed = answered.await.unwrap();
            ends.send(()).unwrap();
            Ok(committed)
        };
        {
            let mut waiting = pin!(unfinished.carry_out(write));
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        assert!(unfinished.finish().now_or_never().is_none());
        assert!(ended.try_recv().is_err());
        database.send(Committed::new(0, Vec::new(), vec![1])).unwrap();
        unfinished.finish().await;
        ended.try_recv().unwrap();
        // Nothing is left to wait for.
        unfinished.finish().now_or_never().unwrap();
    }
}

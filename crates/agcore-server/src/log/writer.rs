//! [`Writer`]: what is written next to a run, in which order.

use std::{collections::BTreeMap, future::Future, pin::Pin};

use agcore_memory::{
    MemoryError,
    session::{Committed, NewMessage},
};

use super::{
    event::LogEvent,
    merge::merge,
    pending::Pending,
    translator::{LogInput, Translator},
};

/// The events that are written next. Only one write at a time uses it.
///
/// Previews are translated once, and are written first until a write has succeeded. What else a write contains is not kept: the code that
/// wants it written does it again.
pub(super) struct Writer {
    /// The end of the stream of the session.
    pub(super) end: u64,
    /// Everything that it has translated is written, or among the first events.
    pub(super) translator: Translator,
    /// Events that are written first.
    pub(super) first: Vec<LogEvent>,
    /// Messages that are written first.
    pub(super) messages: Vec<NewMessage>,
    /// Whether something that is written first must be written before the next checkpoint.
    pub(super) is_needed: bool,
    /// A write whose outcome is unknown.
    pub(super) in_doubt: Option<InDoubt>,
    /// The memory of the previews that were written last, for the next ones.
    pub(super) spare: Vec<Pending>,
}

/// A write of the first events and messages, and perhaps of others, whose outcome is unknown.
pub(super) struct InDoubt {
    /// The translator to use if it took place, unless nothing else was written.
    translator: Option<Translator>,
    /// The write, if it may still be taking place because the code that waited for it was dropped.
    write: Option<Write>,
}

type Write = Pin<Box<dyn Future<Output = Result<Committed, MemoryError>> + Send>>;

impl InDoubt {
    pub(super) fn new(translator: Option<Translator>) -> Self {
        Self {
            translator,
            write: None,
        }
    }

    /// Carries out the write. If this is dropped, [`finish`](Self::finish) continues: a database may end a write whose future was
    /// dropped later than it reads something else.
    pub(super) async fn carry_out(
        &mut self,
        write: impl Future<Output = Result<Committed, MemoryError>> + Send + 'static,
    ) -> Result<Committed, MemoryError> {
        let result = self.write.insert(Box::pin(write)).await;
        self.write = None;
        result
    }

    /// Waits for the end of the write.
    pub(super) async fn finish(&mut self) {
        if let Some(write) = &mut self.write {
            // The store knows whether it took place.
            let _ = write.await;
            self.write = None;
        }
    }
}

impl Writer {
    pub(super) fn new(end: u64, translator: Translator, first: Vec<LogEvent>) -> Self {
        Self {
            end,
            translator,
            first,
            messages: Vec::new(),
            is_needed: false,
            in_doubt: None,
            spare: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.messages.is_empty()
    }

    /// Adds what is pending to what is written first.
    pub(super) fn add(&mut self, pending: impl IntoIterator<Item = Pending>, millis: u64) {
        let Self {
            translator,
            first,
            messages,
            is_needed,
            ..
        } = self;
        let mut sources = BTreeMap::new();
        let shown = pending.into_iter().filter_map(|pending| {
            *is_needed |= pending.is_needed;
            messages.extend(pending.message.map(|message| *message));
            sources.extend(pending.source);
            pending.input
        });
        first.extend(translator.report(merge(shown), millis));
        let sources = sources.into_iter().map(|(name, seq)| LogEvent::Source { name, seq });
        first.extend(sources);
    }

    /// Translates what else is written. Returns the events, and the translator to use if they are written.
    pub(super) fn translate(&self, inputs: Vec<LogInput>, millis: u64) -> (Vec<LogEvent>, Option<Translator>) {
        let (mut translator, mut events) = (None, Vec::new());
        for input in inputs {
            let translator = translator.get_or_insert_with(|| self.translator.clone());
            events.extend(translator.translate(input, millis));
        }
        (events, translator)
    }

    /// Notes that the last write took place. Returns the first events, which it has written.
    pub(super) fn written(&mut self) -> Vec<LogEvent> {
        self.messages.clear();
        self.is_needed = false;
        if let Some(translator) = self.in_doubt.take().and_then(|write| write.translator) {
            self.translator = translator;
        }
        std::mem::take(&mut self.first)
    }

    /// Forgets what is not written, and continues with the events that are.
    pub(super) fn restart(&mut self, translator: Translator, first: Vec<LogEvent>) {
        *self = Self::new(self.end, translator, first);
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
        let mut in_doubt = InDoubt::new(None);
        let write = async move {
            let committed = answered.await.unwrap();
            ends.send(()).unwrap();
            Ok(committed)
        };
        {
            let mut waiting = pin!(in_doubt.carry_out(write));
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        assert!(in_doubt.finish().now_or_never().is_none());
        assert!(ended.try_recv().is_err());
        database.send(Committed::new(0, Vec::new(), vec![1])).unwrap();
        in_doubt.finish().await;
        ended.try_recv().unwrap();
        // Nothing is left to wait for.
        in_doubt.finish().now_or_never().unwrap();
    }
}

//! [`Writer`]: the events that are written next to a run, in order.

use std::collections::BTreeMap;

use agcore_session::NewMessage;

use super::{
    event::LogEvent,
    merge::merge,
    pending::Pending,
    translator::{LogInput, Translator},
    unfinished::Unfinished,
};

/// The events that are written next. Only one write at a time uses it.
///
/// Previews are translated once, and are written first until a write has succeeded. What else a write contains is not kept: the
/// code that wants it written does it again.
pub(super) struct Writer {
    /// The end of the stream of the session.
    pub(super) end: u64,
    /// Everything that it has translated is written, or among the first events.
    pub(super) translator: Translator,
    /// Events that are written first.
    pub(super) first: Vec<LogEvent>,
    /// Messages that are written first.
    pub(super) messages: Vec<NewMessage>,
    /// Whether one of the first events or messages must be written before the next checkpoint.
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
    /// The write, if it was not carried out together with those of others.
    pub(super) write: Unfinished,
}

impl InDoubt {
    pub(super) fn new(translator: Option<Translator>) -> Self {
        Self {
            translator,
            write: Unfinished::default(),
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

    /// Adds pending entries to the events and messages that are written first.
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

    /// Forgets the unwritten events and messages, and continues with this translator and these events.
    pub(super) fn restart(&mut self, translator: Translator, first: Vec<LogEvent>) {
        *self = Self::new(self.end, translator, first);
    }
}

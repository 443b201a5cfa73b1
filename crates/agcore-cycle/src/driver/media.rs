//! Media that the model cannot read: left out if that is known, and after a server has refused them.

use std::sync::Arc;

use agcore_chat::{ChatRequest, MediaKind, Message, media_of, without_media};
use agcore_llm::{Capabilities, LlmError, LlmErrorKind};

use super::environment::Scene;
use crate::{
    machine::{MediaRefusal, Purpose},
    recorder::RecordedFailure,
};

/// Words in lower case. A refusal of media contains at least one of them.
const WORDS: &[&str] = &[
    "image",
    "vision",
    "picture",
    "audio",
    "file",
    "media",
    "multimodal",
    "modalit",
    "pdf",
    "document",
    "mime",
    "mmproj",
    "content type",
    "content part",
    "attachment",
];

impl Scene<'_> {
    /// Returns the media that may be the reason of a failure: those that the model has not answered yet, else all, unless the
    /// input of the turn has some, too. Those of the input leave the conversation with a turn that fails.
    pub(super) fn refused_media(&self, error: &LlmError, purpose: Purpose) -> Option<MediaRefusal> {
        if purpose == Purpose::Summary || error.partial().is_some() || RecordedFailure::is_source_of(error) {
            return None;
        }
        let message = error.message().to_lowercase();
        let names_media = WORDS.iter().any(|word| message.contains(word));
        let is_likely = match error.kind() {
            LlmErrorKind::InvalidRequest | LlmErrorKind::ContentFilter | LlmErrorKind::Unknown => true,
            // Some servers fail on media that they cannot decode. A gateway without a server behind it has other codes.
            LlmErrorKind::Server => names_media || error.status() == Some(500),
            LlmErrorKind::NotFound | LlmErrorKind::Permission | LlmErrorKind::ContextLength { .. } => names_media,
            _ => false,
        };
        if !is_likely {
            return None;
        }
        let view = self.machine.view();
        let is_answer = |message: &Arc<Message>| message.as_assistant().is_some();
        let answered = view.older.iter().rposition(is_answer).map_or(0, |last| last + 1);
        let media = |from: usize| {
            let messages = view.older.iter().enumerate().skip(from);
            let messages = messages.filter(|(_, message)| media_of(message).next().is_some());
            messages.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let mut messages = media(answered);
        let is_in_input = || view.added.iter().any(|message| media_of(message).next().is_some());
        if messages.is_empty() && names_media && !is_in_input() {
            messages = media(0);
        }
        (!messages.is_empty()).then(|| MediaRefusal::new(error.fault(), messages))
    }

    /// Replaces refused media of a request by notes.
    pub(super) fn leave_out_refused(&self, request: &mut ChatRequest, refusal: &MediaRefusal) {
        let (start, reason) = (self.environment.settings.prelude.len(), refusal.reason());
        for at in &refusal.messages {
            if let Some(message) = request.messages.get_mut(start + at)
                && let Some(without) = without_media(message, |_| false, &reason)
            {
                *message = Arc::new(without);
            }
        }
    }

    /// Replaces media of the conversation that no route of the provider can read. The input of a turn stays as it is: its
    /// author should learn that the model cannot read it.
    pub(super) fn leave_out_unreadable(&self, request: &mut ChatRequest) {
        let readable = self.readable();
        if readable.all() {
            return;
        }
        let (start, count) = (self.environment.settings.prelude.len(), self.machine.view().older.len());
        for message in request.messages.iter_mut().skip(start).take(count) {
            if let Some(without) = without_media(message, |kind| readable.has(kind), "the model cannot read it") {
                *message = Arc::new(without);
            }
        }
    }

    fn readable(&self) -> Readable {
        let mut readable = Readable::default();
        self.environment
            .provider
            .visit_routes(&self.environment.settings.request.model, &mut |route| {
                readable.add(route.capabilities);
            });
        readable
    }
}

/// The media that at least one route of a provider can read.
#[derive(Default)]
struct Readable {
    images: bool,
    audio: bool,
    files: bool,
}

impl Readable {
    fn add(&mut self, capabilities: &Capabilities) {
        self.images |= capabilities.images;
        self.audio |= capabilities.audio;
        self.files |= capabilities.files;
    }

    fn all(&self) -> bool {
        self.images && self.audio && self.files
    }

    fn has(&self, kind: MediaKind) -> bool {
        match kind {
            MediaKind::Image => self.images,
            MediaKind::Audio => self.audio,
            MediaKind::File => self.files,
            _ => true,
        }
    }
}

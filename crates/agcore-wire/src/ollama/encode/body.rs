//! [`Body`]: the whole body, member by member in a fixed order.

use agcore_chat::ChatRequest;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{message::EncodedMessage, parameters, tools};
use crate::ollama::settings::Settings;

/// The body of a request.
pub(super) struct Body<'a> {
    pub(super) settings: &'a Settings,
    pub(super) request: &'a ChatRequest,
    pub(super) model: &'a str,
    pub(super) stream: bool,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        parameters::check_supported(request)?;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", self.model)?;
        map.serialize_entry("messages", &Messages(request))?;
        tools::write(request, &mut map)?;
        parameters::write(request, &mut map)?;
        // Always written, because the server streams by default.
        map.serialize_entry("stream", &self.stream)?;
        self.settings
            .write(parameters::options(request)?, &request.extra_body, &mut map)?;
        map.end()
    }
}

struct Messages<'a>(&'a ChatRequest);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages = &self.0.messages;
        let written = messages.iter().enumerate().map(|(at, message)| EncodedMessage {
            message,
            before: &messages[..at],
        });
        serializer.collect_seq(written)
    }
}

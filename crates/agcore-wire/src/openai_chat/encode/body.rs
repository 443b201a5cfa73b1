//! [`Body`]: the body of a request, whose members have a fixed order.

use agcore_chat::{ChatRequest, StreamOptions};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{context::Context, media, message::EncodedMessage, parameters, tools};

/// The body of a request.
pub(super) struct Body<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) request: &'a ChatRequest,
    pub(super) model: &'a str,
    pub(super) stream: bool,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            context,
            request,
            model,
            stream,
        } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", model)?;
        map.serialize_entry("messages", &Messages { context, request })?;
        tools::write(context, request, &mut map)?;
        parameters::write(context, request, &mut map)?;
        self.write_stream(*stream, &mut map)?;
        request
            .extra_body
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl Body<'_> {
    fn write_stream<S: SerializeMap>(&self, stream: bool, map: &mut S) -> Result<(), S::Error> {
        // The caller decides whether to stream. OpenAI rejects the options without a stream.
        if !stream {
            return Ok(());
        }
        map.serialize_entry("stream", &true)?;
        let options = self.request.stream_options.as_ref();
        if self.context.dialect.streaming.usage_option {
            let mut options = options.cloned().unwrap_or_default();
            options.include_usage.get_or_insert(true);
            return map.serialize_entry("stream_options", &options);
        }
        match options {
            Some(options) if *options != StreamOptions::default() && options.include_usage != Some(true) => {
                Err(self.context.refuse(
                    "stream_options",
                    "`stream_options`",
                    "leave them out, it always sends usage",
                ))
            }
            _ => Ok(()),
        }
    }
}

struct Messages<'a> {
    context: &'a Context<'a>,
    request: &'a ChatRequest,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.context;
        if media::is_moved(context, self.request) {
            return media::write(context, self.request, serializer);
        }
        serializer.collect_seq(
            self.request
                .messages
                .iter()
                .map(|message| EncodedMessage { context, message }),
        )
    }
}

//! [`Body`]: the whole body, member by member in a fixed order.

use agcore_chat::ChatRequest;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{context::Context, message::Input, parameters, tools};
use crate::openai_responses::vendor::unsupported_parameter;

/// Members of `extra_body` that are merged with other fields, and written together with them.
const MERGED: &[&str] = &["include", "reasoning", "text"];

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
        map.serialize_entry("input", &Input { context, request })?;
        tools::write(request, &mut map)?;
        parameters::write(request, model, &mut map)?;
        self.write_stream(*stream, &mut map)?;
        request
            .extra_body
            .iter()
            .filter(|(name, _)| !MERGED.contains(&name.as_str()))
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl Body<'_> {
    /// Writes the options of streaming. Without streaming they have no meaning. Of the options only those of this API
    /// remain (`include_obfuscation`), because usage is always sent.
    fn write_stream<S: SerializeMap>(&self, stream: bool, map: &mut S) -> Result<(), S::Error> {
        if !stream {
            return Ok(());
        }
        map.serialize_entry("stream", &true)?;
        let Some(options) = &self.request.stream_options else {
            return Ok(());
        };
        if options.include_usage == Some(false) {
            return Err(unsupported_parameter(
                "stream_options",
                "`stream_options.include_usage: false`",
                "leave it out, usage is always sent",
            ));
        }
        if options.extra.is_empty() {
            return Ok(());
        }
        map.serialize_entry("stream_options", &options.extra)
    }
}

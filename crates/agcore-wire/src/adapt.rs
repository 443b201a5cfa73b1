//! Requests for APIs that lack a parameter: parameters that only tune a reply are left out, or replaced by the nearest
//! accepted value.
//!
//! An encoder refuses a parameter that its API or dialect cannot express, because a value that is silently ignored is
//! hard to notice. For a request that moves to another vendor, an answer usually matters more than a seed. [`relax`]
//! removes one refused parameter and returns its name; [`encode`] repeats that until the request can be sent.
//!
//! | removed or replaced | why it may be |
//! |---|---|
//! | `seed`, `temperature`, `top_p`, `presence_penalty`, `frequency_penalty` | sampling; temperatures are clamped |
//! | `reasoning_effort`, `verbosity`, `service_tier`, `prediction` | effort, length, speed and price |
//! | `prompt_cache_key`, `prompt_cache_retention`, `stream_options` | transport and caches |
//! | `store`, `metadata`, `user`, `safety_identifier` | the vendor's records |
//! | `strict` | replies and arguments are validated anyway |
//! | `name` | the name of a user is moved into the text; other names are left out |
//!
//! Everything else changes what is asked or what is answered (tools, formats, stop sequences, log probabilities, several
//! choices, images), so it is never removed.

use std::sync::Arc;

use agcore_chat::{ChatRequest, Content, ContentPart, Message, ResponseFormat, Tool, UserMessage};

use crate::{
    error::{LlmError, Unsupported},
    wire::{Chat, EncodeOptions, Wire, WireRequest},
};

/// A parameter that [`relax`] removed or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Relaxed {
    /// The name of the parameter, as in [`Unsupported::name`].
    pub parameter: String,
    /// The value that replaces it; `None` if it was removed.
    pub replaced_by: Option<String>,
}

/// Removes the parameter that an encoder refused from a request, or replaces it by the nearest accepted value.
///
/// Returns `None`, and leaves the request as it is, if the error is not such a refusal, or if the parameter changes
/// more than the tuning of the reply.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{LlmError, LlmErrorKind, Unsupported, adapt::relax};
///
/// let refused = |name: &'static str| {
///     LlmError::new(LlmErrorKind::InvalidRequest, "refused").with_unsupported(Unsupported::new(name))
/// };
/// let mut request = ChatRequest::new([Message::user("Hi")]);
/// (request.seed, request.n) = (Some(1), Some(2));
/// assert_eq!(relax(&mut request, &refused("seed")).unwrap().parameter, "seed");
/// assert_eq!(request.seed, None);
/// assert_eq!(relax(&mut request, &refused("n")), None);
/// ```
pub fn relax(request: &mut ChatRequest, error: &LlmError) -> Option<Relaxed> {
    let unsupported = error.unsupported()?;
    let (is_changed, is_replaced) = change(request, unsupported);
    is_changed.then(|| Relaxed {
        parameter: unsupported.name().to_owned(),
        replaced_by: unsupported.nearest().filter(|_| is_replaced).map(str::to_owned),
    })
}

/// Encodes a request, and [relaxes](relax) it as often as the wire refuses a parameter that only tunes the reply.
///
/// Returns the encoded request, and what was removed or replaced in it.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{EncodeOptions, adapt, dialect, openai_chat::OpenAiChat};
///
/// let mut request = ChatRequest::new([Message::user("Hi")]);
/// (request.seed, request.verbosity) = (Some(1), Some("low".into()));
/// let wire = OpenAiChat::new(dialect::deepseek());
/// let (encoded, relaxed) = adapt::encode(&wire, &request, &EncodeOptions::new("deepseek-chat"))?;
/// assert_eq!(encoded.body, r#"{"model":"deepseek-chat","messages":[{"role":"user","content":"Hi"}]}"#);
/// let names: Vec<_> = relaxed.iter().map(|relaxed| relaxed.parameter.as_str()).collect();
/// assert_eq!(names, ["seed", "verbosity"]);
/// # }
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
///
/// # Errors
/// If the request is invalid, or the API lacks something that must not be left out.
pub fn encode(
    wire: &dyn Wire<Chat>,
    request: &ChatRequest,
    options: &EncodeOptions<'_>,
) -> Result<(WireRequest, Vec<Relaxed>), LlmError> {
    let mut relaxed = Vec::new();
    let mut error = match wire.encode(request, options) {
        Ok(encoded) => return Ok((encoded, relaxed)),
        Err(error) => error,
    };
    let mut request = request.clone();
    loop {
        match relax(&mut request, &error) {
            Some(change) => relaxed.push(change),
            None => return Err(error),
        }
        match wire.encode(&request, options) {
            Ok(encoded) => return Ok((encoded, relaxed)),
            Err(next) => error = next,
        }
    }
}

/// Changes the request, and returns whether anything changed, and whether the nearest value was set. A second refusal of the
/// same parameter always finds it removed, so that callers never loop.
fn change(request: &mut ChatRequest, unsupported: &Unsupported) -> (bool, bool) {
    let nearest = unsupported.nearest();
    let number = nearest.and_then(|text| text.parse::<f64>().ok());
    let word = nearest.map(str::to_owned);
    let removed = |is_changed: bool| (is_changed, false);
    match unsupported.name() {
        "temperature" => replace(&mut request.temperature, number),
        "top_p" => replace(&mut request.top_p, number),
        "reasoning_effort" => replace(&mut request.reasoning_effort, word),
        "verbosity" => replace(&mut request.verbosity, word),
        "service_tier" => replace(&mut request.service_tier, word),
        "presence_penalty" => removed(request.presence_penalty.take().is_some()),
        "frequency_penalty" => removed(request.frequency_penalty.take().is_some()),
        "seed" => removed(request.seed.take().is_some()),
        "prediction" => removed(request.prediction.take().is_some()),
        "store" => removed(request.store.take().is_some()),
        "metadata" => removed(request.metadata.take().is_some()),
        "user" => removed(request.user.take().is_some()),
        "safety_identifier" => removed(request.safety_identifier.take().is_some()),
        "prompt_cache_key" => removed(request.prompt_cache_key.take().is_some()),
        "prompt_cache_retention" => removed(request.prompt_cache_retention.take().is_some()),
        "stream_options" => removed(request.stream_options.take().is_some()),
        "strict" => removed(remove_strict(request)),
        "name" => removed(remove_names(request)),
        _ => removed(false),
    }
}

/// Sets the nearest value if it differs from the current one, and removes the parameter otherwise.
fn replace<T: PartialEq>(value: &mut Option<T>, nearest: Option<T>) -> (bool, bool) {
    if value.is_none() {
        return (false, false);
    }
    *value = nearest.filter(|nearest| value.as_ref() != Some(nearest));
    (true, value.is_some())
}

fn remove_strict(request: &mut ChatRequest) -> bool {
    let mut is_changed = false;
    if let Some(ResponseFormat::JsonSchema(format)) = &mut request.response_format {
        is_changed |= format.strict.take() == Some(true);
    }
    let is_strict = |tool: &Tool| matches!(tool, Tool::Function(tool) if tool.strict == Some(true));
    if request.tools.iter().any(is_strict) {
        is_changed = true;
        let lenient = |tool: &Tool| {
            let mut tool = tool.clone();
            if let Tool::Function(function) = &mut tool {
                function.strict = None;
            }
            tool
        };
        request.tools = request.tools.iter().map(lenient).collect();
    }
    is_changed
}

/// Removes the names of all participants. Who of several users speaks matters, so that their names go into the text.
fn remove_names(request: &mut ChatRequest) -> bool {
    let mut is_changed = false;
    for message in &mut request.messages {
        if !has_name(message) {
            continue;
        }
        is_changed = true;
        match Arc::make_mut(message) {
            Message::User(message) => name_in_text(message),
            Message::Developer(message) | Message::System(message) => message.name = None,
            Message::Assistant(message) => message.name = None,
            _ => {}
        }
    }
    is_changed
}

/// Returns whether a message has the name of a participant. Names of tools and functions do not count.
fn has_name(message: &Message) -> bool {
    match message {
        Message::User(message) => message.name.is_some(),
        Message::Developer(message) | Message::System(message) => message.name.is_some(),
        Message::Assistant(message) => message.name.is_some(),
        _ => false,
    }
}

fn name_in_text(message: &mut UserMessage) {
    let Some(name) = message.name.take() else { return };
    match &mut message.content {
        Content::Text(text) => *text = format!("{name}: {text}"),
        Content::Parts(parts) => parts.insert(0, ContentPart::text(format!("{name}:"))),
    }
}

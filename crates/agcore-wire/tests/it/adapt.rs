//! Refusals of encoders as data, and requests without what only tunes a reply.

use agcore_chat::{ChatRequest, ContentPart, Message, ResponseFormat, Tool, ToolChoice, ToolDefinition};
use agcore_wire::{APIS, Chat, EncodeOptions, LlmError, Wire, adapt, dialect, openai_chat::OpenAiChat};
use serde_json::{Value, json};

type Change = fn(&mut ChatRequest);

/// Parameters that many APIs lack, with the names under which they are refused.
const PARAMETERS: &[(&str, Change)] = &[
    ("seed", |request| request.seed = Some(1)),
    ("frequency_penalty", |request| request.frequency_penalty = Some(0.5)),
    ("presence_penalty", |request| request.presence_penalty = Some(0.5)),
    ("verbosity", |request| request.verbosity = Some("low".into())),
    ("store", |request| request.store = Some(true)),
    ("metadata", |request| {
        request.metadata = Some([("run".to_owned(), "7".to_owned())].into());
    }),
    ("prompt_cache_key", |request| {
        request.prompt_cache_key = Some("k".into());
    }),
    ("service_tier", |request| request.service_tier = Some("flex".into())),
    ("user", |request| request.user = Some("u".into())),
    ("safety_identifier", |request| {
        request.safety_identifier = Some("u".into());
    }),
    ("temperature", |request| request.temperature = Some(1.3)),
    ("reasoning_effort", |request| {
        request.reasoning_effort = Some("minimal".into());
    }),
    ("prediction", |request| {
        request.prediction = Some(json!({"type": "content", "content": "x"}));
    }),
    ("name", |request| {
        request.messages = vec![named("Ann", "Hello").into()].into();
    }),
    ("strict", |request| {
        let mut tool = ToolDefinition::new(
            "menu",
            "",
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        );
        tool.strict = Some(true);
        request.tools = [Tool::from(tool)].into();
    }),
];

/// Everything else that an API may lack.
const OTHERS: &[(&str, Change)] = &[
    ("n", |request| request.n = Some(2)),
    ("stop", |request| request.stop = Some("END".into())),
    ("logit_bias", |request| {
        request.logit_bias = Some([("1".to_owned(), 1.0)].into());
    }),
    ("messages", |request| {
        request.messages = vec![Message::user(ContentPart::input_audio("AA==", "wav")).into()].into();
    }),
    ("tools", |request| {
        request.tools =
            vec![serde_json::from_value(json!({"type": "custom", "custom": {"name": "sql"}})).unwrap()].into();
    }),
    ("tool_choice", |request| {
        request.tools = [Tool::from(ToolDefinition::new("menu", "", json!({"type": "object"})))].into();
        request.tool_choice = Some(ToolChoice::Function("menu".into()));
    }),
    ("response_format", |request| {
        request.response_format = Some(ResponseFormat::JsonObject);
    }),
    ("web_search_options", |request| {
        request.web_search_options = Some(json!({}));
    }),
];

/// Every wire with its name: all dialects, and the other APIs.
fn wires() -> Vec<(String, Box<dyn Wire<Chat>>)> {
    let dialects = dialect::ALL.iter().map(|dialect| {
        let dialect = dialect();
        (
            dialect.name.to_string(),
            Box::new(OpenAiChat::new(dialect)) as Box<dyn Wire<Chat>>,
        )
    });
    let native = APIS
        .iter()
        .filter(|api| api.name != "openai-chat")
        .map(|api| (api.name.to_owned(), api.wire()));
    dialects.chain(native).collect()
}

fn named(name: &str, text: &str) -> Message {
    let message = json!({"role": "user", "name": name, "content": text});
    serde_json::from_value(message).unwrap()
}

fn request(change: Change) -> ChatRequest {
    let mut request = ChatRequest::new([Message::user("Hi")]).with_model("m");
    change(&mut request);
    request
}

fn encode(wire: &dyn Wire<Chat>, request: &ChatRequest) -> Result<Value, LlmError> {
    let encoded = wire.encode(request, &EncodeOptions::new("m"))?;
    Ok(serde_json::from_slice(&encoded.body).unwrap())
}

#[test]
fn a_refusal_names_the_parameter_on_every_wire() {
    let mut refusals = 0;
    for (wire_name, wire) in wires() {
        for (name, change) in PARAMETERS.iter().chain(OTHERS) {
            let Err(error) = encode(&*wire, &request(*change)) else {
                continue;
            };
            refusals += 1;
            let unsupported = error
                .unsupported()
                .unwrap_or_else(|| panic!("{wire_name} {name}: {error}"));
            assert_eq!(unsupported.name(), *name, "{wire_name}: {error}");
            assert!(error.is_unsupported() && error.status().is_none() && !error.is_retryable());
            assert!(!error.message().contains('\u{1}'), "{error:?}");
        }
    }
    assert!(refusals > 100, "{refusals}");
}

#[test]
fn a_request_that_is_wrong_everywhere_is_no_refusal() {
    let mut request = request(|_| {});
    (request.max_tokens, request.max_completion_tokens) = (Some(1), Some(2));
    for (name, wire) in wires() {
        let error = encode(&*wire, &request).unwrap_err();
        assert!(!error.is_unsupported(), "{name}: {error}");
    }
}

#[test]
fn what_only_tunes_a_reply_is_left_out_for_a_wire_that_lacks_it() {
    for (wire_name, wire) in wires() {
        let mut all = ChatRequest::new([Message::user("Hi")]).with_model("m");
        PARAMETERS.iter().for_each(|(_, change)| change(&mut all));
        (all.user, all.safety_identifier) = (Some("u".into()), None);
        let (_, relaxed) = adapt::encode(&*wire, &all, &EncodeOptions::new("m"))
            .unwrap_or_else(|error| panic!("{wire_name}: {error}"));
        for relaxed in &relaxed {
            assert!(
                PARAMETERS.iter().any(|(name, _)| *name == relaxed.parameter),
                "{wire_name}: {relaxed:?}"
            );
        }
        assert_eq!(relaxed.is_empty(), encode(&*wire, &all).is_ok(), "{wire_name}");
    }
}

#[test]
fn what_changes_the_answer_is_never_left_out() {
    for (wire_name, wire) in wires() {
        for (name, change) in OTHERS {
            let request = request(*change);
            let is_accepted = encode(&*wire, &request).is_ok();
            let relaxed = adapt::encode(&*wire, &request, &EncodeOptions::new("m"));
            assert_eq!(relaxed.is_ok(), is_accepted, "{wire_name} {name}");
        }
    }
}

#[cfg(feature = "anthropic")]
#[test]
fn the_nearest_value_replaces_a_refused_one() {
    let wire = agcore_wire::anthropic::Anthropic::new();
    let mut request = request(|request| request.temperature = Some(1.3));
    request.reasoning_effort = Some("minimal".into());
    let (encoded, relaxed) = adapt::encode(&wire, &request, &EncodeOptions::new("claude-sonnet-5")).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["temperature"], 1.0);
    assert_eq!(body["output_config"]["effort"], "low");
    let replaced: Vec<_> = relaxed.iter().map(|relaxed| relaxed.replaced_by.as_deref()).collect();
    assert_eq!(replaced, [Some("1"), Some("low")]);
}

#[test]
fn the_name_of_a_user_moves_into_the_text() {
    let request = ChatRequest::new([named("Ann", "Tea?"), named("Bob", "Yes.")]);
    let wire = OpenAiChat::new(dialect::gemini());
    let (encoded, relaxed) = adapt::encode(&wire, &request, &EncodeOptions::new("m")).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["messages"][0], json!({"role": "user", "content": "Ann: Tea?"}));
    assert_eq!(body["messages"][1]["content"], "Bob: Yes.");
    assert_eq!(relaxed.len(), 1);
}

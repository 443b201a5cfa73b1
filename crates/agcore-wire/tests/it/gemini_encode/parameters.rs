//! Parameters, the response format and the reasoning effort.

use agcore_chat::{ChatRequest, Message, ResponseFormat, StopSequence, StreamOptions, Tool, ToolDefinition};
use agcore_wire::{
    failure::is_format_with_tools_refused,
    gemini::{Gemini, Thinking},
};
use serde_json::{Value, json};

use super::{NEW, OLD, body, body_for, body_with, check_refused, check_rejected, encode, hi, with};

#[test]
fn parameters_are_members_of_the_generation_config() {
    let request = with(|request| {
        request.max_completion_tokens = Some(9);
        (request.temperature, request.top_p) = (Some(0.5), Some(0.9));
        (request.presence_penalty, request.frequency_penalty) = (Some(0.1), Some(0.2));
        (request.seed, request.n) = (Some(-7), Some(2));
        request.stop = Some("END".into());
        (request.logprobs, request.top_logprobs) = (Some(true), Some(3));
        request.modalities = vec!["text".into(), "image".into()];
        request.service_tier = Some("default".into());
        request.stream_options = Some(StreamOptions {
            include_usage: Some(true),
            ..StreamOptions::default()
        });
    });
    let request = request
        .with_extra_body(
            "generationConfig",
            json!({"topK": 40, "imageConfig": {"aspectRatio": "1:1"}}),
        )
        .with_extra_body("safetySettings", json!([]));
    insta::assert_json_snapshot!(body(&request), @r#"
    {
      "generationConfig": {
        "maxOutputTokens": 9,
        "temperature": 0.5,
        "topP": 0.9,
        "stopSequences": [
          "END"
        ],
        "seed": -7,
        "candidateCount": 2,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "responseLogprobs": true,
        "logprobs": 3,
        "responseModalities": [
          "TEXT",
          "IMAGE"
        ],
        "topK": 40,
        "imageConfig": {
          "aspectRatio": "1:1"
        }
      },
      "contents": [
        {
          "role": "user",
          "parts": [
            {
              "text": "Hi"
            }
          ]
        }
      ],
      "serviceTier": "standard",
      "safetySettings": []
    }
    "#);
    let defaults = with(|request| {
        (request.n, request.logprobs, request.store) = (Some(1), Some(false), Some(false));
        request.service_tier = Some("auto".into());
        request.response_format = Some(ResponseFormat::Text);
    });
    assert_eq!(body(&defaults), body(&hi()), "no defaults are sent");
}

#[test]
fn parameters_that_the_api_does_not_have_are_refused() {
    let check = |name: &str, set: fn(&mut ChatRequest)| check_refused(NEW, &with(set), name, None, name);
    check("logit_bias", |request| {
        request.logit_bias = Some([("1".to_owned(), 1.0)].into());
    });
    check("verbosity", |request| request.verbosity = Some("low".into()));
    check("audio", |request| request.audio = Some(json!({"voice": "x"})));
    check("prediction", |request| request.prediction = Some(json!({})));
    check("web_search_options", |request| {
        request.web_search_options = Some(json!({}));
    });
    check("store", |request| request.store = Some(true));
    check("metadata", |request| {
        request.metadata = Some([("a".to_owned(), "b".to_owned())].into());
    });
    check("user", |request| request.user = Some("u".into()));
    check("safety_identifier", |request| {
        request.safety_identifier = Some("u".into());
    });
    check("prompt_cache_key", |request| {
        request.prompt_cache_key = Some("k".into());
    });
    check("prompt_cache_retention", |request| {
        request.prompt_cache_retention = Some("24h".into());
    });
    check("stream_options", |request| {
        request.stream_options = Some(StreamOptions {
            include_usage: Some(false),
            ..StreamOptions::default()
        });
    });
    check_refused(
        NEW,
        &hi().with_temperature(2.5),
        "temperature",
        Some("2"),
        "the temperature 2.5",
    );
    check_refused(
        NEW,
        &hi().with_temperature(-1.0),
        "temperature",
        Some("0"),
        "the temperature -1",
    );
    let stops = with(|request| request.stop = Some(StopSequence::from_iter(["a", "b", "c", "d", "e", "f"])));
    check_refused(NEW, &stops, "stop", None, "more than 5 stop sequences");
    let seed = with(|request| request.seed = Some(1 << 40));
    check_refused(NEW, &seed, "seed", None, "the seed 1099511627776");
    let tier = with(|request| request.service_tier = Some("scale".into()));
    check_refused(NEW, &tier, "service_tier", None, "the service tier `scale`");
    let limits = with(|request| (request.max_tokens, request.max_completion_tokens) = (Some(1), Some(2)));
    check_rejected(&limits, "max_tokens and max_completion_tokens differ");
}

#[test]
fn what_is_set_twice_is_rejected() {
    let temperature = hi().with_temperature(1.0);
    let twice = temperature.with_extra_body("generationConfig", json!({"temperature": 0.5}));
    check_rejected(&twice, "`generationConfig.temperature`");
    check_rejected(
        &hi().with_extra_body("generationConfig", 1),
        "`generationConfig` in extra_body must be an object",
    );
    check_rejected(&hi().with_extra_body("messages", json!([])), "`messages`");
    for (name, instead) in [
        ("contents", "set messages instead"),
        ("system_instruction", "set messages instead"),
        ("generation_config", "set `generationConfig` instead"),
        ("serviceTier", "set service_tier instead"),
    ] {
        check_rejected(&hi().with_extra_body(name, json!({})), instead);
    }
}

#[test]
fn a_cached_prompt_excludes_instructions_and_tools() {
    let cached = |request: ChatRequest| request.with_extra_body("cachedContent", "cachedContents/1");
    assert_eq!(body(&cached(hi()))["cachedContent"], "cachedContents/1");
    let instructed = ChatRequest::new([Message::system("Be brief."), Message::user("Hi")]);
    check_rejected(&cached(instructed), "cannot be combined with instructions");
    check_rejected(&cached(hi().with_tools([tool()])), "cannot be combined with tools");
    check_rejected(
        &cached(hi()).with_extra_body("toolConfig", json!({"a": 1})),
        "cannot be combined with `toolConfig`",
    );
}

fn tool() -> Tool {
    ToolDefinition::new("f", "", json!({"type": "object"})).into()
}

#[test]
fn formats_are_a_media_type_and_a_schema() {
    let check = |format: ResponseFormat, expected: Value| {
        let sent = body_for(OLD, &hi().with_response_format(format));
        assert_eq!(sent["generationConfig"], expected);
    };
    let schema = json!({"type": "object", "$defs": {"a": {}}, "additionalProperties": false});
    check(
        ResponseFormat::JsonObject,
        json!({"responseMimeType": "application/json"}),
    );
    check(
        ResponseFormat::json_schema("x", schema.clone()),
        json!({"responseMimeType": "application/json", "responseJsonSchema": schema}),
    );
    let other = hi().with_response_format(ResponseFormat::Other(json!({"type": "grammar"})));
    check_refused(NEW, &other, "response_format", None, "this response format");

    let both = hi()
        .with_response_format(ResponseFormat::JsonObject)
        .with_tools([tool()]);
    assert_eq!(body(&both)["generationConfig"]["responseMimeType"], "application/json");
    check_refused(
        OLD,
        &both,
        "response_format",
        None,
        "JSON as the format together with tools for gemini-2.5-flash",
    );
    assert!(
        is_format_with_tools_refused(&encode(OLD, &both).unwrap_err()),
        "typed answers then use another way"
    );
}

#[test]
fn efforts_become_levels_or_budgets() {
    let effort = |effort: &str| with(|request| request.reasoning_effort = Some(effort.into()));
    let check = |model: &str, name: &str, expected: Value| {
        let sent = &body_for(model, &effort(name))["generationConfig"]["thinkingConfig"];
        assert_eq!(*sent, expected, "{model} {name}");
    };
    let level = |level: &str| json!({"thinkingLevel": level, "includeThoughts": true});
    let budget = |tokens: u64| json!({"thinkingBudget": tokens, "includeThoughts": true});
    check(NEW, "minimal", level("MINIMAL"));
    check(NEW, "high", level("HIGH"));
    check("gemini-3-pro-preview", "low", level("LOW"));
    check(OLD, "none", json!({"thinkingBudget": 0}));
    check(OLD, "minimal", budget(1024));
    check(OLD, "medium", budget(8192));
    check(OLD, "max", budget(24_576));
    check("gemini-2.5-pro", "xhigh", budget(32_768));
    check("gemini-2.0-flash", "none", Value::Null);

    let refused = |model: &str, name: &str, nearest: Option<&str>| {
        check_refused(
            model,
            &effort(name),
            "reasoning_effort",
            nearest,
            &format!("the reasoning effort `{name}` for {model}"),
        );
    };
    refused(NEW, "none", Some("minimal"));
    refused(NEW, "max", Some("high"));
    refused(NEW, "wild", None);
    refused("gemini-3-pro-preview", "minimal", Some("low"));
    refused("gemini-3-pro-preview", "none", Some("low"));
    refused("gemini-2.5-pro", "none", Some("minimal"));
    refused(OLD, "wild", None);
    refused("gemini-2.0-flash", "low", Some("none"));
}

#[test]
fn settings_and_extra_members_change_the_thinking() {
    let effort = with(|request| request.reasoning_effort = Some("low".into()));
    let thinking =
        |wire: Gemini, request: &ChatRequest| body_with(&wire, request)["generationConfig"]["thinkingConfig"].clone();
    assert_eq!(
        thinking(Gemini::new().with_thoughts(false), &effort),
        json!({"thinkingLevel": "LOW"})
    );
    let budget = Gemini::new().with_thinking(Thinking::Budget).with_thoughts(false);
    assert_eq!(thinking(budget, &effort), json!({"thinkingBudget": 1024}));
    let silent = effort.clone().with_extra_body(
        "generationConfig",
        json!({"thinkingConfig": {"includeThoughts": false}}),
    );
    assert_eq!(
        thinking(Gemini::new(), &silent),
        json!({"thinkingLevel": "LOW", "includeThoughts": false})
    );
    let twice = effort.with_extra_body("generationConfig", json!({"thinkingConfig": {"thinkingLevel": "HIGH"}}));
    check_rejected(&twice, "`generationConfig.thinkingConfig.thinkingLevel`");
    let own = hi().with_extra_body("generationConfig", json!({"thinkingConfig": {"includeThoughts": true}}));
    assert_eq!(thinking(Gemini::new(), &own), json!({"includeThoughts": true}));
}

//! Parameters, the reasoning effort and the format of the answer.

use agcore_chat::{ChatRequest, JsonSchemaFormat, ResponseFormat, StopSequence};
use serde_json::{Value, json};

use super::{CLAUDE, LLAMA, NOVA, OLDER, body, body_for, check_refused, hi, with};

const GPT: &str = "openai.gpt-oss-120b-1:0";
const QWEN: &str = "qwen.qwen3-32b-v1:0";
const NOVA_2: &str = "us.amazon.nova-2-lite-v1:0";

fn effort(effort: &str) -> ChatRequest {
    with(|request| request.reasoning_effort = Some(effort.into()))
}

#[test]
fn parameters_have_the_names_of_the_api() {
    let request = with(|request| {
        request.max_completion_tokens = Some(100);
        request.temperature = Some(0.5);
        request.top_p = Some(0.9);
        request.stop = Some(StopSequence::Many(vec!["a".into(), "b".into()]));
        request.metadata = Some([("team".to_owned(), "search".to_owned())].into());
        request.service_tier = Some("flex".into());
    });
    let sent = body(&request);
    assert_eq!(
        sent["inferenceConfig"],
        json!({"maxTokens": 100, "temperature": 0.5, "topP": 0.9, "stopSequences": ["a", "b"]})
    );
    assert_eq!(sent["requestMetadata"], json!({"team": "search"}));
    assert_eq!(sent["serviceTier"], json!({"type": "flex"}));
    assert_eq!(body(&hi()).as_object().unwrap().len(), 1, "no defaults are sent");
}

#[test]
fn values_that_the_api_refuses_are_refused() {
    check_refused(
        CLAUDE,
        &with(|request| request.temperature = Some(1.5)),
        "temperature",
        Some("1"),
        "1.5",
    );
    check_refused(
        CLAUDE,
        &with(|request| request.top_p = Some(-1.0)),
        "top_p",
        Some("0"),
        "-1",
    );
    check_refused(
        CLAUDE,
        &with(|request| request.seed = Some(1)),
        "seed",
        None,
        "additionalModelRequestFields",
    );
    check_refused(CLAUDE, &with(|request| request.n = Some(2)), "n", None, "`n`");
    check_refused(
        CLAUDE,
        &with(|request| request.user = Some("ada".into())),
        "user",
        None,
        "`user`",
    );
    let tier = with(|request| request.service_tier = Some("fast".into()));
    check_refused(CLAUDE, &tier, "service_tier", None, "`fast`");
    let limits = with(|request| (request.max_tokens, request.max_completion_tokens) = (Some(1), Some(2)));
    check_refused(CLAUDE, &limits, "", None, "differ");
}

#[test]
fn the_effort_has_the_form_of_the_model() {
    let fields = |model: &str, word: &str| body_for(model, &effort(word))["additionalModelRequestFields"].clone();
    assert_eq!(
        fields(CLAUDE, "high"),
        json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}})
    );
    assert_eq!(fields(CLAUDE, "none"), json!({"thinking": {"type": "disabled"}}));
    assert_eq!(
        fields(OLDER, "medium"),
        json!({"thinking": {"type": "enabled", "budget_tokens": 10_000}})
    );
    assert_eq!(
        body_for(OLDER, &effort("medium"))["inferenceConfig"]["maxTokens"],
        20_000
    );
    let limited = with(|request| {
        request.reasoning_effort = Some("low".into());
        request.max_tokens = Some(2000);
    });
    let sent = body_for(OLDER, &limited);
    assert_eq!(sent["additionalModelRequestFields"]["thinking"]["budget_tokens"], 1024);
    assert_eq!(sent["inferenceConfig"]["maxTokens"], 2000);
    assert_eq!(
        fields(NOVA_2, "low"),
        json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}})
    );
    assert_eq!(fields(NOVA_2, "none"), json!({"reasoningConfig": {"type": "disabled"}}));
    assert_eq!(fields(GPT, "high"), json!({"reasoning_effort": "high"}));
    assert_eq!(fields(QWEN, "low"), json!({"reasoning_config": "low"}));
    assert_eq!(fields(LLAMA, "none"), Value::Null);
}

#[test]
fn efforts_that_the_model_lacks_are_refused_with_the_nearest() {
    let refused = |model: &str, word: &str, nearest: Option<&str>| {
        check_refused(model, &effort(word), "reasoning_effort", nearest, word);
    };
    refused(CLAUDE, "minimal", Some("low"));
    refused(OLDER, "huge", None);
    refused(NOVA, "high", Some("none"));
    refused("anthropic.claude-3-haiku-20240307-v1:0", "high", Some("none"));
    refused(NOVA_2, "xhigh", Some("high"));
    refused(GPT, "none", Some("low"));
    refused(QWEN, "none", Some("low"));
    refused(QWEN, "medium", Some("high"));
    let short = with(|request| {
        request.reasoning_effort = Some("low".into());
        request.max_tokens = Some(1024);
    });
    check_refused(
        OLDER,
        &short,
        "reasoning_effort",
        Some("none"),
        "raise the token limit 1024",
    );
}

#[test]
fn a_schema_of_the_answer_is_json_text() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}});
    let format = JsonSchemaFormat {
        name: "answer".into(),
        description: Some("The answer.".into()),
        schema: Some(schema),
        ..JsonSchemaFormat::default()
    };
    let request = with(|request| request.response_format = Some(ResponseFormat::JsonSchema(format)));
    let sent = body(&request)["outputConfig"].clone();
    let text = &sent["textFormat"]["structure"]["jsonSchema"];
    assert_eq!(
        (&sent["textFormat"]["type"], &text["name"], &text["description"]),
        (&json!("json_schema"), &json!("answer"), &json!("The answer."))
    );
    let sent: Value = serde_json::from_str(text["schema"].as_str().unwrap()).unwrap();
    assert_eq!(sent["additionalProperties"], false);
    assert_eq!(
        sent["properties"]["a"],
        json!({"type": "integer", "description": "minimum: 1"})
    );
    for model in [NOVA, LLAMA, "us.anthropic.claude-opus-4-1-20250805-v1:0"] {
        check_refused(
            model,
            &request,
            "response_format",
            None,
            "a schema as the response format",
        );
    }
    let object = with(|request| request.response_format = Some(ResponseFormat::JsonObject));
    check_refused(CLAUDE, &object, "response_format", None, "without a schema");
}

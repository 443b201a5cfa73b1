//! Snapshots of the body of one conversation in every dialect.

use std::fmt::Write as _;

use agcore_chat::ChatRequest;
use agcore_wire::dialect::{self, Dialect};
use serde_json::Value;

use super::{conversation, encode};

/// Formats a body with one line per message, tool and other member.
fn lines(dialect: Dialect, request: &ChatRequest, stream: bool) -> String {
    let wire = encode(dialect, request, stream).unwrap();
    let Value::Object(members) = serde_json::from_slice(&wire.body).unwrap() else {
        panic!("the body is not an object")
    };
    let mut text = String::new();
    for (name, value) in members {
        match value {
            Value::Array(items) if name == "messages" || name == "tools" => {
                items.iter().for_each(|item| writeln!(text, "{name}: {item}").unwrap());
            }
            value => writeln!(text, "{name}: {value}").unwrap(),
        }
    }
    text
}

macro_rules! snapshot {
    ($name:ident, $dialect:expr, @$expected:literal) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(lines($dialect, &conversation(), true), @$expected);
        }
    };
}

snapshot!(encodes_for_openai, dialect::openai(), @r#"
    model: "some-model"
    messages: {"role":"developer","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_completion_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_azure, dialect::azure(), @r#"
    model: "some-model"
    messages: {"role":"developer","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_completion_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_deepseek, dialect::deepseek(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_qwen, dialect::qwen(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_gemini, dialect::gemini(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","name":"get_weather","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_mistral, dialect::mistral(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}],"tool_calls":[{"id":"WFH8yRA8u","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"WFH8yRA8u","name":"get_weather","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_tokens: 100
    temperature: 0.5
    stream: true
"#);
snapshot!(encodes_for_groq, dialect::groq(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"reasoning":"Hm.","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_completion_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_xai, dialect::xai(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_completion_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_moonshot, dialect::moonshot(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_zhipu, dialect::zhipu(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    max_tokens: 100
    temperature: 0.5
    stream: true
"#);
snapshot!(encodes_for_openrouter, dialect::openrouter(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"reasoning":"Hm.","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_ollama, dialect::ollama(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"reasoning":"Hm.","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    max_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_vllm, dialect::vllm(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"reasoning":"Hm.","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);
snapshot!(encodes_for_llama_cpp, dialect::llama_cpp(), @r#"
    model: "some-model"
    messages: {"role":"system","content":"Be brief."}
    messages: {"role":"user","content":"Weather?"}
    messages: {"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]}
    messages: {"role":"tool","tool_call_id":"call_abc","content":"Sunny"}
    messages: {"role":"assistant","content":"Sunny."}
    messages: {"role":"user","content":"Thanks"}
    tools: {"type":"function","function":{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
    tool_choice: "auto"
    max_tokens: 100
    temperature: 0.5
    stream: true
    stream_options: {"include_usage":true}
"#);

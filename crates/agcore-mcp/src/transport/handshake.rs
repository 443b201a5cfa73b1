//! Repairs of the answers that establish a connection.

use rmcp::model::{
    DiscoverResult, ErrorCode, ErrorData, InitializeResult, JsonRpcMessage, ProtocolVersion, RequestId, ServerResult,
};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::message::Message;

/// The revision of servers that do not say which one they speak.
const OLDEST_REVISION: &str = "2024-11-05";

/// Returns the answer to `server/discover` that leads to the handshake where the server may only know that one: every
/// answer that is not a description of the server.
pub(super) fn judged_probe(message: Message, id: &RequestId) -> Message {
    match message {
        JsonRpcMessage::Response(mut response) => {
            if let ServerResult::CustomResult(result) = &response.result
                && let Some(repaired) = discovered(&result.0)
            {
                response.result = ServerResult::DiscoverResult(repaired);
            }
            match &response.result {
                ServerResult::DiscoverResult(found) if !is_only_older(&found.supported_versions) => {
                    JsonRpcMessage::Response(response)
                }
                ServerResult::DiscoverResult(_) => {
                    refusal(id, "it supports only revisions with a handshake".to_owned())
                }
                _ => refusal(id, "it answered without a description of itself".to_owned()),
            }
        }
        JsonRpcMessage::Error(error) => {
            let data = &error.error;
            let supported = data.data.as_ref().and_then(|data| data.get("supported"));
            let supported = supported.and_then(|list| Vec::<ProtocolVersion>::deserialize(list).ok());
            let is_modern = match data.code {
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => supported.is_some_and(|list| !is_only_older(&list)),
                _ => false,
            };
            if is_modern {
                JsonRpcMessage::Error(error)
            } else {
                refusal(id, data.message.to_string())
            }
        }
        other => other,
    }
}

/// Returns whether the server speaks no revision without handshake, but another one.
fn is_only_older(versions: &[ProtocolVersion]) -> bool {
    versions
        .iter()
        .all(|version| version.as_str() < ProtocolVersion::V_2026_07_28.as_str())
}

fn refusal(id: &RequestId, message: String) -> Message {
    JsonRpcMessage::error(
        ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None),
        Some(id.clone()),
    )
}

/// Reads a description whose empty objects are lists.
fn discovered(result: &Value) -> Option<DiscoverResult> {
    let mut members = result.as_object()?.clone();
    members.get("supportedVersions")?;
    repair_capabilities(&mut members);
    read(members)
}

/// Repairs the answer to `initialize`: empty objects that are lists, and members that are missing or have a wrong type.
pub(super) fn repair_initialized(result: &mut ServerResult) {
    let ServerResult::CustomResult(found) = result else {
        return;
    };
    let Some(members) = found.0.as_object() else {
        return;
    };
    let known = ["protocolVersion", "capabilities", "serverInfo"];
    if !known.iter().any(|name| members.contains_key(*name)) {
        return;
    }
    let mut members = members.clone();
    repair_capabilities(&mut members);
    if !members.get("protocolVersion").is_some_and(Value::is_string) {
        members.insert("protocolVersion".to_owned(), OLDEST_REVISION.into());
    }
    let named = |name: &str| {
        let info = members.get("serverInfo")?;
        let text = info.get(name).or_else(|| Some(info).filter(|_| name == "name"))?;
        match text {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    };
    let (name, version) = (named("name").unwrap_or_default(), named("version").unwrap_or_default());
    let info = json!({"name": name, "version": version});
    let is_read = members
        .get("serverInfo")
        .is_some_and(|info| serde_json::from_value::<rmcp::model::Implementation>(info.clone()).is_ok());
    if !is_read {
        members.insert("serverInfo".to_owned(), info);
    }
    if !members.get("instructions").is_some_and(Value::is_string) {
        members.remove("instructions");
    }
    if let Some(repaired) = read::<InitializeResult>(members) {
        tracing::warn!("an MCP server answered initialize in a form that was repaired");
        *result = ServerResult::InitializeResult(repaired);
    }
}

/// Reads an answer, without the capabilities' settings if need be.
fn read<T: serde::de::DeserializeOwned>(mut members: Map<String, Value>) -> Option<T> {
    if let Ok(found) = serde_json::from_value(Value::Object(members.clone())) {
        return Some(found);
    }
    if let Some(Value::Object(capabilities)) = members.get_mut("capabilities") {
        for (_, settings) in capabilities.iter_mut() {
            *settings = json!({});
        }
    }
    serde_json::from_value(Value::Object(members)).ok()
}

/// Makes objects of what stands for them: `[]`, which PHP writes for an empty one, and `true`. Others are removed.
fn repair_capabilities(members: &mut Map<String, Value>) {
    if !members.get("_meta").is_some_and(Value::is_object) {
        members.remove("_meta");
    }
    let Some(Value::Object(capabilities)) = members.get_mut("capabilities") else {
        members.insert("capabilities".to_owned(), json!({}));
        return;
    };
    capabilities.retain(|_, settings| {
        match settings {
            Value::Object(_) => return true,
            Value::Array(_) | Value::Bool(true) => {}
            _ => return false,
        }
        *settings = json!({});
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: Value, name: &str, capabilities: Value) {
        let mut result = serde_json::from_value::<ServerResult>(result).unwrap();
        repair_initialized(&mut result);
        let ServerResult::InitializeResult(found) = result else {
            panic!("{result:?}");
        };
        assert_eq!(found.server_info.name, name);
        assert_eq!(serde_json::to_value(found.capabilities).unwrap(), capabilities);
    }

    #[test]
    fn answers_to_initialize_are_repaired() {
        let full = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "s", "version": "1"}});
        check(full.clone(), "s", json!({"tools": {"listChanged": true}}));
        let with = |name: &str, value: Value| {
            let mut full = full.clone();
            full[name] = value;
            full
        };
        check(
            with("capabilities", json!({"tools": [], "prompts": null})),
            "s",
            json!({"tools": {}}),
        );
        check(with("capabilities", json!([])), "s", json!({}));
        check(with("capabilities", json!(null)), "s", json!({}));
        check(
            with("capabilities", json!({"tools": {"listChanged": "yes"}})),
            "s",
            json!({"tools": {}}),
        );
        check(
            with("capabilities", json!({"tools": true, "logging": false})),
            "s",
            json!({"tools": {}}),
        );
        let tools = json!({"tools": {"listChanged": true}});
        check(with("serverInfo", json!({"name": "q"})), "q", tools.clone());
        check(with("serverInfo", json!([])), "", tools.clone());
        check(with("serverInfo", json!("php")), "php", tools.clone());
        check(with("instructions", json!([])), "s", tools.clone());
        check(with("protocolVersion", json!(2025)), "s", tools);
        check(json!({"protocolVersion": "2025-06-18"}), "", json!({}));
    }

    #[test]
    fn other_results_are_kept() {
        for other in [json!({"x": 1}), json!([1]), json!("text")] {
            let mut result = serde_json::from_value::<ServerResult>(other).unwrap();
            let before = format!("{result:?}");
            repair_initialized(&mut result);
            assert_eq!(format!("{result:?}"), before);
        }
    }

    #[track_caller]
    fn check_probe(answer: Value, is_kept: bool) {
        let id = RequestId::Number(1);
        let message: Message = serde_json::from_value(answer.clone()).unwrap();
        let judged = serde_json::to_value(judged_probe(message, &id)).unwrap();
        assert_eq!(judged["error"]["code"] != json!(-32601), is_kept, "{answer}: {judged}");
    }

    #[test]
    fn probes_lead_to_the_handshake_unless_the_server_is_modern() {
        let answer = |result: Value| json!({"jsonrpc": "2.0", "id": 1, "result": result});
        let modern = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0,
            "cacheScope": "public", "capabilities": {"tools": {}}});
        check_probe(answer(modern.clone()), true);
        let mut php = modern.clone();
        php["capabilities"] = json!({"tools": []});
        check_probe(answer(php), true);
        let mut older = modern;
        older["supportedVersions"] = json!(["2025-11-25"]);
        check_probe(answer(older), false);
        check_probe(answer(json!({})), false);
        check_probe(answer(json!({"content": []})), false);
        let error = |code: i32, data: Value| json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no", "data": data}});
        check_probe(error(-32603, json!(null)), false);
        check_probe(error(ErrorCode::HEADER_MISMATCH.0, json!(null)), false);
        check_probe(
            error(
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION.0,
                json!({"supported": ["2025-06-18"]}),
            ),
            false,
        );
        check_probe(
            error(
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION.0,
                json!({"supported": ["2099-01-01"]}),
            ),
            true,
        );
    }
}

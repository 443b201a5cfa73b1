//! Prompts and resources whose form is wrong.

use agcore_chat::{Content, Message};
use rmcp::model::ContentBlock;
use serde_json::{Map, Value};

use super::{
    call_result::{block, plain},
    content::part,
    received::message,
};
use crate::{
    prompt::Prompt,
    resource::{ResourceBody, ResourceContents},
};

/// Keeps what can be used of a prompt that was filled in. Returns `None` for a result of another kind.
pub(crate) fn lenient_prompt(result: Value) -> Option<Prompt> {
    let (mut members, list) = match result {
        Value::Object(mut members) => {
            let list = members.remove("messages");
            (members, list)
        }
        list @ Value::Array(_) => (Map::new(), Some(list)),
        _ => return None,
    };
    if members.get("resultType").is_some_and(|kind| kind != "complete") {
        return None;
    }
    let messages = match list {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.into_iter().filter_map(lenient_message).collect(),
        // One message, or a list with gaps.
        Some(Value::Object(one)) if one.contains_key("content") => {
            lenient_message(Value::Object(one)).into_iter().collect()
        }
        Some(Value::Object(list)) => list.into_iter().filter_map(|(_, one)| lenient_message(one)).collect(),
        Some(other) => vec![Message::user(plain(other))],
    };
    let description = members.remove("description");
    Some(Prompt {
        description: description.and_then(|text| text.as_str().map(str::to_owned)),
        messages,
    })
}

/// Keeps what can be used of the contents of the resource with this URI. Returns `None` for a result of another kind.
pub(crate) fn lenient_contents(result: Value, uri: &str) -> Option<Vec<ResourceContents>> {
    let list = match result {
        Value::Object(members) if members.get("resultType").is_some_and(|kind| kind != "complete") => return None,
        Value::Object(mut members) => match members.remove("contents") {
            Some(list) => list,
            // The contents without the list around them.
            None if members.contains_key("text") || members.contains_key("blob") => Value::Object(members),
            None => return None,
        },
        other => other,
    };
    let one = |value| contents(value, uri);
    Some(match list {
        Value::Null => Vec::new(),
        Value::Array(list) => list.into_iter().filter_map(one).collect(),
        Value::Object(members) if members.contains_key("text") || members.contains_key("blob") => {
            one(Value::Object(members)).into_iter().collect()
        }
        Value::Object(list) => list.into_iter().filter_map(|(_, value)| one(value)).collect(),
        other => one(other).into_iter().collect(),
    })
}

/// Reads a message. Those of unknown roles are of the user, whose words they are.
fn lenient_message(value: Value) -> Option<Message> {
    let Value::Object(mut members) = value else {
        return (!value.is_null()).then(|| Message::user(plain(value)));
    };
    let is_assistant = matches!(
        members.get("role").and_then(Value::as_str),
        Some("assistant" | "model" | "ai")
    );
    let mut blocks: Vec<ContentBlock> = match members.remove("content")? {
        Value::Null => return None,
        Value::Array(list) => list.into_iter().map(block).collect(),
        one => vec![block(one)],
    };
    Some(match (blocks.pop(), blocks.is_empty()) {
        (None, _) => return None,
        (Some(one), true) => message(is_assistant, one),
        (Some(last), false) => {
            blocks.push(last);
            let content = Content::Parts(blocks.into_iter().map(part).collect());
            match is_assistant {
                true => Message::assistant(content.text()),
                false => Message::user(content),
            }
        }
    })
}

fn contents(value: Value, uri: &str) -> Option<ResourceContents> {
    let Value::Object(mut members) = value else {
        return (!value.is_null()).then(|| ResourceContents::text(uri, plain(value)));
    };
    let text = |members: &mut Map<String, Value>, name: &str| match members.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let own = text(&mut members, "uri").unwrap_or_else(|| uri.to_owned());
    let mime_type = text(&mut members, "mimeType");
    let body = match (text(&mut members, "blob"), members.remove("text")) {
        (Some(blob), _) => ResourceBody::Base64(blob),
        (None, Some(value)) if !value.is_null() => ResourceBody::Text(plain(value)),
        (None, _) => return None,
    };
    Some(ResourceContents {
        uri: own,
        mime_type,
        body,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_prompt(result: Value, messages: &[&str]) {
        let prompt = lenient_prompt(result.clone()).unwrap();
        let found: Vec<String> = prompt
            .messages
            .iter()
            .map(|message| format!("{}: {}", message.role(), message.text()))
            .collect();
        assert_eq!(found, messages, "{result}");
    }

    #[test]
    fn usable_messages_are_kept() {
        let text = json!({"type": "text", "text": "T"});
        check_prompt(json!({"messages": [{"role": "user", "content": "T"}]}), &["user: T"]);
        check_prompt(
            json!({"messages": [{"role": "system", "content": text}, {"role": "model", "content": [text, text]}]}),
            &["user: T", "assistant: TT"],
        );
        check_prompt(
            json!({"messages": {"role": "assistant", "content": text}}),
            &["assistant: T"],
        );
        check_prompt(json!({"messages": {"1": {"content": {"text": "T"}}}}), &["user: T"]);
        check_prompt(
            json!({"messages": ["T", null, {"role": "user"}, 7]}),
            &["user: T", "user: 7"],
        );
        check_prompt(json!([{"role": "user", "content": text}]), &["user: T"]);
        check_prompt(json!({"messages": "T"}), &["user: T"]);
        for none in [json!({}), json!({"messages": null}), json!({"messages": []})] {
            check_prompt(none, &[]);
        }
        let described = |description: Value| lenient_prompt(json!({"description": description})).unwrap().description;
        assert_eq!(
            (described(json!("d")).as_deref(), described(json!(7))),
            (Some("d"), None)
        );
        assert!(lenient_prompt(json!({"resultType": "task"})).is_none());
        assert!(lenient_prompt(json!(7)).is_none());
    }

    #[track_caller]
    fn check_contents(result: Value, expected: &[ResourceContents]) {
        assert_eq!(lenient_contents(result.clone(), "a://b").unwrap(), expected, "{result}");
    }

    #[test]
    fn usable_contents_are_kept() {
        let text = |text: &str| ResourceContents {
            mime_type: None,
            ..ResourceContents::text("a://b", text)
        };
        check_contents(
            json!({"contents": [{"text": "T"}, {"text": 7, "mimeType": 1}]}),
            &[text("T"), text("7")],
        );
        check_contents(json!({"contents": {"text": "T", "uri": null}}), &[text("T")]);
        check_contents(json!({"text": "T"}), &[text("T")]);
        check_contents(
            json!({"contents": [{"uri": "c://d", "blob": "AA==", "mimeType": "image/png"}, {"uri": "x://y"}, null]}),
            &[ResourceContents::base64("c://d", "image/png", "AA==")],
        );
        check_contents(json!({"contents": "T"}), &[ResourceContents::text("a://b", "T")]);
        check_contents(json!({"contents": null}), &[]);
        assert!(lenient_contents(json!({}), "a://b").is_none());
        assert!(lenient_contents(json!({"resultType": "task", "contents": []}), "a://b").is_none());
    }
}

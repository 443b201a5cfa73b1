//! The usage in replies of models that do not chat.

use agcore_chat::{Extra, Usage};
use serde_json::{Map, Value};

/// The objects that contain the usage, in order of preference: of OpenAI and DashScope, and of Cohere and SiliconFlow.
const OBJECTS: &[&str] = &["/usage", "/meta/tokens", "/meta/billed_units", "/tokens"];

/// Returns the usage of a whole reply, if it reports one. Members other than numbers of tokens are kept in `extra`.
pub(crate) fn read_usage(reply: &Value) -> Option<Usage> {
    let objects = OBJECTS.iter().filter_map(|pointer| reply.pointer(pointer)?.as_object());
    objects.map(usage).find(|usage| *usage != Usage::default())
}

fn usage(members: &Map<String, Value>) -> Usage {
    let count = |names: [&str; 2]| {
        let number = |name: &str| members.get(name).and_then(count_of);
        number(names[0]).or_else(|| number(names[1]))
    };
    let mut extra = Extra::new();
    for (name, value) in members {
        let is_count = [
            "prompt_tokens",
            "input_tokens",
            "completion_tokens",
            "output_tokens",
            "total_tokens",
        ]
        .contains(&name.as_str());
        if !is_count && !value.is_null() {
            extra.insert(name.clone(), value.clone());
        }
    }
    let total_tokens = members.get("total_tokens").and_then(count_of);
    let completion_tokens = count(["completion_tokens", "output_tokens"]);
    // Models that generate no text report the total alone.
    let prompt_tokens = count(["prompt_tokens", "input_tokens"])
        .or_else(|| total_tokens.map(|total| total.saturating_sub(completion_tokens.unwrap_or(0))));
    Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens,
        extra,
        ..Usage::default()
    }
}

/// Returns a number of tokens. Some servers write `12.0`.
fn count_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number)).then_some(number as u64)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_the_usage_of_each_server() {
        let check = |reply: Value, expected: Option<(Option<u64>, Option<u64>)>| {
            let found = read_usage(&reply).map(|usage| (usage.prompt_tokens, usage.completion_tokens));
            assert_eq!(found, expected, "{reply}");
        };
        check(json!({"usage": {"total_tokens": 79}}), Some((Some(79), None)));
        check(
            json!({"usage": {"input_tokens": 7, "output_tokens": 3}}),
            Some((Some(7), Some(3))),
        );
        check(
            json!({"usage": {"total_tokens": 10, "output_tokens": 3}}),
            Some((Some(7), Some(3))),
        );
        check(
            json!({"usage": {}, "meta": {"tokens": {"input_tokens": 4.0}}}),
            Some((Some(4), None)),
        );
        for none in [
            json!({}),
            json!({"usage": null}),
            json!({"usage": [1]}),
            json!({"usage": {"x": null}}),
        ] {
            check(none, None);
        }
        let usage = read_usage(&json!({"usage": {"image_count": 2}})).unwrap();
        assert_eq!(usage.extra.get("image_count"), Some(&json!(2)));
        assert_eq!(read_usage(&json!({"usage": {"input_tokens": -1}})), None);
    }
}

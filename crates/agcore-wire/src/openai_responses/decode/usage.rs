//! Token counts, converted from the names of this API to those of [`Usage`].

use agcore_chat::{CompletionTokensDetails, Extra, PromptTokensDetails, Usage};
use serde_json::{Map, Value, value::RawValue};

use crate::decode::{cost::CostMembers, lenient::LenientCount};

/// Parses the usage; `None` if it contains no count. A count that the server did not send is unknown, not zero.
pub(super) fn read(raw: &RawValue) -> serde_json::Result<Option<Usage>> {
    let Value::Object(mut members) = serde_json::from_str(raw.get())? else {
        return Ok(None);
    };
    let mut input = details(&mut members, "input_tokens_details");
    let mut output = details(&mut members, "output_tokens_details");
    let usage = Usage {
        prompt_tokens: count(&mut members, "input_tokens"),
        completion_tokens: count(&mut members, "output_tokens"),
        total_tokens: count(&mut members, "total_tokens"),
        prompt_tokens_details: PromptTokensDetails {
            context_tokens: None,
            cached_tokens: count(&mut input, "cached_tokens"),
            cache_write_tokens: count(&mut input, "cache_write_tokens"),
            audio_tokens: count(&mut input, "audio_tokens"),
            extra: rest(input),
        },
        completion_tokens_details: CompletionTokensDetails {
            reasoning_tokens: count(&mut output, "reasoning_tokens"),
            audio_tokens: count(&mut output, "audio_tokens"),
            extra: rest(output),
            ..CompletionTokensDetails::default()
        },
        cost: CostMembers::of_object(raw.get()).cost(),
        extra: rest(members),
    };
    let known = usage.prompt_tokens.or(usage.completion_tokens).or(usage.total_tokens);
    Ok(known.map(|_| usage))
}

fn count(members: &mut Map<String, Value>, name: &str) -> Option<u64> {
    let value = members.shift_remove(name)?;
    serde_json::from_value::<LenientCount>(value).ok()?.0
}

fn details(members: &mut Map<String, Value>, name: &str) -> Map<String, Value> {
    match members.shift_remove(name) {
        Some(Value::Object(details)) => details,
        _ => Map::new(),
    }
}

fn rest(members: Map<String, Value>) -> Extra {
    members.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Option<&Usage>) {
        let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
        assert_eq!(read(&raw).unwrap().as_ref(), expected, "{json}");
    }

    #[test]
    fn missing_counts_are_unknown() {
        check("{}", None);
        check("null", None);
        check(r#"{"input_tokens": null, "output_tokens_details": null}"#, None);
        check(
            r#"{"output_tokens": "7", "output_tokens_details": {}}"#,
            Some(&Usage {
                completion_tokens: Some(7),
                ..Usage::default()
            }),
        );
    }

    #[test]
    fn keeps_details_and_unknown_members() {
        let mut usage = Usage::new(12, 5);
        usage.prompt_tokens_details.cached_tokens = Some(8);
        usage.prompt_tokens_details.cache_write_tokens = Some(0);
        usage.completion_tokens_details.reasoning_tokens = Some(3);
        usage.extra.insert("cost", 0.5);
        usage.cost = Some(agcore_chat::Money::from_micros(500_000, "USD").into());
        check(
            r#"{"input_tokens": 12, "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 0},
                "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 17, "cost": 0.5}"#,
            Some(&usage),
        );
    }
}

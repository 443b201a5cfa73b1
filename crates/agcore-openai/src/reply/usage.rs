//! The usage of an answer in the forms of both APIs.

use agcore_chat::Usage;
use serde_json::{Map, Value, json};

use super::event::ReplyEnd;

/// Returns the usage as Chat Completions defines it; `null` if no counter is known.
pub(crate) fn chat_usage(end: &ReplyEnd) -> Value {
    written(
        end,
        ["prompt_tokens", "completion_tokens"],
        ["prompt_tokens_details", "completion_tokens_details"],
    )
}

/// Returns the usage as Responses defines it; `null` if no counter is known.
pub(crate) fn responses_usage(end: &ReplyEnd) -> Value {
    written(
        end,
        ["input_tokens", "output_tokens"],
        ["input_tokens_details", "output_tokens_details"],
    )
}

fn written(end: &ReplyEnd, [input, output]: [&str; 2], [of_input, of_output]: [&str; 2]) -> Value {
    let usage = &end.usage;
    let is_unknown = [usage.prompt_tokens, usage.completion_tokens, usage.total()]
        .iter()
        .all(Option::is_none);
    if is_unknown {
        return Value::Null;
    }
    let mut members = Map::new();
    // The clients' types require numbers.
    let mut count = |name: &str, count: Option<u64>| members.insert(name.to_owned(), count.unwrap_or(0).into());
    count(input, usage.prompt_tokens);
    count(output, usage.completion_tokens);
    count("total_tokens", usage.total());
    members.insert(
        of_input.to_owned(),
        json!({"cached_tokens": usage.cached().unwrap_or(0)}),
    );
    members.insert(
        of_output.to_owned(),
        json!({"reasoning_tokens": usage.reasoning().unwrap_or(0)}),
    );
    if let Some(cost) = cost(&end.cost) {
        members.insert("agcore_cost".to_owned(), cost);
    }
    Value::Object(members)
}

/// Returns the cost as [`Usage`] reads it, if the server shows it. Costs of several runs are listed.
fn cost(costs: &[String]) -> Option<Value> {
    let one = |cost: &String| {
        let (amount, currency) = cost.split_once(' ')?;
        Some(json!({"amount": amount, "currency": currency}))
    };
    let mut sum = Usage::default();
    for cost in costs.iter().filter_map(one) {
        let more: Usage = serde_json::from_value(json!({"agcore_cost": cost})).ok()?;
        sum.add(&more);
    }
    serde_json::to_value(sum.cost?).ok()
}

//! The model's options out of the request's fields.

use agcore_chat::{ChatRequest, StopSequence};
use serde::ser::Error;
use serde_json::{Map, Value};

/// The options that the request's fields set, under the API's names.
pub(super) fn of<E: Error>(request: &ChatRequest) -> Result<Map<String, Value>, E> {
    if let (Some(all), Some(visible)) = (request.max_completion_tokens, request.max_tokens)
        && all != visible
    {
        return Err(E::custom(
            "max_tokens and max_completion_tokens differ: set one of them",
        ));
    }
    let options: [(&str, Option<Value>); 7] = [
        ("num_predict", request.token_limit().map(Value::from)),
        ("temperature", request.temperature.map(Value::from)),
        ("top_p", request.top_p.map(Value::from)),
        ("stop", request.stop.as_ref().map(list)),
        ("presence_penalty", request.presence_penalty.map(Value::from)),
        ("frequency_penalty", request.frequency_penalty.map(Value::from)),
        ("seed", request.seed.map(Value::from)),
    ];
    let set = options
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Ok(set.collect())
}

/// The API takes a list only.
fn list(stop: &StopSequence) -> Value {
    match stop {
        StopSequence::One(stop) => vec![stop.as_str()].into(),
        StopSequence::Many(stops) => stops.as_slice().into(),
    }
}

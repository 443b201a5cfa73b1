//! Metadata in conditions.

use agcore_memory::MemoryFilter;
use serde_json::{Map, Value as Json};

use crate::{
    postgres::text,
    sql::{Conditions, Value},
};

/// Selects what a filter selects.
pub(super) fn selecting(filter: &MemoryFilter) -> Conditions {
    Conditions::selecting(filter, |name, value| {
        let entry = Map::from_iter([(name.to_owned(), value.clone())]);
        let facets = facets(&entry).unwrap_or_default();
        Conditions::new("facets @> ?::jsonb", [Value::Text(facets)])
    })
}

/// Returns the members of the metadata that filters compare, as a JSON object. Returns `None` if there are none.
pub(super) fn facets(metadata: &Map<String, Json>) -> Option<String> {
    let mut facets = Map::new();
    for (name, value) in metadata {
        let facet = match value {
            // `jsonb` cannot contain NUL characters either.
            Json::String(value) => Json::from(&*text::encode(value)),
            Json::Bool(_) => value.clone(),
            Json::Number(number) if number.is_i64() => value.clone(),
            Json::Null | Json::Number(_) | Json::Array(_) | Json::Object(_) => continue,
        };
        facets.insert(text::encode(name).into_owned(), facet);
    }
    (!facets.is_empty()).then(|| Json::Object(facets).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facets_are_what_filters_compare() {
        let metadata =
            json!({"t": "a\0", "b": true, "i": -7, "f": 0.5, "u": u64::MAX, "n": null, "l": [1], "\u{10}": ""});
        let found = facets(metadata.as_object().unwrap()).unwrap();
        assert_eq!(found, r#"{"t":"a\u00100","b":true,"i":-7,"\u00101":""}"#);
        assert_eq!(facets(json!({"f": 0.5}).as_object().unwrap()), None);
    }
}

//! Partial JSON: the result does not depend on how the text is split, a complete value equals the one that `serde_json`
//! parses, every partial value is a prefix of it, and objects surrounded by prose are found regardless of the splits.
#![no_main]

use agcore_cycle::typed::{ObjectFinder, PartialJson};
use agcore_fuzz::slicings;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// Returns whether `part` is a prefix of `whole`. Of a repeated member, the last value counts.
fn is_prefix(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(part, whole)| is_prefix(part, whole))
        }
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(name, part)| whole.get(name).is_some_and(|whole| is_prefix(part, whole))),
        (part, whole) => part == whole,
    }
}

/// Splits a text like its bytes, but at character boundaries.
fn pieces<'t>(text: &'t str, slicing: &[&[u8]]) -> Vec<&'t str> {
    let (mut pieces, mut from, mut to) = (Vec::new(), 0, 0);
    for slice in slicing {
        to += slice.len();
        let end = agcore_chat::text::floor_char_boundary(text, to);
        pieces.push(&text[from..end]);
        from = end;
    }
    pieces
}

/// Returns whether a text contains a repeated member, in which case partial values are not prefixes.
fn has_repeated_member(text: &str, whole: &Value) -> bool {
    fn members(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(members).sum(),
            Value::Object(object) => object.len() + object.values().map(members).sum::<usize>(),
            _ => 0,
        }
    }
    // Without repetition there are as many colons outside strings as members.
    let (mut colons, mut inside, mut escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b':' if !inside => colons += 1,
            _ => {}
        }
    }
    colons != members(whole)
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let parsed = serde_json::from_str::<Value>(text).ok();
    let mut results = Vec::new();
    for slicing in slicings(data) {
        let (mut partial, mut finder) = (PartialJson::new(), ObjectFinder::new());
        for piece in pieces(text, &slicing) {
            let length = partial.push(piece);
            assert!(length <= piece.len() && piece.is_char_boundary(length));
            finder.push(piece);
            if let (Some(whole), Some(part)) = (&parsed, partial.value()) {
                assert!(
                    is_prefix(&part, whole) || has_repeated_member(text, whole),
                    "{part} is not a prefix of {whole}"
                );
            }
        }
        partial.end();
        if let Some(whole) = &parsed {
            assert_eq!(partial.value().as_ref(), Some(whole));
            assert!(partial.is_complete());
        }
        results.push((
            partial.value(),
            partial.is_complete(),
            partial.is_invalid(),
            finder.value(),
            finder.into_objects(),
        ));
    }
    assert!(
        results.windows(2).all(|two| two[0] == two[1]),
        "the result depends on the splits: {results:?}"
    );
});

//! Partial JSON: any slicing of a text gives the same; what is whole is what `serde_json` reads; every part of it is a
//! beginning of the whole; objects among prose are found however the text is sliced.
#![no_main]

use agcore_fuzz::slicings;
use agcore_llm::typed::{ObjectFinder, PartialJson};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// Whether `part` is a beginning of `whole`. A member that comes twice counts as the last one says.
fn begins(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(part, whole)| begins(part, whole))
        }
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, part)| whole.get(name).is_some_and(|whole| begins(part, whole)))
        }
        (part, whole) => part == whole,
    }
}

/// The text in pieces, on character boundaries.
fn pieces<'t>(text: &'t str, slicing: &[&[u8]]) -> Vec<&'t str> {
    let (mut pieces, mut from, mut to) = (Vec::new(), 0, 0);
    for slice in slicing {
        to += slice.len();
        let end = agcore_chat::floor_boundary(text, to);
        pieces.push(&text[from..end]);
        from = end;
    }
    pieces
}

/// Whether an object of a text names a member twice, so that its parts are no beginnings.
fn is_repeated(text: &str, whole: &Value) -> bool {
    fn members(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(members).sum(),
            Value::Object(object) => object.len() + object.values().map(members).sum::<usize>(),
            _ => 0,
        }
    }
    // As many colons outside of strings as members.
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
    let read = serde_json::from_str::<Value>(text).ok();
    let mut seen = Vec::new();
    for slicing in slicings(data) {
        let (mut partial, mut finder) = (PartialJson::new(), ObjectFinder::new());
        for piece in pieces(text, &slicing) {
            let length = partial.push(piece);
            assert!(length <= piece.len() && piece.is_char_boundary(length));
            finder.push(piece);
            if let (Some(whole), Some(part)) = (&read, partial.value()) {
                assert!(begins(&part, whole) || is_repeated(text, whole), "{part} is no beginning of {whole}");
            }
        }
        partial.end();
        if let Some(whole) = &read {
            assert_eq!(partial.value().as_ref(), Some(whole));
            assert!(partial.is_complete());
        }
        seen.push((partial.value(), partial.is_complete(), partial.is_broken(), finder.value(), finder.into_objects()));
    }
    assert!(seen.windows(2).all(|two| two[0] == two[1]), "slicing matters: {seen:?}");
});

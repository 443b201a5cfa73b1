//! [`Vector`]: an embedding, sent as an array of numbers or as base64.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess},
};

/// A vector in either `encoding_format`: an array, or the base64 encoding of little-endian `f32`s.
#[derive(Debug, PartialEq)]
pub(super) struct Vector(pub(super) Vec<f32>);

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VectorVisitor;
        impl<'de> de::Visitor<'de> for VectorVisitor {
            type Value = Vector;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of numbers, or their base64 encoding")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vector, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = seq.next_element()? {
                    numbers.push(number);
                }
                Ok(Vector(numbers))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Vector, E> {
                let bytes = STANDARD.decode(text).map_err(E::custom)?;
                let numbers = bytes.chunks_exact(4);
                if !numbers.remainder().is_empty() {
                    return Err(E::custom(format_args!(
                        "the vector has {} bytes, which is not a multiple of four",
                        bytes.len()
                    )));
                }
                let number = |bytes: &[u8]| bytes.try_into().map(f32::from_le_bytes).unwrap_or_default();
                Ok(Vector(numbers.map(number).collect()))
            }
        }
        deserializer.deserialize_any(VectorVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_arrays_and_base64() {
        let check = |json: &str, expected: &[f32]| {
            let read: Vector = serde_json::from_str(json).unwrap();
            assert_eq!(read.0, expected, "{json}");
        };
        check("[0.5, -1, 0]", &[0.5, -1.0, 0.0]);
        check(r#""AAAAPwAAgL8AAAAA""#, &[0.5, -1.0, 0.0]);
        check(r#""""#, &[]);
        for bad in [r#""AAAAPw0=""#, r#""no base64!""#, "[null]", "{}"] {
            assert!(serde_json::from_str::<Vector>(bad).is_err(), "{bad}");
        }
    }
}

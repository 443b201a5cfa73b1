//! [`Vector`]: a list of numbers, or the base64 text of their bytes.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess},
};

/// A vector in either form of `encoding_format`: an array, or base64 of little-endian `f32`s.
#[derive(Debug, PartialEq)]
pub(super) struct Vector(pub(super) Vec<f32>);

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VectorVisitor;
        impl<'de> de::Visitor<'de> for VectorVisitor {
            type Value = Vector;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a vector: numbers, or base64 text of them")
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
                        "{} bytes are no vector: a number has four of them",
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
    fn both_forms_are_the_same_numbers() {
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

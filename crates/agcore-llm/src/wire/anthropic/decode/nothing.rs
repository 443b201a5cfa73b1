//! What a visitor makes of values of a kind that it does not expect: nothing, since unknown events may hold anything.

/// Visits everything but maps and text as the default value.
macro_rules! nothing {
    ($value:ty) => {
        fn visit_unit<E: serde::de::Error>(self) -> Result<$value, E> {
            Ok(<$value>::default())
        }
        fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<$value, E> {
            Ok(<$value>::default())
        }
        fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<$value, E> {
            Ok(<$value>::default())
        }
        fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<$value, E> {
            Ok(<$value>::default())
        }
        fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<$value, E> {
            Ok(<$value>::default())
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<$value, A::Error> {
            while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            Ok(<$value>::default())
        }
    };
}

pub(super) use nothing;

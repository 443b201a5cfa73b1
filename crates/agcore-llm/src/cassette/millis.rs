//! Serialization of durations in milliseconds, with a fraction if needed. Exact to the nanosecond up to fifty days.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const NANOS_PER_MILLI: u64 = 1_000_000;

pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    if nanos % NANOS_PER_MILLI == 0 {
        (nanos / NANOS_PER_MILLI).serialize(serializer)
    } else {
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 nanoseconds, close above")]
        let millis = nanos as f64 / NANOS_PER_MILLI as f64;
        millis.serialize(serializer)
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let millis = f64::deserialize(deserializer)?;
    // Converted in two parts, because the product of the complete number would be rounded.
    let nanos = millis.trunc() * 1e6 + (millis.fract() * 1e6).round();
    if !nanos.is_finite() || nanos < 0.0 {
        return Err(de::Error::custom("expected a number of milliseconds, 0 or more"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an integer that is not negative; values that are too large saturate"
    )]
    Ok(Duration::from_nanos(nanos as u64))
}

/// Serialization of optional durations.
pub(super) mod option {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Millis(#[serde(with = "super")] Duration);

    pub(crate) fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        duration.map(Millis).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<Millis>::deserialize(deserializer)?.map(|Millis(duration)| duration))
    }
}

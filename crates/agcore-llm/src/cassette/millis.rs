//! Durations as milliseconds, with a fraction where they have one: exact to the nanosecond for fifty days.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const NANOS: u64 = 1_000_000;

pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    if nanos % NANOS == 0 {
        (nanos / NANOS).serialize(serializer)
    } else {
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 nanoseconds, close above")]
        let millis = nanos as f64 / NANOS as f64;
        millis.serialize(serializer)
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let millis = f64::deserialize(deserializer)?;
    // By parts, as the product of the whole would be rounded.
    let nanos = millis.trunc() * 1e6 + (millis.fract() * 1e6).round();
    if !nanos.is_finite() || nanos < 0.0 {
        return Err(de::Error::custom("milliseconds must be a number that is not negative"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and not negative; too large ones become the largest"
    )]
    Ok(Duration::from_nanos(nanos as u64))
}

/// The same of a duration that may be missing.
pub(super) mod option {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Millis(#[serde(with = "super")] Duration);

    pub(in super::super) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        duration.map(Millis).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<Millis>::deserialize(deserializer)?.map(|Millis(duration)| duration))
    }
}

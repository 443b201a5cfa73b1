//! [`Span`]: a time in a settings file, such as `90s` or `1h30m`.

use std::{fmt, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{self, Unexpected, Visitor},
};

/// A description of times, for errors.
const EXPECTED: &str = "a time such as \"90s\", \"5m\" or \"1h30m\", or a number of seconds";

/// The units of time with their lengths in milliseconds, the largest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// The longest time. Anything longer is taken for a mistake.
const MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// A time in a settings file, to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

/// A limit of time in a settings file: a [`Span`], or `None` for `"off"` and 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) Option<Duration>);

impl Span {
    /// Parses `90s`, `1h30m` or `250ms`: numbers with units, each smaller than the one before it.
    fn parse(text: &str) -> Option<Self> {
        let (mut rest, mut millis, mut units) = (text, 0_u64, UNITS.as_slice());
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit())?;
            let (number, after) = rest.split_at(digits);
            let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
            let (unit, next) = after.split_at(end);
            let at = units.iter().position(|(name, _)| *name == unit)?;
            millis = millis.checked_add(number.parse::<u64>().ok()?.checked_mul(units[at].1)?)?;
            (rest, units) = (next, &units[at + 1..]);
        }
        let is_empty = text.is_empty();
        Self::checked(Duration::from_millis(millis)).filter(|_| !is_empty)
    }

    fn of_seconds(seconds: f64) -> Option<Self> {
        Self::checked(Duration::try_from_secs_f64(seconds).ok()?)
    }

    fn checked(time: Duration) -> Option<Self> {
        (time <= MAX).then_some(Self(time))
    }
}

/// Formats a time as it is written in a settings file.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 {
            return f.write_str("0s");
        }
        for (name, length) in UNITS {
            if millis >= length {
                write!(f, "{}{name}", millis / length)?;
                millis %= length;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(time) => write!(f, "{}", Span(time)),
            None => f.write_str("off"),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpanVisitor)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Span(time) = deserializer.deserialize_any(LimitVisitor)?;
        Ok(Self((!time.is_zero()).then_some(time)))
    }
}

// Neither error quotes the text, which may contain a key if quotation marks are misplaced.
struct SpanVisitor;

impl Visitor<'_> for SpanVisitor {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
        Span::parse(text.trim()).ok_or_else(|| invalid(EXPECTED))
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Span, E> {
        Span::checked(Duration::from_secs(seconds)).ok_or_else(|| invalid(EXPECTED))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Span, E> {
        // Negative, or it would be a `u64`.
        Err(invalid(EXPECTED))
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Span, E> {
        Span::of_seconds(seconds).ok_or_else(|| invalid(EXPECTED))
    }
}

struct LimitVisitor;

impl Visitor<'_> for LimitVisitor {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{EXPECTED}, or \"off\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
        match text.trim() {
            "off" => Ok(Span(Duration::ZERO)),
            text => Span::parse(text).ok_or_else(|| invalid(&format!("{EXPECTED}, or \"off\""))),
        }
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Span, E> {
        SpanVisitor.visit_u64(seconds)
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Span, E> {
        SpanVisitor.visit_i64(seconds)
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Span, E> {
        SpanVisitor.visit_f64(seconds)
    }
}

fn invalid<E: de::Error>(expected: &str) -> E {
    E::invalid_value(Unexpected::Other("another value"), &expected)
}

#[cfg(test)]
mod tests {
    use agcore_document::Format;

    use super::*;

    #[test]
    fn parses_times_and_writes_them_back() {
        let check = |text: &str, millis: u64, written: &str| {
            let span = Span::parse(text).unwrap();
            assert_eq!(span.0, Duration::from_millis(millis), "{text}");
            assert_eq!(span.to_string(), written, "{text}");
        };
        check("90s", 90_000, "1m30s");
        check("5m", 300_000, "5m");
        check("1h30m", 5_400_000, "1h30m");
        check("1h1m1s1ms", 3_661_001, "1h1m1s1ms");
        check("250ms", 250, "250ms");
        check("0s", 0, "0s");
    }

    #[test]
    fn rejects_other_texts() {
        for wrong in [
            "",
            "5",
            "m",
            "s5",
            "5 m",
            "5min",
            "-5s",
            "1.5s",
            "5s3s",
            "30s1m",
            "5d",
            "999999h",
            "99999999999999999999s",
        ] {
            assert_eq!(Span::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_limit_may_be_off() {
        let limit = |text: &str| {
            Format::Toml
                .parse(text)
                .and_then(|root| root.read::<std::collections::BTreeMap<String, Limit>>())
                .map(|map| map["a"].0)
        };
        assert_eq!(limit("a = '2m'"), Ok(Some(Duration::from_secs(120))));
        assert_eq!(limit("a = 30"), Ok(Some(Duration::from_secs(30))));
        assert_eq!(limit("a = 0.5"), Ok(Some(Duration::from_millis(500))));
        assert_eq!((limit("a = 0"), limit("a = 'off'")), (Ok(None), Ok(None)));
        for wrong in ["a = -1", "a = 'soon'", "a = true", "a = 1e300"] {
            let error = limit(wrong).unwrap_err().to_string();
            assert!(
                error.contains("a time such as \"90s\"") && !error.contains("soon\n"),
                "{error}"
            );
        }
    }
}

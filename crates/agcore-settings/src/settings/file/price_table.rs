//! The tables `[prices.MODEL]`: the price of a model in its short form.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};

/// The price of a model, per million tokens. The names are those of a catalog.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceEntry {
    /// The currency; US dollars by default.
    pub currency: Option<String>,
    /// Tokens of the prompt.
    pub input: Decimal,
    /// Generated tokens.
    pub output: Decimal,
    /// Tokens of the prompt that were read from a cache; like others by default.
    pub hit: Option<Decimal>,
    /// Tokens of the prompt that were written to a cache; like others by default.
    pub write: Option<Decimal>,
    /// Generated tokens that were reasoning; like others by default.
    pub reasoning: Option<Decimal>,
    /// The location of the table: `agcore.toml:3:9`.
    #[serde(skip)]
    pub location: String,
}

/// A number as it is written in the file, because amounts of money are exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal(pub(crate) String);

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DecimalVisitor)
    }
}

struct DecimalVisitor;

impl Visitor<'_> for DecimalVisitor {
    type Value = Decimal;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a price such as 0.25")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Decimal, E> {
        Ok(Decimal(text.trim().to_owned()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Decimal, E> {
        Ok(Decimal(number.to_string()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Decimal, E> {
        Ok(Decimal(number.to_string()))
    }

    // The shortest text that stands for this number is the one in the file, unless that has more than 15 digits.
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Decimal, E> {
        Ok(Decimal(number.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use agcore_document::Format;

    use super::*;

    #[test]
    fn keeps_numbers_as_they_are_written() {
        let text = "input = 0.15\noutput = 2\nhit = '0.0750'\nwrite = 1e-3\n";
        let entry: PriceEntry = Format::Toml.parse(text).unwrap().read().unwrap();
        assert_eq!((entry.input.0.as_str(), entry.output.0.as_str()), ("0.15", "2"));
        assert_eq!(entry.hit.unwrap().0, "0.0750");
        assert_eq!(entry.write.unwrap().0, "0.001");
        assert!(entry.reasoning.is_none() && entry.currency.is_none());
        for wrong in [
            "input = 1\n",
            "input = true\noutput = 1\n",
            "input = 1\noutput = 1\ncached = 1\n",
        ] {
            assert!(
                Format::Toml
                    .parse(wrong)
                    .and_then(|root| root.read::<PriceEntry>())
                    .is_err(),
                "{wrong}"
            );
        }
    }
}

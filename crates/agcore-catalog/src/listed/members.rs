//! [`Members`]: the members of an entry of a public price list.

use serde_json::value::RawValue;

use super::unique::Unique;
use crate::{price::rate::Rate, problem::Problem};

/// Why an entry of a list is not taken.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The entry cannot be expressed; the others can still be taken.
    Skipped(Problem),
    /// The list is damaged or hostile: nothing of it is taken.
    Whole(Problem),
}

/// The members of an entry.
pub(super) struct Members<'f>(Unique<&'f RawValue>);

impl<'f> Members<'f> {
    pub(super) fn read(entry: &'f RawValue) -> Result<Self, Problem> {
        let members = serde_json::from_str(entry.get());
        members
            .map(Self)
            .map_err(|error| Problem::shown("entry", error, "an entry is an object"))
    }

    /// Returns the text of a member that is there and not null.
    pub(super) fn get(&self, name: &str) -> Option<&'f str> {
        let text = self.0.get(name)?.get();
        (text != "null").then_some(text)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.0.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?).ok()
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let texts = self.get(name).and_then(|text| serde_json::from_str(text).ok());
        texts.unwrap_or_default()
    }

    pub(super) fn object(&self, name: &str) -> Option<Members<'f>> {
        let entry: &RawValue = self.0.get(name)?;
        Self::read(entry).ok()
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// Returns a number of tokens, which some entries write with decimals or in quotation marks.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        let number: f64 = self.get(name)?.trim_matches('"').parse().ok()?;
        let is_count = (1.0..1e12).contains(&number);
        is_count.then_some(number as u64)
    }

    /// Returns a rate, which is multiplied by ten to this power. A value that is not a number of at least 0 refuses the list.
    pub(super) fn rate(&self, name: &str, power: i32) -> Result<Option<Rate>, Refusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let text = text.trim_matches('"');
        let number: f64 = match text.parse() {
            Ok(number) => number,
            Err(_) => {
                return Err(Refusal::Whole(Problem::text(
                    name,
                    text,
                    "a rate is a decimal number of at least 0",
                )));
            }
        };
        if !number.is_finite() || number < 0.0 {
            let rule = "a rate is a decimal number of at least 0";
            return Err(Refusal::Whole(Problem::text(name, text, rule)));
        }
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent = exponent.parse::<i32>().unwrap_or(i32::MIN).saturating_add(power);
        let rate = Rate::parse(name, &format!("{mantissa}e{exponent}"));
        rate.map(Some).map_err(Refusal::Skipped)
    }
}

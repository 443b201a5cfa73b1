//! [`QuotaEntry`]: a table `[[serve.quotas]]` of a settings file.

use agcore::chat::Money;
use serde::{
    Deserialize, Deserializer,
    de::{self, Unexpected},
};

/// A description of amounts of money, for errors.
const AMOUNT: &str = "an amount such as \"5.00 USD\"";

/// A table `[[serve.quotas]]`: the most that each tenant, or each user, may use within a window.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotaEntry {
    /// Whose use counts.
    pub scope: QuotaScopeName,
    /// The period in which it counts.
    pub per: QuotaWindowName,
    /// Runs that are started.
    pub runs: Option<u64>,
    /// Calls of models.
    pub model_calls: Option<u64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// The cost of models.
    #[serde(default, deserialize_with = "money")]
    pub money: Option<Money>,
}

/// Whose use counts for a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuotaScopeName {
    /// All users of a tenant together.
    Tenant,
    /// Each user alone.
    EachUser,
}

/// The period in which a quota counts, by the calendar in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuotaWindowName {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A month.
    Month,
}

/// Reads an amount. The error does not quote the text.
fn money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let refused = |_| de::Error::invalid_value(Unexpected::Other("another text"), &AMOUNT);
    text.parse().map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use agcore_document::Format;

    use super::*;

    #[test]
    fn quotas_are_read() {
        let text = "scope = 'each-user'\nper = 'day'\ntokens = 1_000\nmoney = '5 USD'\n";
        let entry: QuotaEntry = Format::Toml.parse(text).unwrap().read().unwrap();
        assert_eq!(
            (entry.scope, entry.per),
            (QuotaScopeName::EachUser, QuotaWindowName::Day)
        );
        assert_eq!((entry.tokens, entry.runs, entry.model_calls), (Some(1_000), None, None));
        assert_eq!(entry.money, Some(Money::from_micros(5_000_000, "USD")));
    }
}

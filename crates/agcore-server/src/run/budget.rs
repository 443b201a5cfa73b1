//! [`RunBudget`]: the most that a run may use.

use agcore_chat::Money;
use agcore_cycle::Budget;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::problem::Problem;

/// The most that a run may use, with everything that works for it, until the chain of runs that continue it with answers is over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RunBudget {
    /// Calls of models.
    #[serde(skip_serializing_if = "Option::is_none")]
    model_calls: Option<u64>,
    /// Input and output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    /// The cost of models.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_money",
        deserialize_with = "read_money"
    )]
    money: Option<Money>,
}

impl RunBudget {
    /// Reads a budget that a client has sent.
    ///
    /// # Errors
    /// `invalid_request` if it has another form, or allows nothing.
    pub(crate) fn read(value: &Value) -> Result<Self, Problem> {
        let members = value.as_object().filter(|members| !members.is_empty()).ok_or_else(|| {
            Problem::invalid(
                "`forwardedProps.budget` must be an object with at least one of `modelCalls`, `tokens` and `money`",
            )
        })?;
        let mut budget = Self::default();
        for (name, value) in members {
            match name.as_str() {
                "modelCalls" => budget.model_calls = Some(number(name, value)?),
                "tokens" => budget.tokens = Some(number(name, value)?),
                "money" => budget.money = Some(money(value)?),
                _ => {
                    return Err(Problem::invalid(format!(
                        "`forwardedProps.budget` has the unknown member {name:?}; it may have `modelCalls`, `tokens` and `money`"
                    )));
                }
            }
        }
        Ok(budget)
    }

    /// Returns the budget of a run that continues another one with answers: the new one, or else that of the other run.
    ///
    /// # Errors
    /// `invalid_request` if they are in different currencies: it is not known then what is left.
    pub(crate) fn continued(before: Option<Self>, new: Option<Self>) -> Result<Option<Self>, Problem> {
        let currency = |budget: &Option<Self>| budget.as_ref().and_then(Self::currency).map(str::to_owned);
        match (currency(&before), currency(&new)) {
            (Some(old), Some(currency)) if old != currency => Err(Problem::invalid(format!(
                "`forwardedProps.budget` is in {currency}, but the run that it continues has a budget in {old}; use {old}"
            ))),
            _ => Ok(new.or(before)),
        }
    }

    /// Returns the currency, if money is limited.
    pub(crate) fn currency(&self) -> Option<&str> {
        self.money.as_ref().map(|money| &*money.currency)
    }

    /// Returns the limits.
    pub(crate) fn limits(&self) -> Budget {
        let mut limits = Budget::new();
        limits.model_calls = self.model_calls;
        limits.tokens = self.tokens;
        limits.money.clone_from(&self.money);
        limits
    }
}

fn number(name: &str, value: &Value) -> Result<u64, Problem> {
    value
        .as_u64()
        .filter(|number| *number > 0)
        .ok_or_else(|| Problem::invalid(format!("`forwardedProps.budget.{name}` must be a whole number above 0")))
}

fn money(value: &Value) -> Result<Money, Problem> {
    let read = value.as_str().and_then(|text| text.parse::<Money>().ok());
    read.filter(|money| money.micros > 0).ok_or_else(|| {
        Problem::invalid(
            "`forwardedProps.budget.money` must be an amount above 0 with its currency, such as \"0.50 USD\"",
        )
    })
}

// As serde calls it.
#[expect(clippy::ref_option, reason = "serde passes a reference to the member")]
fn write_money<S: Serializer>(money: &Option<Money>, serializer: S) -> Result<S::Ok, S::Error> {
    money.as_ref().map(Money::to_string).serialize(serializer)
}

fn read_money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> RunBudget {
        RunBudget::read(value).unwrap()
    }

    #[test]
    fn a_budget_is_stored_as_it_was_sent() {
        let sent = json!({"modelCalls": 20, "tokens": 200_000, "money": "0.50 USD"});
        let budget = read(&sent);
        let stored = serde_json::to_value(&budget).unwrap();
        assert_eq!(
            stored,
            json!({"modelCalls": 20, "tokens": 200_000, "money": "0.500000 USD"})
        );
        assert_eq!(serde_json::from_value::<RunBudget>(stored).unwrap(), budget);
        let limits = Budget::new().with_model_calls(20).with_tokens(200_000);
        assert_eq!(budget.limits(), limits.with_money(Money::from_micros(500_000, "USD")));
        // The same amount in another form is the same budget.
        assert_eq!(read(&json!({"money": "0.5 USD"})), read(&json!({"money": "0.500 USD"})));
        let calls = read(&json!({"modelCalls": 1}));
        assert_eq!(serde_json::to_value(&calls).unwrap(), json!({"modelCalls": 1}));
    }

    #[test]
    fn a_budget_that_is_not_one_is_refused_with_the_member() {
        let number = "must be a whole number above 0";
        let amount = "must be an amount above 0 with its currency, such as \"0.50 USD\"";
        for (value, expected) in [
            (json!(null), "`forwardedProps.budget` must be an object".to_owned()),
            (json!(5), "`forwardedProps.budget` must be an object".to_owned()),
            (json!({}), "`forwardedProps.budget` must be an object".to_owned()),
            (
                json!({"tokens": 1, "runs": 2}),
                "`forwardedProps.budget` has the unknown member \"runs\"".to_owned(),
            ),
            (json!({"tokens": 0}), format!("`forwardedProps.budget.tokens` {number}")),
            (
                json!({"tokens": 1.5}),
                format!("`forwardedProps.budget.tokens` {number}"),
            ),
            (
                json!({"tokens": null}),
                format!("`forwardedProps.budget.tokens` {number}"),
            ),
            (
                json!({"modelCalls": -1}),
                format!("`forwardedProps.budget.modelCalls` {number}"),
            ),
            (json!({"money": 5}), format!("`forwardedProps.budget.money` {amount}")),
            (json!({"money": "5"}), format!("`forwardedProps.budget.money` {amount}")),
            (
                json!({"money": "0 USD"}),
                format!("`forwardedProps.budget.money` {amount}"),
            ),
            (
                json!({"money": "-1 USD"}),
                format!("`forwardedProps.budget.money` {amount}"),
            ),
        ] {
            let problem = RunBudget::read(&value).unwrap_err().to_string();
            assert!(problem.contains(&expected), "{value}: {problem}");
        }
    }

    #[test]
    fn a_continuation_has_the_budget_before_or_a_new_one() {
        let dollars = || Some(read(&json!({"money": "1 USD"})));
        let calls = || Some(read(&json!({"modelCalls": 1})));
        assert_eq!(RunBudget::continued(dollars(), None).unwrap(), dollars());
        assert_eq!(RunBudget::continued(dollars(), calls()).unwrap(), calls());
        assert_eq!(RunBudget::continued(None, calls()).unwrap(), calls());
        assert_eq!(RunBudget::continued(None, None).unwrap(), None);
        let euros = Some(read(&json!({"money": "1 EUR"})));
        let problem = RunBudget::continued(dollars(), euros).unwrap_err().to_string();
        assert!(
            problem.contains("is in EUR") && problem.contains("use USD"),
            "{problem}"
        );
    }
}

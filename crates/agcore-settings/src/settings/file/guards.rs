//! The tables `[budget.turn]` and `[budget.session]`, and the list `redact`.

use agcore::llm::{Budget, Budgets};
use regex::Regex;
use serde::{Deserialize, Deserializer, de};

/// The table `[budget]`: what agents may use.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetTable {
    /// For each turn.
    #[serde(default)]
    pub turn: BudgetEntry,
    /// For all turns of a session together.
    #[serde(default)]
    pub session: BudgetEntry,
}

/// The limits of a turn or a session.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetEntry {
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Requests to the model.
    pub(crate) model_calls: Option<u64>,
    /// Calls of tools.
    pub tool_calls: Option<u64>,
}

impl BudgetTable {
    /// Returns the budgets with the smaller of both limits: a file can only lower what another file allows.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            turn: self.turn.and(other.turn),
            session: self.session.and(other.session),
        }
    }

    /// Returns the budgets of agents.
    pub fn budgets(&self) -> Budgets {
        Budgets::new()
            .with_turn(self.turn.budget())
            .with_session(self.session.budget())
    }
}

impl BudgetEntry {
    fn and(self, other: Self) -> Self {
        let smaller = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        Self {
            tokens: smaller(self.tokens, other.tokens),
            model_calls: smaller(self.model_calls, other.model_calls),
            tool_calls: smaller(self.tool_calls, other.tool_calls),
        }
    }

    fn budget(self) -> Budget {
        let mut budget = Budget::new();
        budget.tokens = self.tokens;
        budget.model_calls = self.model_calls;
        budget.tool_calls = self.tool_calls;
        budget
    }
}

/// The list `redact`: regular expressions for texts that the model does not get from tools.
#[derive(Debug, Default, Clone)]
pub(crate) struct RedactList(pub(crate) Vec<Regex>);

impl<'de> Deserialize<'de> for RedactList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let patterns = Vec::<String>::deserialize(deserializer)?;
        let compiled = patterns.iter().map(|pattern| {
            let regex = Regex::new(pattern).map_err(|error| {
                let error = error.to_string();
                // The lines before it show the expression.
                let reason = error.lines().last().unwrap_or_default();
                let reason = reason.trim_start_matches("error: ");
                de::Error::custom(format!("{pattern:?} is not a regular expression: {reason}"))
            })?;
            match regex.is_match("") {
                true => Err(de::Error::custom(format!(
                    "{pattern:?} matches an empty text, so it would replace everything; make it longer"
                ))),
                false => Ok(regex),
            }
        });
        compiled.collect::<Result<_, D::Error>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use agcore_document::Format;

    use super::*;

    #[test]
    fn the_smaller_limit_of_two_files_counts() {
        let table = |text: &str| {
            Format::Toml
                .parse(text)
                .and_then(|root| root.read::<BudgetTable>())
                .unwrap()
        };
        let one = table("turn = { tokens = 10, tool_calls = 3 }");
        let other = table("turn = { tokens = 20, model_calls = 2 }\nsession = { tokens = 5 }");
        let both = one.and(&other);
        assert_eq!(
            both.turn,
            BudgetEntry {
                tokens: Some(10),
                model_calls: Some(2),
                tool_calls: Some(3)
            }
        );
        assert_eq!(both.session.tokens, Some(5));
        assert!(both.budgets().is_active() && !BudgetTable::default().budgets().is_active());
        assert!(
            Format::Toml
                .parse("turn = { token = 1 }")
                .and_then(|root| root.read::<BudgetTable>())
                .is_err()
        );
    }

    #[test]
    fn patterns_are_regular_expressions_that_match_some_text() {
        #[derive(Debug, Deserialize)]
        struct Table {
            redact: RedactList,
        }
        let table = |text: &str| Format::Toml.parse(text).and_then(|root| root.read::<Table>());
        assert_eq!(table("redact = ['ACME-\\d+']").unwrap().redact.0.len(), 1);
        for (wrong, reason) in [("(", "unclosed group"), ("a*", "matches an empty text")] {
            let error = table(&format!("redact = ['{wrong}']")).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}

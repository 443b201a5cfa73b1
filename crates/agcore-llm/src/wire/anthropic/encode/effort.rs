//! [`Effort`]: how much the model shall think, in the words that the model takes.
//!
//! After the vendor's pages on adaptive thinking, extended thinking and effort: models up to Claude 4.5 think within a
//! budget of tokens, later ones decide for themselves and refuse a budget.

use serde_json::{Value, json};

use super::super::settings::Thinking;

/// The models that know budgets only, by parts of their names; a dot or an at sign counts as a hyphen.
const WITH_BUDGET: &[&str] = &[
    "claude-3",
    "opus-4-0",
    "opus-4-1",
    "opus-4-5",
    "opus-4-2025",
    "sonnet-4-0",
    "sonnet-4-5",
    "sonnet-4-2025",
    "haiku-4-5",
];

/// The smallest budget that the API takes.
const SMALLEST_BUDGET: u64 = 1024;

/// What a request says of thinking.
#[derive(Debug, PartialEq)]
pub(super) struct Effort<'a> {
    /// The member `thinking`.
    pub(super) thinking: Value,
    /// The effort in `output_config`.
    pub(super) effort: Option<&'a str>,
}

impl<'a> Effort<'a> {
    /// The words for an effort, where the model may generate so many tokens.
    pub(super) fn of(effort: &'a str, rule: Thinking, model: &str, max_tokens: u64) -> Result<Self, String> {
        let share = match effort {
            "none" => {
                return Ok(Self {
                    thinking: json!({"type": "disabled"}),
                    effort: None,
                });
            }
            "low" => 20,
            "medium" => 50,
            "high" => 80,
            "xhigh" | "max" => 95,
            other => {
                return Err(format!(
                    "the API has no reasoning effort `{other}`: it knows none, low, medium, high, xhigh and max"
                ));
            }
        };
        let has_budget = match rule {
            Thinking::ByModel => knows_budgets_only(model),
            Thinking::Adaptive => false,
            Thinking::Budget => true,
        };
        if !has_budget {
            return Ok(Self {
                thinking: json!({"type": "adaptive"}),
                effort: Some(effort),
            });
        }
        // The budget is a part of the limit, and something must be left for the answer.
        if max_tokens <= SMALLEST_BUDGET {
            return Err(format!(
                "thinking takes at least {SMALLEST_BUDGET} tokens of a limit of {max_tokens}: raise the limit, or ask for \
                 no reasoning"
            ));
        }
        let budget = (max_tokens.saturating_mul(share) / 100).clamp(SMALLEST_BUDGET, max_tokens - 1);
        Ok(Self {
            thinking: json!({"type": "enabled", "budget_tokens": budget}),
            effort: None,
        })
    }
}

fn knows_budgets_only(model: &str) -> bool {
    let name = model.to_ascii_lowercase().replace(['.', '@'], "-");
    WITH_BUDGET.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(effort: &str, model: &str, max_tokens: u64, thinking: Value, expected: Option<&str>) {
        let found = Effort::of(effort, Thinking::ByModel, model, max_tokens).unwrap();
        let expected = Effort {
            thinking,
            effort: expected,
        };
        assert_eq!(found, expected, "{model}");
    }

    #[test]
    fn newer_models_decide_for_themselves() {
        for model in [
            "claude-opus-4-6",
            "claude-opus-4-8-20260528",
            "claude-sonnet-5",
            "glm-5",
        ] {
            check("low", model, 100, json!({"type": "adaptive"}), Some("low"));
        }
    }

    #[test]
    fn older_models_get_a_share_of_the_limit() {
        let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
        for model in [
            "claude-sonnet-4-5",
            "claude-opus-4@20250514",
            "anthropic/claude-3.7-sonnet",
        ] {
            check("medium", model, 10_000, budget(5000), None);
        }
        check("low", "claude-haiku-4-5", 2000, budget(1024), None);
        check("max", "claude-haiku-4-5", 1025, budget(1024), None);
        let refused = Effort::of("high", Thinking::Budget, "m", 1024).unwrap_err();
        assert!(refused.contains("raise the limit"), "{refused}");
    }

    #[test]
    fn none_is_none_and_unknown_words_are_refused() {
        check("none", "claude-sonnet-5", 1, json!({"type": "disabled"}), None);
        check("none", "claude-haiku-4-5", 1, json!({"type": "disabled"}), None);
        let refused = Effort::of("minimal", Thinking::ByModel, "m", 9).unwrap_err();
        assert!(refused.contains("`minimal`"), "{refused}");
    }
}

//! Knowledge about the models of Claude, which several vendors serve.

/// Parts of the names of models that support only thinking budgets. Dots and at signs in a name count as hyphens.
const BUDGET_ONLY: &[&str] = &[
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

/// The smallest thinking budget that the models accept, in tokens.
pub(crate) const MIN_BUDGET: u64 = 1024;

/// Returns whether a model thinks within a budget of tokens. Later models decide for themselves and reject a budget.
pub(crate) fn supports_only_budgets(model: &str) -> bool {
    let name = model.to_ascii_lowercase().replace(['.', '@'], "-");
    BUDGET_ONLY.iter().any(|part| name.contains(part))
}

/// Returns the share of the token limit that a reasoning effort stands for, in percent; `None` for an unknown effort.
pub(crate) fn percent_of_limit(effort: &str) -> Option<u64> {
    Some(match effort {
        "low" => 20,
        "medium" => 50,
        "high" => 80,
        "xhigh" | "max" => 95,
        _ => return None,
    })
}

/// Returns a thinking budget, or `None` if the limit is too low for one. The budget counts towards the limit, and at least one
/// token is left for the answer.
pub(crate) fn budget(percent: u64, max_tokens: u64) -> Option<u64> {
    let largest = max_tokens.checked_sub(1).filter(|largest| *largest >= MIN_BUDGET)?;
    Some((max_tokens.saturating_mul(percent) / 100).clamp(MIN_BUDGET, largest))
}

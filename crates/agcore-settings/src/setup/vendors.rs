//! The providers that `agcore init` offers.

use crate::vendor::{example_model, is_variant};
use agcore::llm::ProviderType;

use super::found::Found;

/// The providers that are offered first if nothing was found.
const COMMON: [&str; 4] = ["openai", "anthropic", "gemini", "ollama"];

/// The name for any other server.
const OTHER: &str = "compatible";

/// Returns the providers that were found, then the common ones, then all others with a known model, and last any other
/// server.
pub fn offered(found: &Found) -> Vec<ProviderType> {
    let common = COMMON.into_iter().filter_map(|name| name.parse().ok());
    // A region is not asked for.
    let is_offered =
        |provider: &ProviderType| example_model(provider).is_some() && !is_variant(provider) && !provider.is_regional();
    let others = ProviderType::all().filter(is_offered);
    let mut offered: Vec<ProviderType> = Vec::new();
    let all = found.providers().cloned().chain(common).chain(others);
    for provider in all.chain(OTHER.parse().ok()) {
        if !offered.contains(&provider) {
            offered.push(provider);
        }
    }
    offered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_offered_first_and_once() {
        let nothing = offered(&Found::default());
        assert_eq!(
            nothing.iter().take(2).map(ProviderType::name).collect::<Vec<_>>(),
            ["openai", "anthropic"]
        );
        assert_eq!(nothing.last().unwrap().name(), OTHER);
        let found = Found::of_environment(&["MISTRAL_API_KEY", "OPENAI_API_KEY"]);
        let some = offered(&found);
        assert_eq!(some.iter().filter(|provider| provider.name() == "openai").count(), 1);
        assert!(some.iter().take(2).any(|provider| provider.name() == "mistral"));
        assert_eq!(some.len(), nothing.len());
    }
}

//! Checks whether the prices of a model are plausible.

use super::model::SnapshotModel;
use crate::{
    price::{
        model_price::ModelPrice,
        rate::Rate,
        tiers::{Tier, TierTable},
    },
    problem::Problem,
};

/// The largest plausible rate of a million tokens, and the largest one of a request, an image or a second.
const MAX_RATES: [(&str, &str); 2] = [("tokens", "2000"), ("units", "100")];

/// Returns the implausible prices of a model: a cache that is dearer than the input, a write that is cheaper than
/// none, a class of cheaper calls that is dearer, rates beyond all that are known.
pub(super) fn implausible(model: &SnapshotModel) -> Vec<Problem> {
    let standard = standard(model);
    let mut problems = Vec::new();
    for price in &model.model.prices {
        let class = price.service_class.as_deref().unwrap_or(super::row::STANDARD);
        for (index, tier) in price.tiers.tiers().iter().enumerate() {
            let at = format!("{}.{class}[{index}]", model.name());
            problems.extend(of_tier(tier).map(|problem| problem.below(&at)));
            let same = standard.and_then(|standard| standard.tiers.tiers().get(index));
            let cheaper = ["batch", "flex"].contains(&class);
            if let Some(same) = same.filter(|same| cheaper && (tier.input > same.input || tier.output > same.output)) {
                let rule = "calls of this class cost at most what others cost";
                problems.push(Problem::shown(format!("{at}.input"), same.input, rule));
            }
        }
    }
    problems
}

fn of_tier(tier: &Tier) -> impl Iterator<Item = Problem> {
    let refused = |field: &str, rate: Rate, rule: &str| Problem::shown(field, rate, rule);
    let dear = |index: usize| Rate::parse("limit", MAX_RATES[index].1).unwrap_or_default();
    let tokens = [
        ("input", tier.input),
        ("output", tier.output.unwrap_or_default()),
        ("hit", tier.hit),
        ("write", tier.write),
        ("write_long", tier.write_long),
        ("reasoning", tier.reasoning),
        ("audio_input", tier.audio_input),
        ("audio_output", tier.audio_output),
    ];
    let units = [
        ("request", tier.request),
        ("image", tier.image),
        ("second", tier.second),
        ("minute", tier.minute),
        ("search", tier.search),
        ("document", tier.document),
    ];
    let mut problems = Vec::new();
    if tier.hit > tier.input {
        problems.push(refused("hit", tier.hit, "reading from a cache costs at most the input"));
    }
    if !tier.write_long.is_zero() && tier.write_long < tier.write {
        problems.push(refused(
            "write_long",
            tier.write_long,
            "a longer time costs at least as much",
        ));
    }
    for (rates, index) in [(&tokens[..], 0), (&units[..], 1)] {
        for (name, rate) in rates.iter().filter(|(_, rate)| *rate > dear(index)) {
            problems.push(refused(name, *rate, "no vendor has such a rate"));
        }
    }
    problems.into_iter()
}

/// Returns the price that everyone gets.
pub(super) fn standard(model: &SnapshotModel) -> Option<&ModelPrice> {
    model.model.prices.iter().find(|price| price.service_class.is_none())
}

/// Returns whether two models have the same prices in all classes.
pub(super) fn has_same_rates(one: &SnapshotModel, other: &SnapshotModel) -> bool {
    let rates = |model: &SnapshotModel| -> Vec<(Option<String>, TierTable)> {
        let prices = model.model.prices.iter();
        prices
            .map(|price| (price.service_class.clone(), price.tiers.clone()))
            .collect()
    };
    rates(one) == rates(other)
}

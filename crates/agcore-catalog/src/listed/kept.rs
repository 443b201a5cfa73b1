//! Values that a row of a public price list leaves out, and the known row states.

use std::collections::BTreeSet;

use super::{check::standard, format::SourceFormat, model::SnapshotModel, row::STANDARD};
use crate::price::{
    model_price::ModelPrice,
    tiers::{Tier, TierTable},
};

/// The capabilities that models.dev does not know.
const NOT_IN_MODELS_DEV: [&str; 2] = ["caching", "web_search"];

/// Adds what the known row states and the list does not: limits, the day of retirement, and rates and classes of the same price.
/// Those of another price would be wrong, because they follow the rates of input and output.
pub(super) fn keep(known: &SnapshotModel, row: &mut SnapshotModel, format: SourceFormat) {
    let (before, model) = (&known.model, &mut row.model);
    model.context_window = model.context_window.or(before.context_window);
    model.max_output_tokens = model.max_output_tokens.or(before.max_output_tokens);
    row.retires = row.retires.take().or_else(|| known.retires.clone());
    if format == SourceFormat::ModelsDev {
        let has = |name: &str| before.capabilities.iter().any(|known| known == name);
        let unknown = NOT_IN_MODELS_DEV.into_iter().filter(|name| has(name));
        model.capabilities.extend(unknown.map(str::to_owned));
    }
    let Some(old) = standard(known) else { return };
    let Some(new) = model.prices.iter_mut().find(|price| price.service_class.is_none()) else {
        model.prices.clone_from(&before.prices);
        row.source.clone_from(&known.source);
        return;
    };
    let Some(tiers) = completed(&old.tiers, &new.tiers) else {
        return;
    };
    new.tiers = tiers;
    for price in &before.prices {
        if !model
            .prices
            .iter()
            .any(|stated| stated.service_class == price.service_class)
        {
            model.prices.push(price.clone());
        }
    }
}

/// Returns the new tiers with the rates that they do not state; `None` if the input or the output has another price.
fn completed(old: &TierTable, new: &TierTable) -> Option<TierTable> {
    let (old, new) = (old.tiers(), new.tiers());
    let base = |tier: &Tier| (tier.max_prompt_tokens, tier.input, tier.output);
    if !old.iter().map(base).eq(new.iter().map(base)) {
        return None;
    }
    let mut tiers = new.to_vec();
    for (tier, old) in tiers.iter_mut().zip(old) {
        let writes = (old.write, tier.write);
        for ((name, rate), (_, known)) in tier.others_mut().into_iter().zip(old.others()) {
            // The rate of longer times belongs to that of a short one.
            let is_other = name == "write_long" && !writes.1.is_zero() && writes.0 != writes.1;
            if rate.is_zero() && !is_other {
                *rate = known;
            }
        }
    }
    TierTable::new(tiers).ok()
}

/// Returns the names of the rates and classes that only the row before states.
pub(super) fn gone<'m>(before: &'m SnapshotModel, after: &'m SnapshotModel) -> Vec<&'m str> {
    let rates = |row: &SnapshotModel| -> BTreeSet<&'static str> {
        let tiers = standard(row).map_or(&[][..], |price| price.tiers.tiers());
        let stated = tiers.iter().flat_map(Tier::others);
        stated
            .filter(|(_, rate)| !rate.is_zero())
            .map(|(name, _)| name)
            .collect()
    };
    let after_rates = rates(after);
    let lost = rates(before)
        .into_iter()
        .filter(move |name| !after_rates.contains(name));
    let classes = |row: &'m SnapshotModel| row.model.prices.iter().map(class);
    let lost_classes = classes(before).filter(|class| !classes(after).any(|known| known == *class));
    lost.chain(lost_classes).collect()
}

fn class(price: &ModelPrice) -> &str {
    price.service_class.as_deref().unwrap_or(STANDARD)
}

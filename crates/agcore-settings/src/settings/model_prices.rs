//! The prices of `[prices]` as those of a catalog.

use agcore::catalog::{Currency, ModelPrice, Problem, Rate, Tier, TierTable};

use super::{
    file::price_table::{Decimal, PriceEntry},
    origin::Chosen,
    sources::SettingsFile,
};
use crate::SettingsError;

/// Returns the prices of all files, with the first file that has some. A model has that of the first file which names it.
///
/// # Errors
/// When a price or a currency is invalid.
pub(super) fn of_files(files: &[SettingsFile]) -> Result<Option<Chosen<Vec<ModelPrice>>>, SettingsError> {
    let mut prices: Vec<ModelPrice> = Vec::new();
    for (model, entry) in files.iter().flat_map(|file| &file.file.prices) {
        if prices.iter().all(|price| price.model != model.value) {
            let price = price(&model.value, entry).map_err(|problem| {
                // Not quoted: with misplaced quotation marks, the text may be a key.
                SettingsError::new(format!(
                    "{}: invalid price: {}: {}",
                    entry.location,
                    problem.field(),
                    problem.rule()
                ))
            })?;
            prices.push(price);
        }
    }
    let first = files.iter().find(|file| !file.file.prices.0.is_empty());
    Ok(first.map(|file| Chosen {
        value: prices,
        origin: file.origin.clone(),
    }))
}

/// Converts a price. It applies to the model of this name of every provider.
fn price(model: &str, entry: &PriceEntry) -> Result<ModelPrice, Problem> {
    let currency = entry.currency.as_deref().unwrap_or("USD");
    let currency = Currency::parse("currency", currency)?;
    let rate = |field: &str, number: &Decimal| Rate::parse(field, &number.0);
    let mut tier = Tier::new(None, rate("input", &entry.input)?, Some(rate("output", &entry.output)?));
    let others = [
        ("hit", &entry.hit, &mut tier.hit),
        ("write", &entry.write, &mut tier.write),
        ("reasoning", &entry.reasoning, &mut tier.reasoning),
    ];
    for (field, number, target) in others {
        if let Some(number) = number {
            *target = rate(field, number)?;
        }
    }
    let tiers = TierTable::new(vec![tier]).map_err(|mut problems| problems.remove(0))?;
    Ok(ModelPrice::new(model, currency, tiers))
}

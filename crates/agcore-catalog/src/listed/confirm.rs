//! [`SnapshotCheck`]: a snapshot that was compared with a second one.

use std::{collections::HashMap, fmt};

use super::{
    check::standard,
    compose::compose,
    header::Header,
    model::{SnapshotModel, names},
    snapshot::Snapshot,
};
use crate::{
    catalog::error::CatalogError,
    price::{
        model_price::ModelPrice,
        rate::Rate,
        tiers::{Tier, TierTable},
    },
};

/// A snapshot that was compared with a second one, and where the two differ.
#[derive(Debug)]
#[non_exhaustive]
pub struct SnapshotCheck {
    /// The snapshot with the prices that count.
    pub snapshot: Snapshot,
    /// The number of models whose prices are the same in both.
    pub confirmed: usize,
    /// The number of models with a price that the second one does not have.
    pub unconfirmed: usize,
    /// The values that are different, in the order of vendors and models.
    pub disagreements: Vec<Disagreement>,
}

/// A value that is different in two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// The vendor.
    pub vendor: String,
    /// The model.
    pub model: String,
    /// The value, such as `input` or `tiers`.
    pub field: &'static str,
    /// The value of the first one, which counts unless it is missing.
    pub first: String,
    /// The value of the second one.
    pub second: String,
}

/// Formats a line such as `openai/gpt-4o input: 2.5, second 5`.
impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            vendor,
            model,
            field,
            first,
            second,
        } = self;
        write!(f, "{vendor}/{model} {field}: {first}, second {second}")
    }
}

impl Snapshot {
    /// Compares the standard prices with those of a second snapshot. Nothing is averaged: the value of this one counts, and that of
    /// the second one only for models without a price here. A price of 0 counts if both state it. The id and the day are those of
    /// this one.
    ///
    /// # Errors
    /// Fails if the result is not a valid snapshot, which means that one of the two is damaged.
    pub fn checked_against(&self, second: &Self) -> Result<SnapshotCheck, CatalogError> {
        let (mut confirmed, mut unconfirmed, mut disagreements) = (0, 0, Vec::new());
        let mut vendors = Vec::new();
        for vendor in self.vendors() {
            let mut rows = self.models(&vendor.name).to_vec();
            let others: HashMap<&str, &SnapshotModel> = names(second.models(&vendor.name)).collect();
            for row in &mut rows {
                let other = others.get(row.name()).copied();
                let found = other.map_or_else(Vec::new, |other| differences(row, other));
                match (standard(row).is_some(), other.and_then(standard).is_some()) {
                    (true, true) if found.is_empty() => confirmed += 1,
                    (true, false) => unconfirmed += 1,
                    (false, true) => take_price(row, other, self.id()),
                    (false, false) if row.states_zero && other.is_some_and(|other| other.states_zero) => {
                        set_free(row, vendor.currency, self.id());
                    }
                    _ => {}
                }
                disagreements.extend(found.into_iter().map(|(field, first, second)| Disagreement {
                    vendor: vendor.name.clone(),
                    model: row.name().to_owned(),
                    field,
                    first,
                    second,
                }));
            }
            vendors.push((vendor.clone(), rows));
        }
        let sources = self.sources().iter().chain(second.sources()).cloned().collect();
        let text = compose(&Header::new(self.id().to_owned(), self.date(), sources), vendors);
        Ok(SnapshotCheck {
            snapshot: Self::parse("the checked snapshot", &text)?,
            confirmed,
            unconfirmed,
            disagreements,
        })
    }
}

/// Takes the standard price of the second snapshot.
fn take_price(row: &mut SnapshotModel, other: Option<&SnapshotModel>, id: &str) {
    let Some((other, price)) = other.and_then(|other| Some((other, standard(other)?))) else {
        return;
    };
    let price = ModelPrice::new(row.name(), price.currency, price.tiers.clone()).with_version(id, None, None);
    row.model.prices = vec![price];
    row.source.clone_from(&other.source);
}

fn set_free(row: &mut SnapshotModel, currency: crate::Currency, id: &str) {
    let output = row.model.kind.is_chat().then(Rate::default);
    if let Ok(table) = TierTable::new(vec![Tier::new(None, Rate::default(), output)]) {
        row.model.prices = vec![ModelPrice::new(row.name(), currency, table).with_version(id, None, None)];
        row.is_free = true;
    }
}

/// Returns the values of standard prices that are different. A rate that only one of the two states is not a difference, except
/// for input and output.
fn differences(one: &SnapshotModel, two: &SnapshotModel) -> Vec<(&'static str, String, String)> {
    let (Some(first), second) = (standard(one), standard(two)) else {
        return match standard(two) {
            Some(price) => vec![("price", "none".to_owned(), shown(&price.tiers))],
            None => Vec::new(),
        };
    };
    let Some(second) = second else { return Vec::new() };
    let (first, second) = (first.tiers.tiers(), second.tiers.tiers());
    if first.len() != second.len() {
        return vec![("tiers", shown_tiers(first), shown_tiers(second))];
    }
    let mut found = Vec::new();
    for (one, two) in first.iter().zip(second) {
        let output = |tier: &Tier| tier.output.unwrap_or_default();
        let mut rates = vec![("input", one.input, two.input), ("output", output(one), output(two))];
        let pairs = one.others().into_iter().zip(two.others());
        let stated = pairs.filter(|((_, one), (_, two))| !one.is_zero() && !two.is_zero());
        rates.extend(stated.map(|((name, one), (_, two))| (name, one, two)));
        let different = rates.into_iter().filter(|(_, one, two)| one != two);
        found.extend(different.map(|(name, one, two)| (name, one.to_string(), two.to_string())));
        if one.max_prompt_tokens != two.max_prompt_tokens {
            let limit = |tier: &Tier| tier.max_prompt_tokens.unwrap_or_default().to_string();
            found.push(("max_prompt_tokens", limit(one), limit(two)));
        }
    }
    found
}

fn shown(table: &TierTable) -> String {
    shown_tiers(table.tiers())
}

fn shown_tiers(tiers: &[Tier]) -> String {
    let tiers = tiers.iter().map(|tier| match tier.output {
        Some(output) => format!("{}/{output}", tier.input),
        None => tier.input.to_string(),
    });
    tiers.collect::<Vec<_>>().join(" ")
}

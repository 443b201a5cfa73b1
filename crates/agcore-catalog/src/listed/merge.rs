//! Merges the models of a public price list with those of a snapshot.

use std::collections::{HashMap, HashSet};

use super::{
    check::{has_same_rates, implausible, standard},
    entry::Entry,
    format::SourceFormat,
    kept::keep,
    model::SnapshotModel,
    snapshot::Snapshot,
    vendor::SnapshotVendor,
};
use crate::problem::Problem;

/// Models as a list states them, each once.
#[derive(Debug, Default)]
struct Stated {
    rows: Vec<SnapshotModel>,
    /// The places of the rows by their names.
    by_name: HashMap<String, usize>,
    /// The places of those that have two prices.
    ambiguous: HashSet<usize>,
}

/// Returns the rows of a vendor: those of the list, and those of the snapshot that the list does not replace.
pub(super) fn merge(
    snapshot: &Snapshot,
    (vendor, entries): (&SnapshotVendor, Vec<Entry>),
    (format, id, source): (SourceFormat, &str, &str),
    skipped: &mut Vec<Problem>,
) -> Vec<SnapshotModel> {
    let known = snapshot.models(&vendor.name);
    let by_name: HashMap<String, &SnapshotModel> = known
        .iter()
        .flat_map(|row| row.names().map(move |name| (name.to_ascii_lowercase(), row)))
        .collect();
    let of = |row: &SnapshotModel| by_name.get(&row.name().to_ascii_lowercase()).copied();
    let mut stated = Stated::default();
    for entry in entries {
        let row = entry.into_model(vendor.currency, id, source);
        let known = of(&row);
        stated.add(row, known, &vendor.name, skipped);
    }
    let (mut new, mut replaced) = (Vec::new(), HashSet::new());
    for (place, mut row) in stated.rows.into_iter().enumerate() {
        let is_ambiguous = stated.ambiguous.contains(&place);
        match of(&row) {
            Some(known) if is_ambiguous || confirms(known, &row) => continue,
            Some(known) => keep(known, &mut row, format),
            None if is_ambiguous => row.model.prices.clear(),
            None => {}
        }
        replaced.insert(row.name().to_ascii_lowercase());
        new.push(row);
    }
    let kept = known.iter().filter_map(|row| without(row, &replaced));
    kept.chain(new).collect()
}

impl Stated {
    /// Adds a row, unless its prices are not acceptable.
    fn add(&mut self, mut row: SnapshotModel, known: Option<&SnapshotModel>, vendor: &str, skipped: &mut Vec<Problem>) {
        let place = format!("{vendor}.{}.prices", row.name());
        if row.states_zero && known.is_some_and(|known| !known.is_free && !known.model.prices.is_empty()) {
            let rule = "the model costs money by now; if it has become free, write that into a catalog of your own";
            skipped.push(Problem::shown(place, "0", rule));
            return;
        }
        let wrong = implausible(&row);
        if !wrong.is_empty() {
            skipped.extend(wrong.into_iter().map(|problem| problem.below(vendor)));
            if known.is_some() {
                return;
            }
            row.model.prices.clear();
        }
        let name = row.name().to_ascii_lowercase();
        let Some(first) = self.by_name.get(&name) else {
            self.by_name.insert(name, self.rows.len());
            self.rows.push(row);
            return;
        };
        if !has_same_rates(&self.rows[*first], &row) {
            let rule = "the list has two different prices for the model; neither is taken";
            skipped.push(Problem::shown(place, "two prices", rule));
            self.ambiguous.insert(*first);
        }
    }
}

/// Returns whether a row of a list states the standard price and the limits of the known one. Values that a list leaves out are not
/// denied.
fn confirms(known: &SnapshotModel, row: &SnapshotModel) -> bool {
    let same_price = match (standard(known), standard(row)) {
        (Some(known), Some(row)) => known.tiers == row.tiers,
        (_, None) => true,
        (None, Some(_)) => false,
    };
    let same = |known: Option<u64>, row: Option<u64>| row.is_none() || known == row;
    same_price
        && same(known.model.context_window, row.model.context_window)
        && same(known.model.max_output_tokens, row.model.max_output_tokens)
}

/// Returns a row without some of its names; `None` if none is left.
fn without(row: &SnapshotModel, replaced: &HashSet<String>) -> Option<SnapshotModel> {
    let stays = |name: &String| !replaced.contains(&name.to_ascii_lowercase());
    let mut row = row.clone();
    row.aliases.retain(stays);
    if !stays(&row.model.name) {
        let next = (!row.aliases.is_empty()).then(|| row.aliases.remove(0))?;
        row.model.vendor_name.clone_from(&next);
        row.model.name = next;
    }
    Some(row)
}

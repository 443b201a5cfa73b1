//! [`SnapshotChange`]: a difference between two snapshots.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
};

use super::{
    check::{has_same_rates, standard},
    kept::gone,
    model::{SnapshotModel, names},
    snapshot::Snapshot,
};

/// A kind of differences between the rows of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The model is new.
    Added,
    /// The model is gone.
    Removed,
    /// The prices are different.
    Price,
    /// The prices are the same; the limits, capabilities or the day of retirement are different.
    Facts,
}

/// A model that is different in another snapshot.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SnapshotChange {
    /// The vendor.
    pub vendor: String,
    /// The name of the model.
    pub model: String,
    /// The kind of the difference.
    pub kind: ChangeKind,
    /// The row before.
    pub before: Option<SnapshotModel>,
    /// The row after.
    pub after: Option<SnapshotModel>,
}

impl Snapshot {
    /// Returns the models that are different in another snapshot, by vendor and name.
    pub fn changes_to(&self, other: &Self) -> Vec<SnapshotChange> {
        let mut changes = Vec::new();
        for vendor in vendors(self, other) {
            let (one, two) = (self.models(&vendor), other.models(&vendor));
            let change =
                |name: &str, kind, before: Option<&SnapshotModel>, after: Option<&SnapshotModel>| SnapshotChange {
                    vendor: vendor.clone(),
                    model: name.to_owned(),
                    kind,
                    before: before.cloned(),
                    after: after.cloned(),
                };
            let (old, new): (HashMap<_, _>, HashMap<_, _>) = (names(one).collect(), names(two).collect());
            for (name, before) in names(one) {
                match new.get(name).copied() {
                    None => changes.push(change(name, ChangeKind::Removed, Some(before), None)),
                    Some(after) if !has_same_rates(before, after) => {
                        changes.push(change(name, ChangeKind::Price, Some(before), Some(after)));
                    }
                    Some(after) if !states_same(before, after) => {
                        changes.push(change(name, ChangeKind::Facts, Some(before), Some(after)));
                    }
                    Some(_) => {}
                }
            }
            for (name, after) in names(two) {
                if !old.contains_key(name) {
                    changes.push(change(name, ChangeKind::Added, None, Some(after)));
                }
            }
        }
        changes.sort_by(|one, two| (&one.vendor, &one.model).cmp(&(&two.vendor, &two.model)));
        changes
    }
}

/// Returns the names of the vendors of two snapshots.
fn vendors(one: &Snapshot, two: &Snapshot) -> BTreeSet<String> {
    let vendors = one.vendors().chain(two.vendors());
    vendors.map(|vendor| vendor.name.clone()).collect()
}

fn states_same(one: &SnapshotModel, two: &SnapshotModel) -> bool {
    one.model.kind == two.model.kind
        && one.model.context_window == two.model.context_window
        && one.model.max_output_tokens == two.model.max_output_tokens
        && one.model.capabilities == two.model.capabilities
        && (&one.inputs, &one.outputs, &one.retires) == (&two.inputs, &two.outputs, &two.retires)
}

impl SnapshotChange {
    /// Names the rates and classes that only the row before has.
    fn gone(&self) -> String {
        let rows = self.before.as_ref().zip(self.after.as_ref());
        let gone = rows.map(|(before, after)| gone(before, after)).unwrap_or_default();
        match gone.is_empty() {
            true => String::new(),
            false => format!(", without {}", gone.join(", ")),
        }
    }
}

/// Formats the rates of input and output before and after, such as `2.5/10 -> 2/8 USD`.
impl fmt::Display for SnapshotChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let price = |row: Option<&SnapshotModel>| match row.and_then(standard) {
            None => "no price".to_owned(),
            Some(price) => {
                let rates = price.tiers.tiers().iter().map(|tier| match tier.output {
                    Some(output) => format!("{}/{output}", tier.input),
                    None => tier.input.to_string(),
                });
                format!("{} {}", rates.collect::<Vec<_>>().join(", "), price.currency)
            }
        };
        let (before, after) = (price(self.before.as_ref()), price(self.after.as_ref()));
        match self.kind {
            ChangeKind::Added => write!(f, "+ {}/{}: {after}", self.vendor, self.model),
            ChangeKind::Removed => write!(f, "- {}/{}: {before}", self.vendor, self.model),
            ChangeKind::Price if before == after => {
                write!(
                    f,
                    "~ {}/{}: {after}, other rates{}",
                    self.vendor,
                    self.model,
                    self.gone()
                )
            }
            ChangeKind::Price => write!(
                f,
                "~ {}/{}: {before} -> {after}{}",
                self.vendor,
                self.model,
                self.gone()
            ),
            ChangeKind::Facts => write!(f, "~ {}/{}: limits or capabilities", self.vendor, self.model),
        }
    }
}

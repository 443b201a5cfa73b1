//! Composes the text of a snapshot.

use std::collections::{HashMap, hash_map::Entry};

use super::{
    header::Header,
    model::SnapshotModel,
    names::undated,
    row,
    vendor::{SnapshotVendor, VendorLine},
};

/// Returns the text: sorted, and with the names of the same model in one row. The same rows have the same text.
pub(super) fn compose(header: &Header, vendors: Vec<(SnapshotVendor, Vec<SnapshotModel>)>) -> String {
    let mut text = json(header);
    for (vendor, rows) in vendors {
        let line: &VendorLine = &vendor.line;
        text += &json(line);
        for model in joined(rows) {
            text += &row::write(&model);
            text.push('\n');
        }
    }
    text
}

fn json(value: &impl serde::Serialize) -> String {
    // Neither a header nor a vendor has a member that cannot be written.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// Joins rows that state the same about versions of a model: the shortest name has the others as aliases.
fn joined(mut rows: Vec<SnapshotModel>) -> Vec<SnapshotModel> {
    rows.sort_by_cached_key(|row| (row.name().len(), row.name().to_owned()));
    let mut joined: Vec<SnapshotModel> = Vec::new();
    let mut by_facts: HashMap<(String, String), usize> = HashMap::new();
    for row in rows {
        match by_facts.entry((base(row.name()).to_ascii_lowercase(), facts(&row))) {
            Entry::Occupied(known) => {
                let known = &mut joined[*known.get()];
                known.aliases.push(row.model.name);
                known.aliases.extend(row.aliases);
            }
            Entry::Vacant(place) => {
                place.insert(joined.len());
                joined.push(row);
            }
        }
    }
    for row in &mut joined {
        row.aliases.sort();
    }
    joined.sort_by(|one, other| one.name().cmp(other.name()));
    joined
}

/// Returns everything that a row states besides its names.
fn facts(row: &SnapshotModel) -> String {
    let mut row = row.clone();
    row.model.name = String::new();
    row.aliases.clear();
    row::write(&row)
}

/// Returns the name without the version.
fn base(name: &str) -> &str {
    let name = undated(name).unwrap_or(name);
    name.strip_suffix("-latest").unwrap_or(name)
}

//! `agcore models --listed`: lists the models whose list prices are known.

use agcore::catalog::{ListPrices, Snapshot, SnapshotModel};
use agcore_terminal::{render::sanitized_line, table::table};
use serde_json::{Value, json};

use super::models;
use crate::{exit::Failure, prices::snapshot, stdout::print};

/// Lists the models whose name, vendor or kind contains the filter.
///
/// # Errors
/// When the list cannot be read, or no model matches the filter.
pub(crate) fn list(filter: Option<&str>, as_json: bool) -> Result<(), Failure> {
    let (snapshot, title) = snapshot::in_force()?;
    let filter = filter.map(str::to_lowercase);
    let found: Vec<(&str, &SnapshotModel)> = all(&snapshot)
        .filter(|(vendor, row)| {
            let names = row.names().chain([*vendor, row.model.kind.as_str()]);
            let mut names = names.map(str::to_lowercase);
            filter
                .as_ref()
                .is_none_or(|filter| names.any(|name| name.contains(filter)))
        })
        .collect();
    if as_json {
        let models: Vec<Value> = found.iter().map(|(vendor, row)| described(vendor, row)).collect();
        let list = json!({"list": title, "date": snapshot.date(), "sources": snapshot.sources(), "models": models});
        return print(&format!("{list:#}\n"));
    }
    if found.is_empty() {
        let count = all(&snapshot).count();
        return Err(Failure::task(format!(
            "no model of the list matches ({count} available)"
        )));
    }
    let row = |(vendor, row): &(&str, &SnapshotModel)| {
        [
            sanitized_line(vendor),
            sanitized_line(row.name()),
            row.model.kind.to_string(),
            window(row).unwrap_or_default(),
            price(row),
            row.retires
                .as_ref()
                .map(|day| format!("retires {day}"))
                .unwrap_or_default(),
        ]
    };
    print(&table(&found.iter().map(row).collect::<Vec<_>>()))
}

fn all(snapshot: &Snapshot) -> impl Iterator<Item = (&str, &SnapshotModel)> {
    let vendors = snapshot.vendors();
    vendors.flat_map(|vendor| {
        snapshot
            .models(&vendor.name)
            .iter()
            .map(|row| (vendor.name.as_str(), row))
    })
}

/// Returns the context window of a model.
pub(in crate::command) fn window(row: &SnapshotModel) -> Option<String> {
    row.model.context_window.map(|tokens| format!("{tokens} tokens"))
}

/// Returns the standard price of a model.
pub(in crate::command) fn price(row: &SnapshotModel) -> String {
    row.model
        .prices
        .first()
        .map_or_else(|| "no price".to_owned(), models::price)
}

/// Describes a model as JSON.
pub(in crate::command) fn described(vendor: &str, row: &SnapshotModel) -> Value {
    json!({
        "name": row.name(), "aliases": row.aliases, "vendor": vendor, "kind": row.model.kind.as_str(),
        "context_window": row.model.context_window, "max_output_tokens": row.model.max_output_tokens,
        "capabilities": row.model.capabilities, "inputs": row.inputs, "outputs": row.outputs, "retires": row.retires,
        "prices": models::prices(&row.model), "source": row.source,
    })
}

/// Describes the row of a model of a provider as JSON; null if there is none.
pub(in crate::command) fn of_provider(list: Option<&ListPrices>, provider: &str, model: &str) -> Value {
    let row = list.and_then(|list| Some((list.vendor_of(provider)?, list.model(provider, model)?)));
    row.map_or(Value::Null, |(vendor, row)| described(vendor, row))
}

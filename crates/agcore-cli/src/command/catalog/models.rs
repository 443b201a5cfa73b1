//! `agcore models --catalog`: lists the models of a catalog.

use std::path::Path;

use agcore::catalog::{Model, ModelPrice, Rate, Vendor};
use agcore_terminal::{process::variable, render::sanitized_line, table::table};
use serde_json::{Map, Value, json};

use crate::{exit::Failure, prices::catalog_file, stdout::print};

/// Lists the models whose name, vendor or kind contains the filter.
///
/// # Errors
/// When the catalog cannot be read, is wrong, or no model matches the filter.
pub(crate) fn list(path: &Path, filter: Option<&str>, as_json: bool) -> Result<(), Failure> {
    let catalog = catalog_file::read(path)?.map_err(|error| catalog_file::problems(&error))?;
    let filter = filter.map(str::to_lowercase);
    let fits = |vendor: &Vendor, model: &Model| {
        let names = [&model.name, &vendor.name, model.kind.as_str()];
        filter
            .as_ref()
            .is_none_or(|filter| names.iter().any(|name| name.to_lowercase().contains(filter)))
    };
    let models: Vec<(&Vendor, &Model)> = catalog.models().filter(|(vendor, model)| fits(vendor, model)).collect();
    if as_json {
        let models: Vec<Value> = models.iter().map(|(vendor, model)| described(vendor, model)).collect();
        return print(&format!("{:#}\n", json!({ "models": models })));
    }
    if models.is_empty() {
        let count = catalog.models().count();
        return Err(Failure::task(format!(
            "no model of the catalog matches ({count} available)"
        )));
    }
    let row = |(vendor, model): &(&Vendor, &Model)| {
        [
            sanitized_line(&model.name),
            model.kind.to_string(),
            model
                .context_window
                .map(|tokens| format!("{tokens} tokens"))
                .unwrap_or_default(),
            model.prices.first().map_or_else(|| "no price".to_owned(), price),
            sanitized_line(&keys(vendor)),
        ]
    };
    print(&table(&models.iter().map(row).collect::<Vec<_>>()))
}

/// Returns the rates of the first tier.
pub(super) fn price(price: &ModelPrice) -> String {
    let tiers = price.tiers.tiers();
    let first = &tiers[0];
    let output = first.output.map(|rate| format!(" / {rate}")).unwrap_or_default();
    let more = if tiers.len() > 1 { " and more tiers" } else { "" };
    let units: Vec<String> = first
        .units()
        .map(|(unit, rate)| format!("{rate} {} per {unit}", price.currency))
        .collect();
    let is_free = first.input.is_zero() && first.output.is_none_or(Rate::is_zero);
    let tokens = (!is_free || units.is_empty()).then(|| format!("{}{output} {}", first.input, price.currency));
    let parts: Vec<String> = tokens.into_iter().chain(units).collect();
    parts.join(", ") + more
}

fn is_set(reference: Option<&String>) -> bool {
    reference.is_none_or(|name| variable(name).is_some())
}

/// Returns the keys of a vendor with their state, such as `team: set`.
fn keys(vendor: &Vendor) -> String {
    let state = |key: &agcore::catalog::Key| match (&key.reference, is_set(key.reference.as_ref())) {
        (None, _) => format!("{}: none needed", key.name),
        (Some(_), true) => format!("{}: set", key.name),
        (Some(name), false) => format!("{}: {name} is not set", key.name),
    };
    vendor.keys.iter().map(state).collect::<Vec<_>>().join(", ")
}

fn described(vendor: &Vendor, model: &Model) -> Value {
    let keys = vendor.keys.iter().map(|key| {
        json!({
            "name": key.name, "variable": key.reference, "is_set": is_set(key.reference.as_ref()), "users": key.users,
            "lines": key.lines, "requests_per_minute": key.requests_per_minute,
            "tokens_per_minute": key.tokens_per_minute,
        })
    });
    json!({
        "name": model.name, "vendor": vendor.name, "vendor_name": model.vendor_name, "kind": model.kind.as_str(),
        "version": model.version, "context_window": model.context_window, "max_output_tokens": model.max_output_tokens,
        "capabilities": model.capabilities, "default": model.is_default, "fallbacks": model.fallbacks,
        "prices": prices(model), "keys": keys.collect::<Vec<_>>(),
    })
}

/// Describes the prices of a model as JSON.
pub(super) fn prices(model: &Model) -> Vec<Value> {
    let prices = model.prices.iter().map(|price| {
        let tiers = price.tiers.tiers().iter().map(|tier| {
            json!({
                "max_prompt_tokens": tier.max_prompt_tokens, "input": tier.input.to_string(),
                "output": tier.output.map(|rate| rate.to_string()), "hit": tier.hit.to_string(),
                "write": tier.write.to_string(), "write_long": tier.write_long.to_string(), "reasoning": tier.reasoning.to_string(),
                "units": tier.units().map(|(unit, rate)| (unit.to_owned(), rate.to_string().into())).collect::<Map<_, _>>(),
            })
        });
        json!({
            "currency": price.currency.as_str(), "service_class": price.service_class, "version": price.version,
            "tiers": tiers.collect::<Vec<_>>(),
        })
    });
    prices.collect()
}

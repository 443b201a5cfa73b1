//! Checks a catalog as a whole: names, references, grants, defaults and fallbacks.

use std::collections::{BTreeMap, HashMap, HashSet};

use agcore_chat::text::nearest;
use agcore_document::Place;

use super::{
    fields::Problems,
    kind::ModelKind,
    read::Parts,
    spec::{Model, Vendor},
};
use crate::{price::price_list::PriceList, problem::Problem};

/// Adds everything that is wrong with the parts together.
pub(super) fn check(parts: &Parts, problems: &Problems) {
    let names = |vendor: (usize, &Vendor)| (format!("vendors[{}]", vendor.0), vendor.1.name.clone(), vendor.1.place);
    unique(parts.vendors.iter().enumerate().map(names), "vendor", problems);
    for (index, vendor) in parts.vendors.iter().enumerate() {
        check_vendor(vendor, &format!("vendors[{index}]"), problems);
    }
    let models = models(parts);
    let names = models
        .iter()
        .map(|(path, model)| (path.clone(), model.name.clone(), model.place));
    unique(names, "model of the catalog", problems);
    check_defaults(&models, problems);
    check_fallbacks(&models, problems);
    let known: HashSet<&str> = models.iter().map(|(_, model)| model.name.as_str()).collect();
    for role in parts.roles.iter().filter(|role| !known.contains(role.model.as_str())) {
        let rule = unknown("model", &role.model, known.iter().copied());
        problems.add(
            role.place,
            Problem::text(format!("roles.{}", role.name), &role.model, rule),
        );
    }
}

/// Returns all models with their paths.
fn models(parts: &Parts) -> Vec<(String, &Model)> {
    let vendors = parts.vendors.iter().enumerate();
    let models = vendors.flat_map(|(vendor, row)| {
        let models = row.models.iter().enumerate();
        models.map(move |(model, row)| (format!("vendors[{vendor}].models[{model}]"), row))
    });
    models.collect()
}

fn unknown(what: &str, name: &str, known: impl Iterator<Item = impl AsRef<str> + std::fmt::Display>) -> String {
    match nearest(name, known) {
        Some(name) => format!("there is no such {what}; did you mean {name}?"),
        None => format!("there is no such {what}"),
    }
}

fn unique(rows: impl Iterator<Item = (String, String, Place)>, what: &str, problems: &Problems) {
    let mut seen = HashMap::<String, String>::new();
    for (path, name, place) in rows.filter(|(_, name, _)| !name.is_empty()) {
        if let Some(first) = seen.get(&name) {
            let rule = format!("{first} has the same name; the name of a {what} is unique");
            problems.add(place, Problem::text(format!("{path}.name"), &name, rule));
        } else {
            seen.insert(name, path);
        }
    }
}

fn check_vendor(vendor: &Vendor, path: &str, problems: &Problems) {
    let endpoints = vendor.endpoints.iter().enumerate();
    let names = endpoints.map(|(index, row)| (format!("{path}.endpoints[{index}]"), row.name.clone(), row.place));
    unique(names, "endpoint of a vendor", problems);
    let keys = vendor.keys.iter().enumerate();
    let names = keys
        .clone()
        .map(|(index, row)| (format!("{path}.keys[{index}]"), row.name.clone(), row.place));
    unique(names, "key of a vendor", problems);
    for (list, count) in [("endpoints", vendor.endpoints.len()), ("keys", vendor.keys.len())] {
        if count == 0 && !vendor.models.is_empty() {
            let rule = "a vendor with models has at least one; a server without keys has a key without a secret";
            problems.add(vendor.place, Problem::shown(format!("{path}.{list}"), "nothing", rule));
        }
    }
    for (index, endpoint) in vendor
        .endpoints
        .iter()
        .enumerate()
        .filter(|(_, row)| row.kinds.is_empty())
    {
        let rule = "an endpoint serves at least one kind of models";
        problems.add(
            endpoint.place,
            Problem::shown(format!("{path}.endpoints[{index}].kinds"), "nothing", rule),
        );
    }
    for (index, key) in keys.filter(|(_, key)| key.users.is_empty() && key.lines.is_empty()) {
        let rule = "the key is granted to no one: list users or lines, or write users = [\"*\"] for all";
        problems.add(
            key.place,
            Problem::text(format!("{path}.keys[{index}]"), &key.name, rule),
        );
    }
    for (index, model) in vendor.models.iter().enumerate() {
        check_model(vendor, model, &format!("{path}.models[{index}]"), problems);
    }
}

fn check_model(vendor: &Vendor, model: &Model, path: &str, problems: &Problems) {
    match vendor.endpoint_of(model) {
        None if model.endpoint.is_empty() => {
            let rule = format!(
                "exactly one endpoint of the vendor must serve {}; name one here",
                model.kind
            );
            problems.add(model.place, Problem::shown(format!("{path}.endpoint"), "nothing", rule));
        }
        None => {
            let known = vendor.endpoints.iter().map(|endpoint| endpoint.name.as_str());
            let rule = unknown("endpoint", &model.endpoint, known);
            problems.add(
                model.place,
                Problem::text(format!("{path}.endpoint"), &model.endpoint, rule),
            );
        }
        Some(endpoint) if !endpoint.kinds.contains(&model.kind) => {
            let rule = format!(
                "it does not serve {}; add the kind to the endpoint, or name another",
                model.kind
            );
            problems.add(
                model.place,
                Problem::text(format!("{path}.endpoint"), &endpoint.name, rule),
            );
        }
        Some(_) => {}
    }
    if let Err(wrong) = PriceList::new(model.prices.iter().cloned()) {
        for problem in wrong {
            problems.add(model.place, problem.below(path));
        }
    }
}

fn check_defaults(models: &[(String, &Model)], problems: &Problems) {
    let mut defaults = BTreeMap::<ModelKind, &str>::new();
    for (path, model) in models.iter().filter(|(_, model)| model.is_default) {
        if let Some(first) = defaults.get(&model.kind) {
            let rule = format!("{first} is the default of the kind {} as well; keep one", model.kind);
            problems.add(model.place, Problem::text(format!("{path}.default"), &model.name, rule));
        } else {
            defaults.insert(model.kind, &model.name);
        }
    }
}

fn check_fallbacks(models: &[(String, &Model)], problems: &Problems) {
    let by_name: HashMap<&str, &Model> = models.iter().map(|(_, model)| (model.name.as_str(), *model)).collect();
    for (path, model) in models {
        for (index, name) in model.fallbacks.iter().enumerate() {
            let rule = match by_name.get(name.as_str()) {
                None => unknown("model", name, by_name.keys().copied()),
                Some(other) if !other.kind.can_replace(model.kind) => {
                    format!(
                        "its kind is {}, which cannot take the place of {}",
                        other.kind, model.kind
                    )
                }
                Some(_) => continue,
            };
            problems.add(
                model.place,
                Problem::text(format!("{path}.fallbacks[{index}]"), name, rule),
            );
        }
    }
    // 0: not visited, 1: on the current path, 2: without a cycle below it.
    let mut states = HashMap::<&str, u8>::new();
    for (path, model) in models {
        if let Some(cycle) = cycle(model, &by_name, &mut states) {
            let rule = "fallbacks form a cycle; remove one of them";
            problems.add(
                model.place,
                Problem::shown(format!("{path}.fallbacks"), cycle.join(" -> "), rule),
            );
        }
    }
}

/// Returns a cycle of fallbacks that is reached from a model and was not found before. Uses no recursion, because chains may
/// be long.
fn cycle<'m>(
    start: &'m Model,
    by_name: &HashMap<&'m str, &'m Model>,
    states: &mut HashMap<&'m str, u8>,
) -> Option<Vec<&'m str>> {
    if states.get(start.name.as_str()).is_some_and(|state| *state > 0) {
        return None;
    }
    let mut found = None;
    let mut path: Vec<(&'m Model, usize)> = vec![(start, 0)];
    states.insert(&start.name, 1);
    while let Some((model, next)) = path.last_mut() {
        let Some(name) = model.fallbacks.get(*next) else {
            states.insert(&model.name, 2);
            path.pop();
            continue;
        };
        *next += 1;
        let Some(other) = by_name.get(name.as_str()).copied() else {
            continue;
        };
        match states.get(name.as_str()).copied().unwrap_or(0) {
            0 => {
                states.insert(&other.name, 1);
                path.push((other, 0));
            }
            1 if found.is_none() => {
                let names = path.iter().map(|(model, _)| model.name.as_str());
                found = Some(
                    names
                        .skip_while(|before| before != name)
                        .chain([other.name.as_str()])
                        .collect(),
                );
            }
            _ => {}
        }
    }
    found
}

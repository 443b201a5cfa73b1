//! A model as a line of JSON: the form of rows in a snapshot.

use std::fmt::Write as _;

use agcore_document::Place;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{model::SnapshotModel, unique::Unique};
use crate::{
    catalog::{kind::ModelKind, spec::Model},
    currency::Currency,
    price::{
        model_price::ModelPrice,
        rate::Rate,
        tiers::{Tier, TierTable},
    },
    problem::Problem,
};

/// The class of prices that everyone gets.
pub(super) const STANDARD: &str = "standard";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<'r> {
    id: String,
    #[serde(default)]
    aka: Vec<String>,
    kind: Option<String>,
    window: Option<u64>,
    max: Option<u64>,
    #[serde(rename = "in")]
    inputs: Option<String>,
    #[serde(rename = "out")]
    outputs: Option<String>,
    can: Option<String>,
    retires: Option<String>,
    #[serde(default)]
    free: bool,
    src: String,
    #[serde(borrow, default)]
    prices: Unique<Vec<Unique<&'r RawValue>>>,
}

/// Reads a line. The prices are in this currency, and have this version.
pub(super) fn read(line: &str, currency: Currency, version: &str) -> Result<SnapshotModel, Problem> {
    let row: Row<'_> = serde_json::from_str(line)
        .map_err(|error| Problem::shown("row", error, "a row is a JSON object with the members of a model"))?;
    let id = row.id.clone();
    read_row(row, currency, version).map_err(|problem| problem.below(&id))
}

fn read_row(row: Row<'_>, currency: Currency, version: &str) -> Result<SnapshotModel, Problem> {
    for name in [&row.id].into_iter().chain(&row.aka) {
        let is_name = !name.is_empty() && name.len() <= 200 && !name.contains(|c: char| c.is_control() || c == ' ');
        if !is_name {
            return Err(Problem::text("id", name, "a name has 1 to 200 bytes, without spaces"));
        }
    }
    let kind = row.kind.as_deref().unwrap_or("text");
    let known = ModelKind::ALL.into_iter().find(|known| known.as_str() == kind);
    let kind = known.ok_or_else(|| Problem::text("kind", kind, "there is no such kind of models"))?;
    if let Some(day) = row.retires.as_deref().filter(|day| !is_day(day)) {
        return Err(Problem::text("retires", day, "a day is written as YYYY-MM-DD"));
    }
    let mut prices = Vec::new();
    for (class, tiers) in &row.prices.0 {
        let tiers = tiers.iter().map(tier).collect::<Result<Vec<_>, _>>();
        let tiers = TierTable::new(tiers?).map_err(|mut problems| problems.remove(0))?;
        let mut price = ModelPrice::new(row.id.as_str(), currency, tiers).with_version(version, None, None);
        price.service_class = (class != STANDARD).then(|| class.clone());
        prices.push(price);
    }
    let standard = prices.iter().find(|price| price.service_class.is_none());
    let is_zero = standard.is_some_and(|price| price.tiers.tiers().iter().all(Tier::is_free));
    if is_zero && !row.free {
        let rule = "a price of 0 needs the member free; leave out prices that are not known";
        return Err(Problem::shown("prices", "0", rule));
    }
    let words = |text: Option<String>, otherwise: &str| -> Vec<String> {
        let text = text.unwrap_or_else(|| otherwise.to_owned());
        text.split_whitespace().map(str::to_owned).collect()
    };
    Ok(SnapshotModel {
        model: Model {
            vendor_name: row.id.clone(),
            name: row.id,
            kind,
            endpoint: String::new(),
            version: None,
            context_window: row.window,
            max_output_tokens: row.max,
            capabilities: words(row.can, ""),
            is_default: false,
            fallbacks: Vec::new(),
            prices,
            response_shape: None,
            place: Place::default(),
        },
        aliases: row.aka,
        inputs: words(row.inputs, "text"),
        outputs: words(row.outputs, "text"),
        retires: row.retires,
        is_free: row.free,
        source: row.src,
        states_zero: false,
    })
}

/// Returns whether a text is a day such as `2026-05-01`.
pub(super) fn is_day(text: &str) -> bool {
    let number = |part: &str| part.parse::<u32>().ok();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let parts: Vec<&str> = text.split('-').collect();
    match parts[..] {
        [year, month, day] if text.len() == 10 && digits == 8 && year.len() == 4 && month.len() == 2 => {
            number(month).is_some_and(|month| (1..=12).contains(&month))
                && number(day).is_some_and(|day| (1..=31).contains(&day))
        }
        _ => false,
    }
}

fn tier(members: &Unique<&RawValue>) -> Result<Tier, Problem> {
    let mut tier = Tier::new(None, Rate::default(), None);
    for (name, value) in &members.0 {
        let text = value.get().trim_matches('"');
        let other = tier.others_mut().into_iter().find(|(known, _)| known == name);
        match (name.as_str(), other) {
            ("max_prompt_tokens", _) => {
                let limit = text
                    .parse()
                    .map_err(|_| Problem::text(name.as_str(), text, "a limit is a whole number of tokens"))?;
                tier.max_prompt_tokens = Some(limit);
            }
            ("input", _) => tier.input = Rate::parse(name, text)?,
            ("output", _) => tier.output = Some(Rate::parse(name, text)?),
            (_, Some((_, rate))) => *rate = Rate::parse(name, text)?,
            _ => return Err(Problem::text("prices", name, "there is no such rate")),
        }
    }
    Ok(tier)
}

/// Writes a model as a line, without its end. Members that have their usual value are left out.
pub(super) fn write(row: &SnapshotModel) -> String {
    let model = &row.model;
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut line = format!("{{\"id\":{}", quoted(&model.name));
    let mut add = |name: &str, value: String| {
        let _ = write!(line, ",\"{name}\":{value}");
    };
    if !row.aliases.is_empty() {
        let names: Vec<String> = row.aliases.iter().map(|name| quoted(name)).collect();
        add("aka", format!("[{}]", names.join(",")));
    }
    if model.kind != ModelKind::Text {
        add("kind", quoted(model.kind.as_str()));
    }
    for (name, number) in [("window", model.context_window), ("max", model.max_output_tokens)] {
        if let Some(number) = number {
            add(name, number.to_string());
        }
    }
    for (name, words, usual) in [
        ("in", &row.inputs, "text"),
        ("out", &row.outputs, "text"),
        ("can", &model.capabilities, ""),
    ] {
        let words = words.join(" ");
        if words != usual {
            add(name, quoted(&words));
        }
    }
    if let Some(day) = &row.retires {
        add("retires", quoted(day));
    }
    if row.is_free {
        add("free", "true".to_owned());
    }
    add("src", quoted(&row.source));
    if !model.prices.is_empty() {
        let prices = model.prices.iter().map(|price| {
            let tiers: Vec<String> = price.tiers.tiers().iter().map(write_tier).collect();
            let class = price.service_class.as_deref().unwrap_or(STANDARD);
            format!("{}:[{}]", quoted(class), tiers.join(","))
        });
        add("prices", format!("{{{}}}", prices.collect::<Vec<_>>().join(",")));
    }
    line.push('}');
    line
}

fn write_tier(tier: &Tier) -> String {
    let limit = tier
        .max_prompt_tokens
        .map(|limit| format!("\"max_prompt_tokens\":{limit}"));
    let output = tier.output.map(|rate| ("output", rate));
    let others = tier.others().into_iter().filter(|(_, rate)| !rate.is_zero());
    let rates = [("input", tier.input)].into_iter().chain(output).chain(others);
    let rates = rates.map(|(name, rate)| format!("\"{name}\":{rate}"));
    let members: Vec<String> = limit.into_iter().chain(rates).collect();
    format!("{{{}}}", members.join(","))
}

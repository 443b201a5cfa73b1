//! Reads the list of models.dev.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{
    entry::{Entry, Found},
    members::{Members, Refusal},
    row::STANDARD,
    unique::Unique,
    vendor::VendorLine,
};
use crate::{
    catalog::kind::ModelKind,
    price::{
        rate::Rate,
        tiers::{Tier, TierTable},
    },
    problem::Problem,
};

/// The rates besides input and output, by the names of members.
const OTHERS: [(&str, &str); 5] = [
    ("hit", "cache_read"),
    ("write", "cache_write"),
    ("reasoning", "reasoning"),
    ("audio_input", "input_audio"),
    ("audio_output", "output_audio"),
];

/// Reads the models of the vendors that are known.
pub(super) fn read(text: &str, vendors: &[VendorLine]) -> Result<Found, Problem> {
    let file: Unique<&RawValue> = serde_json::from_str(text).map_err(|error| {
        Problem::shown(
            "file",
            error,
            "the list of models.dev is a JSON object with a member for each vendor",
        )
    })?;
    let mut found = Found::default();
    for vendor in vendors {
        let Some(entry) = vendor.models_dev.as_ref().and_then(|name| file.get(name)) else {
            continue;
        };
        let members = Members::read(entry).map_err(|problem| problem.below(&vendor.vendor))?;
        let models = members.get("models").unwrap_or("{}");
        let models: Unique<&RawValue> = serde_json::from_str(models).map_err(|error| {
            let rule = "the models of a vendor are an object with a member for each";
            Problem::shown("models", error, rule).below(&vendor.vendor)
        })?;
        for (id, entry) in &models.0 {
            let members = Members::read(entry).map_err(|problem| problem.below(id))?;
            let mut entry = described(id.clone(), &members);
            match table(&members) {
                Ok(Some(table)) => entry.prices.push((STANDARD.to_owned(), table)),
                Ok(None) => {}
                Err(Refusal::Skipped(problem)) => found.skipped.push(problem.below(id)),
                Err(Refusal::Whole(problem)) => return Err(problem.below(id)),
            }
            entry.forget_zero(true);
            found.entries.push((vendor.vendor.clone(), entry));
        }
    }
    Ok(found)
}

fn described(id: String, members: &Members<'_>) -> Entry {
    let modalities = members.object("modalities");
    let of = |name: &str| {
        let mut texts = modalities.as_ref().map_or_else(Vec::new, |object| object.texts(name));
        texts.retain(|text| ["text", "image", "audio", "video", "pdf"].contains(&text.as_str()));
        texts
    };
    let (inputs, outputs) = (of("input"), of("output"));
    let kind = match outputs.first().map(String::as_str) {
        _ if id.contains("embed") => ModelKind::Embedding,
        _ if id.contains("rerank") => ModelKind::Rerank,
        Some("image") if outputs.len() == 1 => ModelKind::TextToImage,
        Some("video") if outputs.len() == 1 => ModelKind::TextToVideo,
        Some("audio") if outputs.len() == 1 => ModelKind::Speech,
        _ if inputs.iter().any(|input| input != "text") => ModelKind::Multimodal,
        _ if members.is_true("reasoning") => ModelKind::Reasoning,
        _ => ModelKind::Text,
    };
    let mut entry = Entry::new(id, kind);
    let limit = members.object("limit");
    let count = |name: &str| limit.as_ref().and_then(|limit| limit.count(name));
    (entry.window, entry.max) = (count("context"), count("output").filter(|_| kind.is_chat()));
    let sees = |name: &str| inputs.iter().any(|input| input == name);
    for (has, name) in [
        (members.is_true("tool_call"), "tools"),
        (members.is_true("structured_output"), "json_object"),
        (members.is_true("structured_output"), "json_schema"),
        (sees("image"), "images"),
        (sees("audio"), "audio"),
        (sees("pdf"), "files"),
        (members.is_true("reasoning"), "reasoning"),
    ] {
        if has {
            entry.capabilities.push(name.to_owned());
        }
    }
    if !inputs.is_empty() {
        entry.inputs = inputs;
    }
    if !outputs.is_empty() {
        entry.outputs = outputs;
    }
    entry
}

/// Reads the price, whose rates are for a million tokens.
fn table(members: &Members<'_>) -> Result<Option<TierTable>, Refusal> {
    let Some(cost) = members.object("cost") else {
        return Ok(None);
    };
    let Some(first) = tier(&cost)? else { return Ok(None) };
    let mut tiers = vec![first];
    let mut long = tiers_of_context(&cost)?;
    if long.is_empty() {
        long = older_tiers(&cost)?;
    }
    for (limit, tier) in long {
        let (Some(tier), Some(last)) = (tier, tiers.last_mut()) else {
            return Ok(None);
        };
        last.max_prompt_tokens = Some(limit);
        tiers.push(tier);
    }
    let table = TierTable::new(tiers).map_err(|mut problems| Refusal::Skipped(problems.remove(0)))?;
    Ok(Some(table))
}

/// Returns the rates in the member `tiers`, by the tokens above which they apply.
fn tiers_of_context(cost: &Members<'_>) -> Result<BTreeMap<u64, Option<Tier>>, Refusal> {
    let Some(text) = cost.get("tiers") else {
        return Ok(BTreeMap::new());
    };
    let unknown = |value: &str| {
        let rule = "tiers are a list of objects with rates and a tier of the type context with a size";
        Refusal::Skipped(Problem::text("tiers", value, rule))
    };
    let rows: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| unknown(text))?;
    let mut tiers = BTreeMap::new();
    for row in rows {
        let members = Members::read(row).map_err(|_| unknown(row.get()))?;
        let place = members.object("tier");
        let place = place.filter(|place| place.text("type").as_deref() == Some("context"));
        let size = place.and_then(|place| place.count("size"));
        let rates = tier(&members)?;
        let (Some(size), Some(rates)) = (size, rates) else {
            return Err(unknown(row.get()));
        };
        if tiers.insert(size, Some(rates)).is_some() {
            return Err(unknown(row.get()));
        }
    }
    Ok(tiers)
}

/// Returns the rates in members such as `context_over_200k`, by the tokens above which they apply.
fn older_tiers(cost: &Members<'_>) -> Result<BTreeMap<u64, Option<Tier>>, Refusal> {
    let mut tiers = BTreeMap::new();
    for name in cost.names() {
        let thousands = name
            .strip_prefix("context_over_")
            .and_then(|rest| rest.strip_suffix('k')?.parse::<u64>().ok());
        if let Some(limit) = thousands.and_then(|thousands| thousands.checked_mul(1_000)) {
            let long = cost.object(name).map(|long| tier(&long)).transpose()?.flatten();
            tiers.insert(limit, long);
        }
    }
    Ok(tiers)
}

fn tier(cost: &Members<'_>) -> Result<Option<Tier>, Refusal> {
    let Some(input) = cost.rate("input", 0)? else {
        return Ok(None);
    };
    let output: Option<Rate> = cost.rate("output", 0)?;
    let mut tier = Tier::new(None, input, output);
    for (name, other) in tier.others_mut() {
        let member = OTHERS.iter().find(|(known, _)| *known == name);
        if let Some((_, member)) = member {
            *other = cost.rate(member, 0)?.unwrap_or_default();
        }
    }
    Ok(Some(tier))
}

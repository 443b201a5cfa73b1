//! Reads LiteLLM's price list.

use std::collections::{BTreeSet, HashMap};

use serde_json::value::RawValue;

use super::{
    entry::{Entry, Found},
    members::{Members, Refusal},
    row::{STANDARD, is_day},
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

/// The service classes, and how the names of their members end.
const CLASSES: [(&str, &str); 4] = [
    (STANDARD, ""),
    ("batch", "_batches"),
    ("flex", "_flex"),
    ("priority", "_priority"),
];

const INPUT: &str = "input_cost_per_token";
const OUTPUT: &str = "output_cost_per_token";

/// The rates of tokens besides input and output, by the names of members; the first that is there counts.
const OTHERS: [(&str, &[&str]); 6] = [
    (
        "hit",
        &["cache_read_input_token_cost", "input_cost_per_token_cache_hit"],
    ),
    ("write", &["cache_creation_input_token_cost"]),
    ("write_long", &["cache_creation_input_token_cost_above_1hr"]),
    ("reasoning", &["output_cost_per_reasoning_token"]),
    ("audio_input", &["input_cost_per_audio_token"]),
    ("audio_output", &["output_cost_per_audio_token"]),
];

/// Reads the entries of the vendors that are known.
pub(super) fn read(text: &str, vendors: &[VendorLine]) -> Result<Found, Problem> {
    let file: Unique<&RawValue> = serde_json::from_str(text).map_err(|error| {
        Problem::shown(
            "file",
            error,
            "LiteLLM's list is a JSON object with a member for each model",
        )
    })?;
    let by_name: HashMap<&str, &RawValue> = file.0.iter().map(|(key, entry)| (key.as_str(), *entry)).collect();
    let mut found = Found::default();
    for (key, entry) in &file.0 {
        let own = Members::read(entry).map_err(|problem| problem.below(key))?;
        // An entry may be another name of one that follows it.
        let target = own.text("alias_of").and_then(|name| by_name.get(&*name).copied());
        let members = match target {
            Some(entry) => Members::read(entry).map_err(|problem| problem.below(key))?,
            None => own,
        };
        let provider = members.text("litellm_provider").unwrap_or_default();
        let Some(vendor) = vendors.iter().find(|vendor| vendor.litellm.contains(&provider)) else {
            continue;
        };
        let (Some(id), Some(kind)) = (id(key, &provider, vendor), kind(&members)) else {
            continue;
        };
        let mut entry = described(id, kind, &members);
        for (class, end) in CLASSES {
            match table(&members, kind, end, vendor.request_fee) {
                Ok(Some(table)) => entry.prices.push((class.to_owned(), table)),
                Ok(None) => {}
                Err(Refusal::Skipped(problem)) => found.skipped.push(problem.below(key)),
                Err(Refusal::Whole(problem)) => return Err(problem.below(key)),
            }
            if class == STANDARD && entry.prices.is_empty() {
                break;
            }
        }
        entry.forget_zero(members.get(INPUT).is_some());
        found.entries.push((vendor.vendor.clone(), entry));
    }
    Ok(found)
}

/// Returns the name that the vendor itself uses; `None` for entries that are not models of their own.
fn id(key: &str, provider: &str, vendor: &VendorLine) -> Option<String> {
    let own = format!("{provider}/");
    let prefixes = vendor.prefixes.iter().map(String::as_str).chain([own.as_str()]);
    let bare = prefixes.filter_map(|prefix| key.strip_prefix(prefix)).next();
    let id = match bare {
        Some(id) => id,
        None if vendor.prefixed => return None,
        None => key,
    };
    let is_other = id.is_empty() || id.contains([' ', '\n']) || (vendor.flat && id.contains('/'));
    (!is_other).then(|| id.to_owned())
}

fn kind(members: &Members<'_>) -> Option<ModelKind> {
    let sees = [
        "supports_vision",
        "supports_audio_input",
        "supports_pdf_input",
        "supports_video_input",
    ];
    Some(match members.text("mode")?.as_str() {
        "chat" | "responses" | "completion" if sees.iter().any(|name| members.is_true(name)) => ModelKind::Multimodal,
        "chat" | "responses" | "completion" if members.is_true("supports_reasoning") => ModelKind::Reasoning,
        "chat" | "responses" | "completion" => ModelKind::Text,
        "embedding" => ModelKind::Embedding,
        "rerank" => ModelKind::Rerank,
        "image_generation" => ModelKind::TextToImage,
        "video_generation" => ModelKind::TextToVideo,
        "audio_speech" => ModelKind::Speech,
        "audio_transcription" => ModelKind::Transcription,
        _ => return None,
    })
}

fn described(id: String, kind: ModelKind, members: &Members<'_>) -> Entry {
    let mut entry = Entry::new(id, kind);
    entry.window = members.count("max_input_tokens");
    entry.max = members.count("max_output_tokens").filter(|_| kind.is_chat());
    for (member, name) in [
        ("supports_function_calling", "tools"),
        ("supports_response_schema", "json_object"),
        ("supports_response_schema", "json_schema"),
        ("supports_vision", "images"),
        ("supports_audio_input", "audio"),
        ("supports_pdf_input", "files"),
        ("supports_reasoning", "reasoning"),
        ("supports_prompt_caching", "caching"),
        ("supports_web_search", "web_search"),
    ] {
        if members.is_true(member) {
            entry.capabilities.push(name.to_owned());
        }
    }
    let inputs = [
        ("supports_vision", "image"),
        ("supports_audio_input", "audio"),
        ("supports_video_input", "video"),
        ("supports_pdf_input", "pdf"),
    ];
    let first = if kind == ModelKind::Transcription {
        "audio"
    } else {
        "text"
    };
    let of_flags = inputs
        .iter()
        .filter(|(flag, _)| members.is_true(flag))
        .map(|(_, name)| *name);
    let mut inputs: Vec<String> = [first].into_iter().chain(of_flags).map(str::to_owned).collect();
    for name in members.texts("supported_modalities") {
        if ["text", "image", "audio", "video"].contains(&name.as_str()) && !inputs.contains(&name) {
            inputs.push(name);
        }
    }
    inputs.sort_by_key(|name| {
        ["text", "image", "audio", "video", "pdf"]
            .iter()
            .position(|known| known == name)
    });
    entry.inputs = inputs;
    entry.outputs = outputs(kind, members);
    entry.retires = members.text("deprecation_date").filter(|day| is_day(day));
    entry
}

fn outputs(kind: ModelKind, members: &Members<'_>) -> Vec<String> {
    let mut stated = members.texts("supported_output_modalities");
    stated.retain(|name| ["text", "image", "audio", "video"].contains(&name.as_str()));
    let usual = match kind {
        ModelKind::Embedding => "vector",
        ModelKind::Rerank => "score",
        ModelKind::TextToImage => "image",
        ModelKind::TextToVideo => "video",
        ModelKind::Speech => "audio",
        _ => "text",
    };
    match stated.is_empty() {
        true => vec![usual.to_owned()],
        false => stated,
    }
}

/// Reads the tiers of a class; `None` if the entry has no price of this class.
fn table(members: &Members<'_>, kind: ModelKind, end: &str, has_fee: bool) -> Result<Option<TierTable>, Refusal> {
    let mut tiers = Vec::new();
    match members.get("tiered_pricing").filter(|_| end.is_empty()) {
        Some(ranges) => {
            let rows: Vec<&RawValue> =
                serde_json::from_str(ranges).map_err(|error| skipped("tiered_pricing", error))?;
            let last = rows.len().saturating_sub(1);
            for (index, row) in rows.into_iter().enumerate() {
                let row = Members::read(row).map_err(Refusal::Skipped)?;
                let range: Vec<f64> = row
                    .get("range")
                    .and_then(|range| serde_json::from_str(range).ok())
                    .unwrap_or_default();
                let limit = match range[..] {
                    // The last range ends at the context window, and prices every longer prompt as well.
                    [_, _] if index == last => None,
                    [_, limit] if (1.0..1e12).contains(&limit) => Some(limit as u64),
                    _ => return Err(skipped("tiered_pricing", "a tier without a range")),
                };
                tiers.extend(tier(&row, kind, "", limit, None)?);
            }
        }
        None => {
            let limits = limits(members, end);
            if limits.is_empty() && !self::limits(members, "").is_empty() {
                // The rates for long prompts of this class are not known.
                return Ok(None);
            }
            let mut from = None;
            for limit in limits.into_iter().map(Some).chain([None]) {
                tiers.extend(tier(members, kind, end, limit, from)?);
                from = limit;
            }
        }
    }
    if tiers.is_empty() {
        return Ok(None);
    }
    if has_fee && let Some(fees) = members.object("search_context_cost_per_query") {
        let fee = fees.rate("search_context_size_low", 0)?;
        for tier in &mut tiers {
            tier.request = fee.unwrap_or_default();
        }
    }
    let table = TierTable::new(tiers).map_err(|mut problems| Refusal::Skipped(problems.remove(0)))?;
    Ok(Some(table))
}

fn skipped(field: &str, value: impl std::fmt::Display) -> Refusal {
    Refusal::Skipped(Problem::shown(
        field,
        value,
        "tiers are a list of objects with a range and rates",
    ))
}

/// Returns the numbers of tokens above which a class has other rates.
fn limits(members: &Members<'_>, end: &str) -> BTreeSet<u64> {
    let limit = |name: &str| {
        let rest = name.strip_prefix(INPUT)?.strip_prefix("_above_")?;
        let thousands: u64 = rest.strip_suffix(&format!("k_tokens{end}"))?.parse().ok()?;
        thousands.checked_mul(1_000)
    };
    members.names().filter_map(limit).collect()
}

/// Reads the tier up to a limit, whose rates apply above `from` tokens. `None` if the class has no price.
fn tier(
    members: &Members<'_>,
    kind: ModelKind,
    end: &str,
    limit: Option<u64>,
    from: Option<u64>,
) -> Result<Option<Tier>, Refusal> {
    let above = from.map(|from| format!("_above_{}k_tokens", from / 1_000));
    let rate = |name: &str, end: &str| {
        let long = above
            .as_ref()
            .map(|above| members.rate(&format!("{name}{above}{end}"), 6));
        match long.transpose()?.flatten() {
            Some(rate) => Ok(Some(rate)),
            None => members.rate(&format!("{name}{end}"), 6),
        }
    };
    let output = output(kind, &rate, end)?;
    // Only what everyone gets may be priced by other units alone.
    let none = || (by_units(kind) && end.is_empty()).then(Rate::default);
    let Some(input) = rate(INPUT, end)?.or_else(none) else {
        return Ok(None);
    };
    let is_unpriced = match output {
        Some(output) if kind.is_chat() => check_images(members, output).map(|()| false)?,
        Some(_) => false,
        None => kind.is_chat() || (!end.is_empty() && self::output(kind, &rate, "")?.is_some()),
    };
    if is_unpriced {
        return Ok(None);
    }
    let mut tier = Tier::new(limit, input, output);
    for (name, other) in tier.others_mut() {
        let known = OTHERS.iter().find(|(known, _)| *known == name);
        for member in known.map_or(&[][..], |(_, members)| members) {
            // What a cheaper class does not state is at most what others pay.
            let usual = if ["_batches", "_flex"].contains(&end) {
                rate(member, "")?
            } else {
                None
            };
            let is_cache = ["hit", "write"].contains(&name);
            let usual = usual.filter(|usual| is_cache && *usual <= input);
            if let Some(found) = rate(member, end)?.or(usual) {
                *other = found;
                break;
            }
        }
    }
    if end.is_empty() {
        units(&mut tier, members, kind)?;
    }
    Ok(Some(tier))
}

/// Checks that the images in replies have the rate of their text.
fn check_images(members: &Members<'_>, output: Rate) -> Result<(), Refusal> {
    match members.rate("output_cost_per_image_token", 6)? {
        Some(rate) if rate != output => {
            let rule = "the text and the images in replies have different rates, but are counted together";
            let problem = Problem::shown("output_cost_per_image_token", "a rate", rule);
            Err(Refusal::Skipped(problem))
        }
        _ => Ok(()),
    }
}

/// Returns whether models of a kind may be priced by other units than tokens.
fn by_units(kind: ModelKind) -> bool {
    !kind.is_chat() && kind != ModelKind::Embedding
}

/// Returns the rate of what a model generates.
fn output(
    kind: ModelKind,
    rate: &impl Fn(&str, &str) -> Result<Option<Rate>, Refusal>,
    end: &str,
) -> Result<Option<Rate>, Refusal> {
    let member = match kind {
        ModelKind::Embedding | ModelKind::Rerank => return Ok(None),
        ModelKind::TextToImage => "output_cost_per_image_token",
        ModelKind::Speech => "output_cost_per_audio_token",
        _ => return rate(OUTPUT, end),
    };
    if let Some(found) = rate(member, end)? {
        return Ok(Some(found));
    }
    // The rate of text in a class is that of the images or the speech only if both have the same one otherwise.
    let own = rate(member, "")?;
    let is_same = own.is_none() || own == rate(OUTPUT, "")?;
    Ok(rate(OUTPUT, end)?.filter(|rate| is_same && !rate.is_zero()))
}

/// Adds the rates of other units than tokens, unless the output is priced by tokens.
fn units(tier: &mut Tier, members: &Members<'_>, kind: ModelKind) -> Result<(), Refusal> {
    tier.request = members.rate("input_cost_per_request", 0)?.unwrap_or_default();
    let first = |names: &[&str], power: i32| {
        for name in names {
            if let Some(rate) = members.rate(name, power)?.filter(|rate| !rate.is_zero()) {
                return Ok(rate);
            }
        }
        Ok(Rate::default())
    };
    let by_tokens = tier.output.is_some_and(|rate| !rate.is_zero());
    match kind {
        ModelKind::Rerank => tier.search = first(&["input_cost_per_query"], 0)?,
        _ if by_tokens => {}
        ModelKind::TextToImage => tier.image = first(&["output_cost_per_image", "input_cost_per_image"], 0)?,
        ModelKind::Speech => {
            tier.characters = first(&["input_cost_per_character"], 6)?;
            tier.second = first(&["output_cost_per_second"], 0)?;
        }
        ModelKind::Transcription => tier.second = first(&["input_cost_per_second", "output_cost_per_second"], 0)?,
        ModelKind::TextToVideo => {
            let sizes = ["480p", "720p", "768p", "1080p", "2k", "4k"];
            let of_size = |size: &&str| members.get(&format!("output_cost_per_second_{size}")).is_some();
            if !sizes.iter().any(of_size) {
                tier.second = first(&["output_cost_per_video_per_second", "output_cost_per_second"], 0)?;
            }
        }
        _ => {}
    }
    Ok(())
}

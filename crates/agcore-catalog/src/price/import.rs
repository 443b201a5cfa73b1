//! [`import_prices`]: prices from the community's JSON price file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::{
    model_price::ModelPrice,
    rate::Rate,
    tiers::{Tier, TierTable},
};
use crate::{currency::Currency, problem::Problem};

/// The entry that documents the file.
const SAMPLE: &str = "sample_spec";

/// The members with rates per token that can be missing.
const OPTIONAL: &[&str] = &[
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
    "cache_creation_input_token_cost_above_1hr",
    "output_cost_per_reasoning_token",
    "input_cost_per_audio_token",
    "output_cost_per_audio_token",
];

const INPUT: &str = "input_cost_per_token";
const OUTPUT: &str = "output_cost_per_token";

/// The modes whose models generate tokens.
const GENERATING: &[&str] = &["chat", "completion", "responses"];

/// The result of [`import_prices`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PriceImport {
    /// The prices that were read.
    pub prices: Vec<ModelPrice>,
    /// Models that were left out, each with the reason: the field is `MODEL.MEMBER`.
    pub skipped: Vec<Problem>,
    /// Rates of 0 that now count as not set, as `MODEL.MEMBER`.
    pub zeros: Vec<String>,
}

type Members<'f> = BTreeMap<String, &'f RawValue>;

/// Reads the JSON price file that the community maintains (`model_prices_and_context_window.json` of LiteLLM).
///
/// Its prices are in USD. Rates per token become rates per million, without rounding. Members `…_above_200k_tokens` become
/// tiers; so does `tiered_pricing`. Prices of batches and of other service classes are not imported.
///
/// ```
/// use agcore_catalog::import_prices;
///
/// let file = r#"{"gpt-5-mini": {
///     "mode": "chat", "litellm_provider": "openai",
///     "input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06, "cache_read_input_token_cost": 2.5e-08
/// }}"#;
/// let import = import_prices(file)?;
/// let tier = &import.prices[0].tiers.tiers()[0];
/// assert_eq!((tier.input.to_string(), tier.hit.to_string()), ("0.25".to_owned(), "0.025".to_owned()));
/// # Ok::<(), agcore_catalog::Problem>(())
/// ```
///
/// # Errors
/// Fails if the text is not an object of JSON. A model that cannot be read is skipped and reported.
pub fn import_prices(json: &str) -> Result<PriceImport, Problem> {
    let file: BTreeMap<String, &RawValue> = serde_json::from_str(json).map_err(|error| {
        Problem::shown(
            "file",
            error,
            "a price file is a JSON object with a member for each model",
        )
    })?;
    let mut import = PriceImport::default();
    for (model, entry) in file.iter().filter(|(model, _)| *model != SAMPLE) {
        let read = serde_json::from_str::<Members<'_>>(entry.get())
            .map_err(|error| Problem::shown("entry", error, "a model is an object with its rates"));
        match read.and_then(|members| price(model, &members, &mut import.zeros)) {
            Ok(price) => import.prices.push(price),
            Err(problem) => import.skipped.push(problem.below(model)),
        }
    }
    Ok(import)
}

fn price(model: &str, members: &Members<'_>, zeros: &mut Vec<String>) -> Result<ModelPrice, Problem> {
    let mut found_zeros = Vec::new();
    let tiers = match members.get("tiered_pricing") {
        Some(tiers) => ranges(tiers, &mut found_zeros)?,
        None => {
            let limits = limits(members);
            let mut tiers = Vec::new();
            let mut from = None;
            for limit in limits.iter().copied().map(Some).chain([None]) {
                tiers.push(tier(members, limit, from, &mut found_zeros)?);
                from = limit;
            }
            tiers
        }
    };
    let table = TierTable::new(tiers).map_err(|mut problems| problems.remove(0))?;
    zeros.extend(found_zeros.iter().map(|member| format!("{model}.{member}")));
    Ok(ModelPrice::new(model, Currency::USD, table))
}

/// Returns the limits, in tokens, after which other rates apply.
fn limits(members: &Members<'_>) -> BTreeSet<u64> {
    let limit = |name: &String| {
        let (_, rest) = name.split_once("_above_")?;
        let thousands: u64 = rest.strip_suffix("k_tokens")?.parse().ok()?;
        thousands.checked_mul(1_000)
    };
    members.keys().filter_map(limit).collect()
}

/// Reads the tier up to a limit, whose rates apply above `from` tokens.
fn tier(
    members: &Members<'_>,
    limit: Option<u64>,
    from: Option<u64>,
    zeros: &mut Vec<String>,
) -> Result<Tier, Problem> {
    let suffix = from.map(|from| format!("_above_{}k_tokens", from / 1_000));
    let rate = |name: &str| {
        let long = suffix.as_ref().map(|suffix| format!("{name}{suffix}"));
        let special = long.and_then(|long| Some((long.clone(), members.get(&long)?)));
        let found = special.or_else(|| Some((name.to_owned(), members.get(name)?)));
        let found = found.filter(|(_, value)| value.get() != "null");
        found
            .map(|(name, value)| per_million(&name, value).map(|rate| (name, rate)))
            .transpose()
    };
    let input = rate(INPUT)?.ok_or_else(|| Problem::shown(INPUT, "nothing", "a rate for input is required"))?;
    let output = rate(OUTPUT)?.map(|(_, rate)| rate);
    let mode = members
        .get("mode")
        .map_or("\"chat\"", |mode| mode.get())
        .trim_matches('"')
        .to_owned();
    if output.is_none() && GENERATING.contains(&mode.as_str()) {
        return Err(Problem::shown(
            OUTPUT,
            "nothing",
            "a rate for output is required for a model that generates text",
        ));
    }
    let mut tier = Tier::new(limit, input.1, output);
    for member in OPTIONAL {
        if let Some((name, rate)) = rate(member)? {
            if rate.is_zero() && !zeros.contains(&name) {
                zeros.push(name);
            }
            *field(&mut tier, member) = rate;
        }
    }
    Ok(tier)
}

/// Returns the rate of a tier that an optional member sets.
fn field<'t>(tier: &'t mut Tier, member: &str) -> &'t mut Rate {
    match member {
        "cache_read_input_token_cost" => &mut tier.hit,
        "cache_creation_input_token_cost" => &mut tier.write,
        "cache_creation_input_token_cost_above_1hr" => &mut tier.write_long,
        "output_cost_per_reasoning_token" => &mut tier.reasoning,
        "input_cost_per_audio_token" => &mut tier.audio_input,
        _ => &mut tier.audio_output,
    }
}

/// Reads tiers that are given as ranges of prompt tokens.
fn ranges(tiers: &RawValue, zeros: &mut Vec<String>) -> Result<Vec<Tier>, Problem> {
    let wrong = |error: &dyn std::fmt::Display| {
        Problem::shown(
            "tiered_pricing",
            error,
            "tiers are a list of objects with a range and rates",
        )
    };
    let rows: Vec<BTreeMap<String, &RawValue>> = serde_json::from_str(tiers.get()).map_err(|error| wrong(&error))?;
    let last = rows.len().saturating_sub(1);
    let mut read = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let range = row.get("range").ok_or_else(|| wrong(&"a tier without a range"))?;
        let [_, end]: [f64; 2] = serde_json::from_str(range.get()).map_err(|error| wrong(&error))?;
        // The last range ends at the context window, so that it prices every longer prompt as well.
        let is_limit = (0.0..=1e15).contains(&end) && end.fract() == 0.0;
        let limit = match index == last {
            true => None,
            false if is_limit => Some(end as u64),
            false => return Err(wrong(&end)),
        };
        read.push(tier(row, limit, None, zeros)?);
    }
    Ok(read)
}

/// Converts a rate per token to one per million, exactly.
fn per_million(name: &str, value: &RawValue) -> Result<Rate, Problem> {
    let text = value.get().trim_matches('"');
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) => Rate::parse(name, &format!("{mantissa}e{}", exponent.saturating_add(6))),
        Err(_) => Rate::parse(name, text),
    }
}

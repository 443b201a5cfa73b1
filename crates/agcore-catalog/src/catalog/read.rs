//! Reads a catalog from a document.

use std::time::SystemTime;

use agcore_document::{Member, Node, Value};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    fields::{Fields, Problems},
    kind::ModelKind,
    shape,
    spec::{Endpoint, Key, Model, Role, Vendor},
};
use crate::{
    currency::Currency,
    price::{
        model_price::{DailyHours, ModelPrice},
        rate::Rate,
        tiers::{Tier, TierTable},
    },
    problem::Problem,
};

/// The parts of a catalog as they were read.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) version: Option<String>,
    pub(super) vendors: Vec<Vendor>,
    pub(super) roles: Vec<Role>,
}

/// Reads the root of a document.
pub(super) fn parts(root: &Node, problems: &Problems) -> Parts {
    let fields = Fields::of(root, "", &["version", "vendors", "roles"], problems);
    let vendors = fields.list("vendors").iter().enumerate();
    let vendors = vendors.map(|(index, node)| vendor(node, &format!("vendors[{index}]"), problems));
    Parts {
        version: fields.text("version").map(str::to_owned),
        vendors: vendors.collect(),
        roles: fields
            .get("roles")
            .map(|node| roles(node, problems))
            .unwrap_or_default(),
    }
}

fn roles(node: &Node, problems: &Problems) -> Vec<Role> {
    let Value::Table(members) = &node.value else {
        problems.add(
            node.place,
            Problem::shown("roles", node.shown(), "a table from roles to models is expected"),
        );
        return Vec::new();
    };
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let fields = Fields::of(node, "roles", &names, problems);
    let role = |member: &Member| {
        let model = fields.text(&member.name)?.to_owned();
        let (name, place) = (member.name.clone(), member.place);
        Some(Role { name, model, place })
    };
    fields.members().iter().filter_map(role).collect()
}

fn vendor(node: &Node, path: &str, problems: &Problems) -> Vendor {
    let fields = Fields::of(node, path, &["name", "endpoints", "keys", "models"], problems);
    let at = |list: &str, index: usize| format!("{path}.{list}[{index}]");
    let endpoints = fields.list("endpoints").iter().enumerate();
    let keys = fields.list("keys").iter().enumerate();
    let models = fields.list("models").iter().enumerate();
    Vendor {
        name: fields.required_text("name"),
        endpoints: endpoints
            .map(|(index, node)| endpoint(node, &at("endpoints", index), problems))
            .collect(),
        keys: keys
            .map(|(index, node)| key(node, &at("keys", index), problems))
            .collect(),
        models: models
            .filter_map(|(index, node)| model(node, &at("models", index), problems))
            .collect(),
        place: fields.place,
    }
}

fn kind(fields: &Fields<'_>, field: &str, node: &Node) -> Option<ModelKind> {
    let kind = match &node.value {
        Value::Text(text) => ModelKind::ALL.into_iter().find(|kind| kind.as_str() == text),
        _ => None,
    };
    if kind.is_none() {
        let names = ModelKind::ALL.map(ModelKind::as_str).join(", ");
        fields.wrong(field, node, format!("the kinds are {names}"));
    }
    kind
}

fn currency(fields: &Fields<'_>) -> Option<Currency> {
    let code = fields.text("currency")?;
    let place = fields.get("currency").map_or(fields.place, |node| node.place);
    fields.ok(place, Currency::parse(&fields.path_of("currency"), code))
}

fn endpoint(node: &Node, path: &str, problems: &Problems) -> Endpoint {
    let fields = Fields::of(node, path, &["name", "api", "base_url", "kinds", "currency"], problems);
    let base_url = fields.text("base_url");
    if let Some((url, node)) = base_url.zip(fields.get("base_url"))
        && !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme))
    {
        fields.wrong("base_url", node, "a URL begins with https:// or http://");
    }
    let kinds = fields.list("kinds").iter().enumerate();
    Endpoint {
        name: fields.required_text("name"),
        api: fields.required_text("api"),
        base_url: base_url.map(str::to_owned),
        kinds: kinds
            .filter_map(|(index, node)| kind(&fields, &format!("kinds[{index}]"), node))
            .collect(),
        currency: currency(&fields),
        place: fields.place,
    }
}

fn key(node: &Node, path: &str, problems: &Problems) -> Key {
    let known = [
        "name",
        "secret",
        "users",
        "lines",
        "requests_per_minute",
        "tokens_per_minute",
    ];
    let fields = Fields::of(node, path, &known, problems);
    let reference = fields.text("secret").and_then(|text| {
        let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let name = name.filter(|name| !name.is_empty() && !name.contains(['$', '{', '}']));
        if name.is_none() {
            // The text may be a key, so it is not shown.
            let rule = "a catalog contains no keys: write a reference such as ${OPENAI_API_KEY}";
            let problem = Problem::shown(fields.path_of("secret"), "a text that is not a reference", rule);
            problems.add(fields.get("secret").map_or(fields.place, |node| node.place), problem);
        }
        name.map(str::to_owned)
    });
    let names = |name: &str| fields.texts(name).into_iter().map(|(text, _)| text).collect();
    Key {
        name: fields.required_text("name"),
        reference,
        users: names("users"),
        lines: names("lines"),
        requests_per_minute: fields
            .number("requests_per_minute", 1)
            .map(|number| number.try_into().unwrap_or(u32::MAX)),
        tokens_per_minute: fields.number("tokens_per_minute", 1),
        place: fields.place,
    }
}

const MODEL: &[&str] = &[
    "name",
    "vendor_name",
    "kind",
    "endpoint",
    "version",
    "context_window",
    "max_output_tokens",
    "capabilities",
    "default",
    "fallbacks",
    "prices",
    "response_shape",
];

fn model(node: &Node, path: &str, problems: &Problems) -> Option<Model> {
    let fields = Fields::of(node, path, MODEL, problems);
    let name = fields.required_text("name");
    let vendor_name = fields.text("vendor_name").map_or_else(|| name.clone(), str::to_owned);
    let kind = match fields.get("kind") {
        Some(node) => kind(&fields, "kind", node),
        None => Some(ModelKind::Text),
    };
    let names = |name: &str| fields.texts(name).into_iter().map(|(text, _)| text).collect();
    let prices = fields.list("prices").iter().enumerate();
    let needs_output = kind.is_none_or(ModelKind::is_chat);
    let prices = prices.filter_map(|(index, node)| {
        price(
            node,
            &format!("{path}.prices[{index}]"),
            &vendor_name,
            needs_output,
            problems,
        )
    });
    let prices = prices.collect();
    let shape = fields.get("response_shape").zip(kind);
    Some(Model {
        response_shape: shape.map(|(node, kind)| shape::read(node, &fields.path_of("response_shape"), kind, problems)),
        kind: kind?,
        endpoint: fields.text("endpoint").unwrap_or_default().to_owned(),
        version: fields.text("version").map(str::to_owned),
        context_window: fields.number("context_window", 1),
        max_output_tokens: fields.number("max_output_tokens", 1),
        capabilities: names("capabilities"),
        is_default: fields.bool("default"),
        fallbacks: names("fallbacks"),
        prices,
        place: fields.place,
        vendor_name,
        name,
    })
}

fn price(node: &Node, path: &str, model: &str, needs_output: bool, problems: &Problems) -> Option<ModelPrice> {
    let known = [
        "currency",
        "service_class",
        "version",
        "from",
        "until",
        "hours",
        "tiers",
    ];
    let fields = Fields::of(node, path, &known, problems);
    fields.required_text("currency");
    let currency = currency(&fields);
    let tiers = fields.list("tiers").iter().enumerate();
    let tiers: Vec<Tier> = tiers
        .map(|(index, node)| tier(node, &format!("{path}.tiers[{index}]"), needs_output, problems))
        .collect();
    let place = fields.get("tiers").map_or(fields.place, |node| node.place);
    let tiers = TierTable::new(tiers).map_err(|wrong| {
        for problem in wrong {
            problems.add(place, problem.below(path));
        }
    });
    let hours = fields
        .text("hours")
        .and_then(|text| fields.ok(fields.place, DailyHours::parse(&fields.path_of("hours"), text)));
    let (from, until) = (instant(&fields, "from"), instant(&fields, "until"));
    if let Some(node) = fields
        .get("until")
        .filter(|_| from.zip(until).is_some_and(|(from, until)| until <= from))
    {
        fields.wrong("until", node, "a price ends after it begins");
    }
    let mut price = ModelPrice::new(model, currency?, tiers.ok()?);
    price.service_class = fields.text("service_class").map(str::to_owned);
    price.version = fields.text("version").map(str::to_owned);
    (price.from, price.until, price.hours) = (from, until, hours);
    Some(price)
}

fn instant(fields: &Fields<'_>, name: &str) -> Option<SystemTime> {
    let text = fields.text(name)?;
    let time = OffsetDateTime::parse(text, &Rfc3339);
    if time.is_err()
        && let Some(node) = fields.get(name)
    {
        fields.wrong(
            name,
            node,
            "a time is written as in RFC 3339, such as 2026-05-01T00:00:00Z",
        );
    }
    time.ok().map(SystemTime::from)
}

const RATES: [&str; 15] = [
    "input",
    "output",
    "hit",
    "write",
    "write_long",
    "reasoning",
    "audio_input",
    "audio_output",
    "request",
    "image",
    "second",
    "minute",
    "characters",
    "search",
    "document",
];

fn tier(node: &Node, path: &str, needs_output: bool, problems: &Problems) -> Tier {
    let known = [&["max_prompt_tokens"][..], &RATES].concat();
    let fields = Fields::of(node, path, &known, problems);
    let rate = |name: &str| {
        let (text, place) = fields.decimal(name)?;
        fields.ok(place, Rate::parse(&fields.path_of(name), text))
    };
    for name in ["input", "output"].iter().take(if needs_output { 2 } else { 1 }) {
        if fields.get(name).is_none() {
            let rule = "a rate is required, which may be 0";
            problems.add(fields.place, Problem::shown(fields.path_of(name), "nothing", rule));
        }
    }
    let mut tier = Tier::new(
        fields.number("max_prompt_tokens", 0),
        rate("input").unwrap_or_default(),
        rate("output"),
    );
    for (name, other) in tier.others_mut() {
        *other = rate(name).unwrap_or_default();
    }
    tier
}

//! [`Remarks`]: what the sums of a report do not contain, and what to do about it.

use std::collections::BTreeSet;

use agcore::session::CostEntry;
use agcore_args::CostArgs;
use agcore_settings::{
    Choices, SettingsOptions,
    places::{abbreviated, user_catalog},
};
use agcore_terminal::render::sanitized_line;

use crate::prices::Prices;

/// The most models that a remark names.
const MAX_NAMES: usize = 5;

/// The calls of a report whose cost is not known.
#[derive(Default)]
pub(super) struct Remarks {
    calls: u64,
    /// The number of calls that have no price, though their usage is known.
    unpriced: u64,
    /// The number of calls whose usage is unknown.
    incomplete: u64,
    /// The models of the calls without a price, with their providers.
    models: BTreeSet<(String, String)>,
}

impl Remarks {
    pub(super) fn add(&mut self, entry: &CostEntry) {
        self.calls += 1;
        if entry.is_incomplete {
            self.incomplete += 1;
        } else if entry.cost.is_none() {
            self.unpriced += 1;
            self.models
                .insert((entry.model.to_string(), entry.provider.to_string()));
        }
    }

    /// Explains what the sums do not contain. `prices` are those that later calls have.
    pub(super) fn text(&self, prices: Option<&Prices>) -> String {
        let mut text = String::new();
        if self.unpriced > 0 {
            text += &format!(
                "The price of {} of {} is unknown; the sums do not contain them.\n",
                self.unpriced,
                counted(self.calls)
            );
            let has_price =
                |(model, provider): &(String, String)| prices.is_some_and(|prices| prices.has_price(provider, model));
            let (known, unknown): (Vec<_>, Vec<_>) = self.models.iter().partition(|row| has_price(row));
            let (known, unknown) = (distinct(&known), distinct(&unknown));
            if let Some(prices) = prices.filter(|_| !known.is_empty()) {
                text += &format!(
                    "By now, {} has prices for {}: later calls are billed, and earlier ones stay unknown.\n",
                    prices.source,
                    names(&known)
                );
            }
            if !unknown.is_empty() {
                text += &advice(&unknown);
            }
        }
        if self.incomplete > 0 {
            text += &format!(
                "The usage of {} is unknown, because the answer broke off or the process ended; they may have cost more.\n",
                counted(self.incomplete)
            );
        }
        text
    }
}

/// Returns the prices of the settings, and of the user's catalog: those of the next call. What cannot be read has no prices here.
pub(super) fn current_prices(args: &CostArgs) -> Option<Prices> {
    let mut options = SettingsOptions::default();
    options.server.policy.config.clone_from(&args.config);
    let settings = Choices::read(&options).ok()?;
    let read = Prices::read(
        args.catalog.as_deref(),
        settings.prices.as_ref(),
        &settings.provider_config(),
    );
    read.ok().flatten()
}

/// Returns the names of models, each once.
fn distinct<'m>(rows: &[&'m (String, String)]) -> Vec<&'m String> {
    let mut names: Vec<&String> = rows.iter().map(|(model, _)| model).collect();
    names.dedup();
    names
}

/// Explains how later calls of models get a price.
fn advice(models: &[&String]) -> String {
    let catalog = user_catalog().map_or_else(|| "catalog.toml".to_owned(), |path| abbreviated(&path));
    format!(
        "No list price is known for them. To bill later calls of {}, write those of your vendor to {catalog}, for a million tokens:\n  \
         tiers = [{{ input = \"1.00\", output = \"2.00\" }}]\n`agcore cost --help` shows a whole file, and `agcore catalog check \
         {catalog}` checks it.\nIf a server has them in the file of its --config or --catalog, name that file here, too.\n",
        names(models)
    )
}

fn names(models: &[&String]) -> String {
    let name = |model: &&String| match model.as_str() {
        "" => "(unknown)".to_owned(),
        model => sanitized_line(model),
    };
    let mut names: Vec<String> = models.iter().take(MAX_NAMES).map(name).collect();
    if models.len() > MAX_NAMES {
        names.push("others".to_owned());
    }
    names.join(", ")
}

pub(super) fn counted(calls: u64) -> String {
    match calls {
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    }
}

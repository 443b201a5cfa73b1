//! [`Catalog`]: vendors, endpoints, keys and models, checked as a whole.

mod check;
pub(crate) mod error;
mod fields;
pub(crate) mod kind;
mod read;
pub(crate) mod shape;
pub(crate) mod spec;

use std::{collections::HashMap, fmt, sync::Arc};

use agcore_document::{DocumentError, Format, Place};
use error::{CatalogError, CatalogProblem};
use fields::Problems;
use kind::ModelKind;
use spec::{Endpoint, Model, Role, Vendor};

use crate::{
    currency::Currency,
    price::price_list::{Listed, PriceList},
    problem::Problem,
};

/// Vendors with their endpoints, keys and models, and the roles that models fill.
///
/// ```
/// use agcore_catalog::{Catalog, Format, ModelKind};
///
/// let text = r#"
/// [[vendors]]
/// name = "deepseek"
/// endpoints = [{ name = "chat", api = "deepseek", kinds = ["text"] }]
/// keys = [{ name = "team", secret = "${DEEPSEEK_API_KEY}", users = ["*"] }]
///
/// [[vendors.models]]
/// name = "deepseek-chat"
/// default = true
/// context_window = 128000
/// prices = [{ currency = "CNY", tiers = [{ input = "2", output = "3", hit = "0.2" }] }]
///
/// [roles]
/// intent = "deepseek-chat"
/// "#;
/// let catalog = Catalog::parse("models.toml", Format::Toml, text)?;
/// assert_eq!(catalog.default_model(ModelKind::Text).unwrap().context_window, Some(128_000));
///
/// // All problems are reported at once, each with its place.
/// let error = Catalog::parse("models.toml", Format::Toml, &text.replace("\"2\"", "\"-2\"")).unwrap_err();
/// assert!(error.to_string().starts_with("models.toml:11:50: vendors[0].models[0].prices[0].tiers[0].input: \"-2\""));
/// # Ok::<(), agcore_catalog::CatalogError>(())
/// ```
#[derive(Clone)]
pub struct Catalog {
    file: String,
    version: Option<String>,
    vendors: Vec<Vendor>,
    roles: Vec<Role>,
    /// The vendor and position of each model.
    by_name: HashMap<String, (usize, usize)>,
    prices: PriceList,
}

impl Catalog {
    /// Reads a catalog. `file` is the name that errors contain.
    ///
    /// # Errors
    /// Fails with everything that is wrong, each with its line and column. If the text cannot be parsed, that is the only
    /// problem.
    pub fn parse(file: &str, format: Format, text: &str) -> Result<Self, CatalogError> {
        let root = format.parse(text).map_err(|DocumentError { place, kind, .. }| {
            let problem = Problem::shown("document", kind, "it must be valid TOML, YAML or JSON");
            CatalogError::new(file, vec![CatalogProblem { place, problem }])
        })?;
        let problems = Problems::default();
        let parts = read::parts(&root, &problems);
        check::check(&parts, &problems);
        let mut problems = problems.into_inner();
        let (mut by_name, mut prices) = (HashMap::new(), Vec::new());
        for (vendor, row) in parts.vendors.iter().enumerate() {
            for (position, model) in row.models.iter().enumerate() {
                by_name.insert(model.name.clone(), (vendor, position));
                prices.extend(
                    model
                        .prices
                        .iter()
                        .map(|price| price.clone().with_provider(row.name.as_str())),
                );
            }
        }
        let prices = match PriceList::new(prices) {
            Ok(prices) => prices,
            Err(_) if !problems.is_empty() => PriceList::default(),
            Err(wrong) => {
                let place = Place::default();
                problems.extend(wrong.into_iter().map(|problem| CatalogProblem { place, problem }));
                PriceList::default()
            }
        };
        match problems.is_empty() {
            false => Err(CatalogError::new(file, problems)),
            true => Ok(Self {
                file: file.to_owned(),
                version: parts.version,
                vendors: parts.vendors,
                roles: parts.roles,
                by_name,
                prices,
            }),
        }
    }

    /// Creates a catalog that has only prices, without vendors: those of a settings file, for example. `file` is the name of their
    /// document.
    ///
    /// ```
    /// use agcore_catalog::{Catalog, Currency, ModelPrice, PriceList, Rate, Tier, TierTable};
    ///
    /// let rate = |text| Rate::parse("rate", text).unwrap();
    /// let tiers = TierTable::new(vec![Tier::new(None, rate("0.25"), Some(rate("2")))]).unwrap();
    /// let prices = PriceList::new([ModelPrice::new("gpt-5-mini", Currency::USD, tiers)]).unwrap();
    /// let catalog = Catalog::of_prices("settings.toml", prices);
    /// assert_eq!(catalog.currency_of("gpt-5-mini"), Some(Currency::USD));
    /// assert_eq!(catalog.models().count(), 0);
    /// ```
    pub fn of_prices(file: &str, prices: PriceList) -> Self {
        Self {
            file: file.to_owned(),
            version: None,
            vendors: Vec::new(),
            roles: Vec::new(),
            by_name: HashMap::new(),
            prices,
        }
    }

    /// Adds the prices of models for which the catalog has none.
    #[must_use]
    pub fn with_prices(mut self, others: &PriceList) -> Self {
        self.prices = self.prices.with_missing(others);
        self
    }

    /// Adds the prices that are looked up when the catalog has none for a model.
    pub(crate) fn with_listed(mut self, listed: Arc<dyn Listed>) -> Self {
        self.prices = self.prices.with_listed(listed);
        self
    }

    /// Checks that each role has a model.
    ///
    /// # Errors
    /// Fails with all roles that are missing.
    pub fn require_roles(&self, roles: &[&str]) -> Result<(), CatalogError> {
        let missing = roles.iter().filter(|role| self.role(role).is_none());
        let problems: Vec<CatalogProblem> = missing
            .map(|role| CatalogProblem {
                place: Place::default(),
                problem: Problem::shown(
                    format!("roles.{role}"),
                    "nothing",
                    "the role is required; name its model",
                ),
            })
            .collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(CatalogError::new(&self.file, problems))
        }
    }

    /// Returns the name of the document.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the version that the document names.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns the vendors.
    pub fn vendors(&self) -> &[Vendor] {
        &self.vendors
    }

    /// Returns all models with their vendors, in the order of the document.
    pub fn models(&self) -> impl Iterator<Item = (&Vendor, &Model)> {
        self.vendors
            .iter()
            .flat_map(|vendor| vendor.models.iter().map(move |model| (vendor, model)))
    }

    /// Returns a model and its vendor.
    pub fn model(&self, name: &str) -> Option<(&Vendor, &Model)> {
        let (vendor, model) = *self.by_name.get(name)?;
        let vendor = &self.vendors[vendor];
        Some((vendor, &vendor.models[model]))
    }

    /// Returns the model that fills a role.
    pub fn role(&self, name: &str) -> Option<&Model> {
        let role = self.roles.iter().find(|role| role.name == name)?;
        self.model(&role.model).map(|(_, model)| model)
    }

    /// Returns all roles.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Returns the default model of a kind.
    pub fn default_model(&self, kind: ModelKind) -> Option<&Model> {
        let mut models = self.models().map(|(_, model)| model);
        models.find(|model| model.kind == kind && model.is_default)
    }

    /// Returns the models of a kind that have all capabilities and a price in a currency, if one is given: first the default,
    /// then the cheapest by the rates of the first tier.
    pub fn select(&self, kind: ModelKind, capabilities: &[&str], currency: Option<Currency>) -> Vec<&Model> {
        let has_all = |model: &Model| {
            capabilities
                .iter()
                .all(|name| model.capabilities.iter().any(|has| has == name))
        };
        let rates = |model: &Model| {
            let mut prices = model.prices.iter();
            let price = prices.find(|price| currency.is_none_or(|currency| price.currency == currency))?;
            let tier = price.tiers.tiers().first()?;
            tier.input
                .amount()
                .checked_add(tier.output.unwrap_or_default().amount())
        };
        let models = self
            .models()
            .map(|(_, model)| model)
            .filter(|model| model.kind == kind && has_all(model));
        let priced = models.map(|model| (model, rates(model)));
        let mut found: Vec<_> = priced
            .filter(|(_, rates)| currency.is_none() || rates.is_some())
            .collect();
        found.sort_by_key(|(model, rates)| (!model.is_default, rates.is_none(), *rates));
        found.into_iter().map(|(model, _)| model).collect()
    }

    /// Returns the currency of the first price of a model, of whichever vendor. `None` without a price.
    pub fn currency_of(&self, model: &str) -> Option<Currency> {
        self.prices.currency_of(model)
    }

    /// Returns the prices of all models, by the names that vendors use and the name of the vendor as the provider.
    pub fn prices(&self) -> &PriceList {
        &self.prices
    }
}

impl Vendor {
    /// Returns the endpoint of a model: the one that it names, or else the only one that serves its kind.
    pub fn endpoint_of(&self, model: &Model) -> Option<&Endpoint> {
        if !model.endpoint.is_empty() {
            return self.endpoints.iter().find(|endpoint| endpoint.name == model.endpoint);
        }
        let mut serving = self
            .endpoints
            .iter()
            .filter(|endpoint| endpoint.kinds.contains(&model.kind));
        let first = serving.next()?;
        serving.next().is_none().then_some(first)
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("file", &self.file)
            .field("version", &self.version)
            .field("vendors", &self.vendors)
            .field("roles", &self.roles)
            .finish_non_exhaustive()
    }
}

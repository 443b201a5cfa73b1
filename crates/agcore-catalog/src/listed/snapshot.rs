//! [`Snapshot`]: models and prices of many vendors at one day, from public sources.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fmt,
    ops::Range,
    sync::OnceLock,
};

use agcore_chat::text::nearest_names;
use agcore_document::Place;

use super::{
    check::has_same_rates,
    header::{Header, SnapshotSource},
    model::SnapshotModel,
    names, row,
    vendor::{SnapshotVendor, VendorLine, host_of},
};
use crate::{
    catalog::error::{CatalogError, CatalogProblem},
    problem::Problem,
};

/// Models of many vendors with their limits, capabilities and list prices at one day.
///
/// A snapshot is data from public sources, not a catalog of a program: it has neither endpoints nor keys. Its text is JSON Lines:
/// a header with the sources, then a line for each vendor, followed by one for each of its models. The models of a vendor are
/// parsed when one of them is needed for the first time.
///
/// A model is found by its vendor and its name. The vendor is that of the server, by the host of its
/// [URL](Self::vendor_of_url): a local server with a model of the same name has no price.
///
/// ```
/// # #[cfg(feature = "shipped")] {
/// use agcore_catalog::Snapshot;
///
/// let snapshot = Snapshot::shipped();
/// let vendor = snapshot.vendor_of_url("https://api.openai.com/v1").unwrap();
/// // Servers return names with the day of the version.
/// let model = snapshot.model(&vendor.name, "gpt-4o-2024-08-06").unwrap();
/// assert_eq!(model.model.context_window, Some(128_000));
/// assert!(snapshot.vendor_of_url("http://localhost:11434/v1").is_none());
/// # }
/// ```
pub struct Snapshot {
    text: Cow<'static, str>,
    header: Header,
    sections: Vec<Section>,
}

/// The lines of a vendor.
#[derive(Debug)]
struct Section {
    vendor: SnapshotVendor,
    /// The bytes of the lines of its models.
    range: Range<usize>,
    /// The number of the first of these lines.
    first_line: usize,
    rows: OnceLock<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    models: Vec<SnapshotModel>,
    by_name: HashMap<String, usize>,
}

impl Snapshot {
    /// The largest text that is read, in bytes.
    pub const MAX_BYTES: usize = 32 << 20;

    /// Reads a snapshot and checks all of its rows. `file` is the name that errors contain.
    ///
    /// # Errors
    /// Fails with everything that is wrong, each with its line: members that do not exist, negative or wrong rates, currencies
    /// that ISO 4217 does not have, prices of 0 that are not declared as free, and names that two models of a vendor have.
    pub fn parse(file: &str, text: &str) -> Result<Self, CatalogError> {
        let snapshot = Self::open(file, Cow::Owned(text.to_owned()))?;
        let mut problems = Vec::new();
        for section in &snapshot.sections {
            let rows = snapshot.read_section(section, &mut problems);
            // The first caller sets the rows, and no one else has the snapshot yet.
            let _ = section.rows.set(rows);
        }
        match problems.is_empty() {
            true => Ok(snapshot),
            false => Err(CatalogError::new(file, problems)),
        }
    }

    /// Reads the header and the vendors.
    pub(super) fn open(file: &str, text: Cow<'static, str>) -> Result<Self, CatalogError> {
        let failed = |line: usize, problem: Problem| {
            let place = Place::new(line, 1);
            CatalogError::new(file, vec![CatalogProblem { place, problem }])
        };
        if text.len() > Self::MAX_BYTES {
            let rule = format!("a snapshot has at most {} bytes", Self::MAX_BYTES);
            return Err(failed(0, Problem::shown("document", text.len(), rule)));
        }
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        let header: Header = serde_json::from_str(first).map_err(|error| {
            let rule = "the first line is a header with agcore_snapshot, id, date and sources";
            failed(1, Problem::shown("header", error, rule))
        })?;
        header.check().map_err(|problem| failed(1, problem))?;
        let mut sections: Vec<Section> = Vec::new();
        let mut at = first.len();
        for (index, line) in lines.enumerate() {
            let (start, number) = (at, index + 2);
            at += line.len();
            if line.starts_with("{\"vendor\":") {
                let row = serde_json::from_str::<VendorLine>(line)
                    .map_err(|error| Problem::shown("vendor", error, "a vendor has a name and a list of hosts"));
                let vendor = row
                    .and_then(SnapshotVendor::new)
                    .map_err(|problem| failed(number, problem))?;
                if sections.iter().any(|known| known.vendor.name == vendor.name) {
                    let rule = "another line has the same vendor; the name of a vendor is unique";
                    return Err(failed(number, Problem::text("vendor", &vendor.name, rule)));
                }
                sections.push(Section {
                    vendor,
                    range: at..at,
                    first_line: number + 1,
                    rows: OnceLock::new(),
                });
                continue;
            }
            match sections.last_mut() {
                Some(section) => section.range.end = at,
                None if line.trim().is_empty() => {}
                None => {
                    let rule = "a model comes after the line of its vendor";
                    return Err(failed(number, Problem::text("row", &text[start..at], rule)));
                }
            }
        }
        Ok(Self { text, header, sections })
    }

    /// Parses the models of a vendor. Rows that are wrong are problems, and left out.
    fn read_section(&self, section: &Section, problems: &mut Vec<CatalogProblem>) -> Rows {
        let mut rows = Rows::default();
        let mut sources = HashSet::new();
        sources.extend(self.header.sources.iter().map(|source| source.key.as_str()));
        for (index, line) in self.text[section.range.clone()].lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let read = row::read(line, section.vendor.currency, &self.header.id);
            let read = read.and_then(|model| match sources.contains(model.source.as_str()) {
                true => rows.add(model),
                false => Err(Problem::text("src", &model.source, "the header has no such source")),
            });
            if let Err(problem) = read {
                let place = Place::new(section.first_line + index, 1);
                let problem = problem.below(&section.vendor.name);
                problems.push(CatalogProblem { place, problem });
            }
        }
        rows
    }

    /// Returns the id of the snapshot, which is the version of its prices.
    pub fn id(&self) -> &str {
        &self.header.id
    }

    /// Returns the day of the snapshot, as `YYYY-MM-DD`.
    pub fn date(&self) -> &str {
        &self.header.date
    }

    /// Returns the sources.
    pub fn sources(&self) -> &[SnapshotSource] {
        &self.header.sources
    }

    /// Returns the vendors.
    pub fn vendors(&self) -> impl Iterator<Item = &SnapshotVendor> {
        self.sections.iter().map(|section| &section.vendor)
    }

    /// Returns the vendor to whom the server at a URL belongs, by its host. `None` for other servers, such as a local one.
    pub fn vendor_of_url(&self, url: &str) -> Option<&SnapshotVendor> {
        let host = host_of(url)?;
        self.vendors().find(|vendor| vendor.has_host(host))
    }

    /// Returns the models of a vendor; none for one that the snapshot does not have.
    pub fn models(&self, vendor: &str) -> &[SnapshotModel] {
        self.rows(vendor).map_or(&[], |rows| &rows.models)
    }

    /// Returns a model of a vendor by the name that its server uses.
    ///
    /// The name is one that the snapshot lists, in any case, or one of them with `models/` before it. A name with the day of a
    /// version that is not listed stands for the model without the day, unless the listed versions have different prices. A name
    /// that is merely similar is not found; see [`nearest`](Self::nearest).
    pub fn model(&self, vendor: &str, name: &str) -> Option<&SnapshotModel> {
        let rows = self.rows(vendor)?;
        names::spellings(name).find_map(|name| rows.find(name).or_else(|| rows.undated(name)))
    }

    /// Returns up to three names of a vendor's models that resemble a name.
    pub fn nearest(&self, vendor: &str, name: &str) -> Vec<&str> {
        let name = names::spellings(name).nth(1).unwrap_or(name);
        let known = self.models(vendor).iter().flat_map(SnapshotModel::names);
        nearest_names(name, known, 3)
    }

    fn rows(&self, vendor: &str) -> Option<&Rows> {
        let section = self.sections.iter().find(|section| section.vendor.name == vendor)?;
        Some(section.rows.get_or_init(|| self.read_section(section, &mut Vec::new())))
    }

    /// Returns the text.
    pub fn as_text(&self) -> &str {
        &self.text
    }
}

impl Rows {
    fn add(&mut self, model: SnapshotModel) -> Result<(), Problem> {
        let index = self.models.len();
        for name in model.names() {
            if self.by_name.insert(name.to_ascii_lowercase(), index).is_some() {
                let rule = "another row has the same name; a name stands for one model of a vendor";
                return Err(Problem::text("id", name, rule));
            }
        }
        self.models.push(model);
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&SnapshotModel> {
        let index = self.by_name.get(&name.to_ascii_lowercase())?;
        self.models.get(*index)
    }

    /// Returns the model without the day of a version, if all of its versions have the same prices.
    fn undated(&self, name: &str) -> Option<&SnapshotModel> {
        let base = names::undated(name)?;
        let found = self.find(base)?;
        let mut versions = self.models.iter().filter(|model| {
            model
                .names()
                .any(|name| names::undated(name).is_some_and(|name| name.eq_ignore_ascii_case(base)))
        });
        versions.all(|version| has_same_rates(version, found)).then_some(found)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("id", &self.header.id)
            .field("vendors", &self.sections.len())
            .finish_non_exhaustive()
    }
}

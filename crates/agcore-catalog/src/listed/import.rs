//! [`SnapshotImport`]: a snapshot with the rows of a public price list.

use std::collections::HashMap;

use super::{
    compose::compose,
    entry::{Entry, Found},
    format::SourceFormat,
    header::{Header, SnapshotSource},
    litellm,
    merge::merge,
    models_dev,
    snapshot::Snapshot,
    vendor::VendorLine,
};
use crate::problem::Problem;

/// The result of [`Snapshot::import`].
#[derive(Debug)]
#[non_exhaustive]
pub struct SnapshotImport {
    /// The new snapshot.
    pub snapshot: Snapshot,
    /// The values that were left out, each with the reason: the field is `VENDOR.MODEL.MEMBER`.
    pub skipped: Vec<Problem>,
}

impl Snapshot {
    /// Returns a snapshot in which the rows of a public price list take the place of those of this one. Rows of vendors that this
    /// snapshot does not have are ignored, and models that the list does not have keep their rows. A row whose standard price and
    /// limits the list confirms stays as it is, with its other classes. What the list does not state about a model stays as well,
    /// but rates and classes only if input and output have the same rates as before.
    ///
    /// ```
    /// # #[cfg(feature = "shipped")] {
    /// use agcore_catalog::{Snapshot, SnapshotSource, SourceFormat};
    ///
    /// let list = r#"{"openai": {"models": {"gpt-9": {"cost": {"input": 1, "output": 2}, "limit": {"context": 1000000}}}}}"#;
    /// let source = SnapshotSource {
    ///     key: "models.dev".to_owned(),
    ///     name: "models.dev".to_owned(),
    ///     date: "2027-01-31".to_owned(),
    ///     ..SnapshotSource::default()
    /// };
    /// let import = Snapshot::shipped().import(SourceFormat::ModelsDev, source, list)?;
    /// assert!(import.snapshot.model("openai", "gpt-9").is_some());
    /// # }
    /// # Ok::<(), agcore_catalog::Problem>(())
    /// ```
    ///
    /// # Errors
    /// Fails, and takes nothing, if the text is too large, cannot be parsed or names a model twice, if a rate is negative or not a
    /// number, or if the list has no model of a known vendor. Single models are left out if their prices cannot be expressed or are
    /// implausible, or if they cost money and would cost nothing.
    pub fn import(&self, format: SourceFormat, source: SnapshotSource, text: &str) -> Result<SnapshotImport, Problem> {
        if text.len() > Self::MAX_BYTES {
            let rule = format!("a list has at most {} bytes", Self::MAX_BYTES);
            return Err(Problem::shown("file", format!("{} bytes", text.len()), rule));
        }
        let lines: Vec<VendorLine> = self.vendors().map(|vendor| vendor.line.clone()).collect();
        let Found { entries, mut skipped } = match format {
            SourceFormat::LiteLlm => litellm::read(text, &lines)?,
            SourceFormat::ModelsDev => models_dev::read(text, &lines)?,
            SourceFormat::Snapshot => {
                let read = Self::parse("file", text).map_err(|error| error.problems[0].problem.clone())?;
                return Ok(SnapshotImport {
                    snapshot: read,
                    skipped: Vec::new(),
                });
            }
        };
        if entries.is_empty() {
            let rule = "a list has models of the vendors that this version knows";
            return Err(Problem::shown("file", "no model", rule));
        }
        let id = match source.date.is_empty() {
            true => source.key.clone(),
            false => format!("{} {}", source.date, source.key),
        };
        let mut by_vendor: HashMap<String, Vec<Entry>> = HashMap::new();
        for (vendor, entry) in entries {
            by_vendor.entry(vendor).or_default().push(entry);
        }
        let mut vendors = Vec::new();
        for vendor in self.vendors() {
            let entries = by_vendor.remove(&vendor.name).unwrap_or_default();
            let rows = merge(self, (vendor, entries), (format, &id, &source.key), &mut skipped);
            vendors.push((vendor.clone(), rows));
        }
        let mut sources = vec![source];
        let is_used = |key: &str| vendors.iter().any(|(_, rows)| rows.iter().any(|row| row.source == key));
        sources.extend(self.sources().iter().filter(|known| is_used(&known.key)).cloned());
        sources.dedup_by(|later, first| later.key == first.key);
        let header = Header::new(id, &sources[0].date.clone(), sources);
        let text = compose(&header, vendors);
        let snapshot = Self::parse("import", &text).map_err(|error| error.problems[0].problem.clone())?;
        Ok(SnapshotImport { snapshot, skipped })
    }
}

//! [`Known`]: the sources that a store has.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use agcore_memory::{
    MemoryError,
    knowledge::{KnowledgeSource, SourceStore},
};

use crate::prepared::Naming;

/// The number of records that are read together.
const BATCH: u64 = 1000;

/// The sources of a tenant.
#[derive(Debug, Default)]
pub(super) struct Known {
    sources: BTreeMap<String, KnowledgeSource>,
    ids_by_location: HashMap<String, String>,
}

/// Reads the records of a tenant.
pub(super) async fn all(store: &dyn SourceStore, tenant: &str) -> Result<Known, MemoryError> {
    let mut known = Known::default();
    let mut after: Option<String> = None;
    loop {
        let found = store.sources(tenant, "", after.as_deref(), BATCH).await?;
        let is_last = (found.len() as u64) < BATCH;
        after = found.last().map(|source| source.id.clone());
        for source in found {
            if let Some(location) = &source.location {
                known.ids_by_location.insert(location.clone(), source.id.clone());
            }
            known.sources.insert(source.id.clone(), source);
        }
        if is_last {
            return Ok(known);
        }
    }
}

impl Known {
    /// Returns the source that was read from a place.
    pub(super) fn at(&self, location: &str) -> Option<&KnowledgeSource> {
        self.sources.get(self.ids_by_location.get(location)?)
    }

    /// Returns the source with the id of a file, if there is one.
    ///
    /// # Errors
    /// The reason if it was read from another file, which still exists.
    pub(super) fn named(&self, naming: &Naming) -> Result<Option<&KnowledgeSource>, String> {
        let Some(known) = self.sources.get(&naming.source) else {
            return Ok(None);
        };
        match &known.location {
            Some(other) if Some(other) != naming.location.as_ref() && Path::new(other).symlink_metadata().is_ok() => {
                Err(format!(
                    "the source `{}` was read from {other}; pass another name, or remove that source",
                    naming.source
                ))
            }
            _ => Ok(Some(known)),
        }
    }

    /// Returns the sources that were read from the files below a folder, with the paths of the files in it.
    pub(super) fn below<'k>(&'k self, folder: &'k str) -> impl Iterator<Item = (&'k str, &'k KnowledgeSource)> {
        self.sources.values().filter_map(move |source| {
            let path = source.location.as_deref()?.strip_prefix(folder)?.strip_prefix('/')?;
            Some((path, source))
        })
    }
}

/// Returns a path without the extension of the file.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    match path[name..].rfind('.') {
        Some(dot) if dot > 0 => &path[..name + dot],
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn extensions_are_those_of_the_file() {
        for (path, expected) in [
            ("a.md", "a"),
            ("v1.2/notes", "v1.2/notes"),
            ("v1.2/a.tar.gz", "v1.2/a.tar"),
            (".env", ".env"),
            ("x/.env", "x/.env"),
            ("", ""),
        ] {
            assert_eq!(stem(path), expected);
        }
    }
}

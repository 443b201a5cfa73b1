//! CISI: 1460 abstracts about library science, 76 questions with answers.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::{Fallible, collection::Collection, records};

/// Reads `CISI.ALL`, `CISI.QRY` and `CISI.REL` of a folder.
pub(crate) fn read(folder: &Path) -> Fallible<Collection> {
    let mut answers: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for line in records::read(folder, "CISI.REL")?.lines() {
        if let [question, document, _, _] = line.split_whitespace().collect::<Vec<_>>()[..] {
            let answers = answers.entry(question.parse()?).or_default();
            answers.insert(document.to_owned());
        }
    }
    let (documents, questions) = (records::read(folder, "CISI.ALL")?, records::read(folder, "CISI.QRY")?);
    Ok(records::collection("CISI", &documents, &questions, answers))
}

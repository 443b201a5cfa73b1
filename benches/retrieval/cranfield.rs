//! Cranfield: 1400 abstracts about aerodynamics, 225 questions.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::{Fallible, collection::Collection, records};

/// Reads `cran.all.1400`, `cran.qry` and `cranqrel` of a folder.
pub(crate) fn read(folder: &Path) -> Fallible<Collection> {
    let mut answers: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for line in records::read(folder, "cranqrel")?.lines() {
        // The codes 1 to 4 stand for degrees of relevance.
        if let [question, document, "1" | "2" | "3" | "4"] = line.split_whitespace().collect::<Vec<_>>()[..] {
            let answers = answers.entry(question.parse()?).or_default();
            answers.insert(document.to_owned());
        }
    }
    let (documents, questions) = (
        records::read(folder, "cran.all.1400")?,
        records::read(folder, "cran.qry")?,
    );
    Ok(records::collection("Cranfield", &documents, &questions, answers))
}

//! Cranfield: 1400 abstracts about aerodynamics, 225 questions.

use std::{collections::BTreeMap, fs, path::Path};

use agcore_memory::search::TextDocument;

use crate::{
    Fallible,
    collection::{Collection, Question},
};

/// Reads `cran.all.1400`, `cran.qry` and `cranqrel` of a folder.
pub(crate) fn read(folder: &Path) -> Fallible<Collection> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    let mut collection = Collection {
        name: "Cranfield".to_owned(),
        ..Collection::default()
    };
    for record in records(&read("cran.all.1400")?) {
        let field = |name: &str| record.fields.get(name).map_or("", String::as_str).trim();
        let document = TextDocument::new(record.id.as_str(), field(".T"), field(".W"));
        collection.documents.push(document);
    }
    let mut answers: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in read("cranqrel")?.lines() {
        // The codes 1 to 4 stand for degrees of relevance.
        if let [question, document, "1" | "2" | "3" | "4"] = line.split_whitespace().collect::<Vec<_>>()[..] {
            answers.entry(question.parse()?).or_default().push(document.to_owned());
        }
    }
    // The judgements count the questions, whose own numbers have gaps.
    for (number, record) in (1..).zip(records(&read("cran.qry")?)) {
        let text = record.fields.get(".W").map(|text| text.replace('\n', " "));
        let answers = answers.remove(&number).unwrap_or_default();
        if !answers.is_empty() {
            collection.questions.push(Question {
                text: text.unwrap_or_default(),
                answers: answers.into_iter().collect(),
                category: 0,
            });
        }
    }
    Ok(collection)
}

struct Record {
    id: String,
    fields: BTreeMap<String, String>,
}

fn records(text: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    let mut field = String::new();
    for line in text.lines() {
        if let Some(id) = line.strip_prefix(".I ") {
            let (id, fields) = (id.trim().to_owned(), BTreeMap::new());
            records.push(Record { id, fields });
        } else if matches!(line.trim(), ".T" | ".A" | ".B" | ".W") {
            line.trim().clone_into(&mut field);
        } else if let Some(record) = records.last_mut() {
            let text = record.fields.entry(field.clone()).or_default();
            text.push_str(line);
            text.push('\n');
        }
    }
    records
}

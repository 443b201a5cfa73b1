//! [`Record`]: an entry of a file in the format of the collections Cranfield and CISI.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use agcore_memory::search::TextDocument;

use crate::{
    Fallible,
    collection::{Collection, Question},
};

/// An entry: `.I` with a number, then fields of lines that begin with a line such as `.T`.
struct Record {
    id: String,
    fields: BTreeMap<String, String>,
}

/// Reads a collection from its three files. `answers` are the documents that answer a question, by the number of the question.
pub(crate) fn collection(
    name: &str,
    documents: &str,
    questions: &str,
    mut answers: BTreeMap<usize, BTreeSet<String>>,
) -> Collection {
    let mut collection = Collection {
        name: name.to_owned(),
        ..Collection::default()
    };
    for record in records(documents) {
        let field = |name: &str| record.fields.get(name).map_or("", String::as_str).trim();
        let document = TextDocument::new(record.id.as_str(), field(".T"), field(".W"));
        collection.documents.push(document);
    }
    // The judgements count the questions, whose own numbers may have gaps.
    for (number, record) in (1..).zip(records(questions)) {
        let text = record.fields.get(".W").map(|text| text.replace('\n', " "));
        let answers = answers.remove(&number).unwrap_or_default();
        if !answers.is_empty() {
            collection.questions.push(Question {
                text: text.unwrap_or_default(),
                answers,
                category: 0,
            });
        }
    }
    collection
}

fn records(text: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    let mut field = String::new();
    for line in text.lines() {
        if let Some(id) = line.strip_prefix(".I ") {
            let (id, fields) = (id.trim().to_owned(), BTreeMap::new());
            records.push(Record { id, fields });
        } else if matches!(line.trim(), ".T" | ".A" | ".B" | ".W" | ".X") {
            line.trim().clone_into(&mut field);
        } else if let Some(record) = records.last_mut() {
            let text = record.fields.entry(field.clone()).or_default();
            text.push_str(line);
            text.push('\n');
        }
    }
    records
}

/// Reads a file of a folder or of one of its folders.
pub(crate) fn read(folder: &Path, name: &str) -> Fallible<String> {
    let path = find(folder, name).ok_or_else(|| format!("{name} is not in {}", folder.display()))?;
    // Some collections are not quite UTF-8.
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(name);
    if path.is_file() {
        return Some(path);
    }
    let mut folders: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders.iter().find_map(|folder| find(folder, name))
}

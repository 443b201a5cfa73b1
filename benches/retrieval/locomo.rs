//! LoCoMo: 10 long conversations, questions about them, and the turns that are the evidence for their answers.

use std::{collections::BTreeSet, path::Path};

use agcore_memory::search::TextDocument;
use serde_json::Value;

use crate::{
    Fallible,
    collection::{Collection, Question},
    records,
};

/// Reads `locomo10.json` of a folder: a collection for each conversation, whose documents are its turns.
pub(crate) fn read(folder: &Path) -> Fallible<Vec<Collection>> {
    let conversations: Vec<Value> = serde_json::from_str(&records::read(folder, "locomo10.json")?)?;
    Ok(conversations.iter().map(collection).collect())
}

fn collection(sample: &Value) -> Collection {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut collection = Collection {
        name: text(&sample["sample_id"]),
        ..Collection::default()
    };
    let conversation = &sample["conversation"];
    for number in 1..100 {
        let date = text(&conversation[format!("session_{number}_date_time")]);
        let turns = conversation[format!("session_{number}")].as_array();
        for turn in turns.into_iter().flatten() {
            let title = format!("{} {date}", text(&turn["speaker"]));
            let caption = text(&turn["blip_caption"]);
            let content = format!("{}\n{caption}", text(&turn["text"]));
            collection
                .documents
                .push(TextDocument::new(text(&turn["dia_id"]), title, content.trim()));
        }
    }
    let ids: BTreeSet<&str> = collection
        .documents
        .iter()
        .map(|document| document.id.as_str())
        .collect();
    for question in sample["qa"].as_array().into_iter().flatten() {
        let evidence = question["evidence"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        // Some entries name several turns.
        let evidence = evidence.flat_map(|entry| entry.split([';', ',', ' ']));
        let answers: BTreeSet<String> = evidence.filter(|id| ids.contains(id)).map(str::to_owned).collect();
        if !answers.is_empty() {
            collection.questions.push(Question {
                text: text(&question["question"]),
                answers,
                category: question["category"].as_u64().unwrap_or_default(),
            });
        }
    }
    collection
}

//! The quality of answers: questions about real-looking files, in three languages and many formats.

use std::path::Path;

use agcore_memory::search::{Keywords, best_citation};
use serde_json::Value;

use crate::support::Handbook;

/// The share of questions whose answer must be among the first five results, in the right place of the right file.
const RECALL: f64 = 0.9;

#[tokio::test]
async fn answers_are_among_the_first_five_results() {
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/knowledge");
    let handbook = Handbook::new();
    let report = handbook.ingest().folder(&set.join("files"), |_| ()).await.unwrap();
    assert_eq!(report.failed().collect::<Vec<_>>(), []);
    assert!(report.files.len() >= 40, "{}", report.files.len());

    let questions = std::fs::read_to_string(set.join("questions.json")).unwrap();
    let questions: Vec<Value> = serde_json::from_str(&questions).unwrap();
    let mut missed = Vec::new();
    for question in &questions {
        let text = |member: &str| question[member].as_str().unwrap_or_default();
        let file = format!("files/{}", text("file"));
        let hits = handbook.search(text("question")).await;
        let found: Vec<String> = hits
            .iter()
            .map(|hit| best_citation(&Keywords::new(), &hit.page, text("question")).to_string())
            .collect();
        let is_answer = |citation: &&String| {
            let place = citation.strip_prefix(&file).and_then(|place| place.strip_prefix(", "));
            place.is_some_and(|place| place.contains(text("place")))
        };
        if found.iter().find(is_answer).is_none() {
            missed.push(format!("{} ({file}, {}): {found:?}", text("question"), text("place")));
        }
    }
    let recall = 1.0 - missed.len() as f64 / questions.len() as f64;
    println!(
        "recall@5 {recall:.3} of {} questions about {} files",
        questions.len(),
        report.files.len()
    );
    assert!(recall >= RECALL, "{recall:.3}; missed:\n{}", missed.join("\n"));
}

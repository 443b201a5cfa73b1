//! [`Collection`]: documents, and questions with the documents that answer them.

use std::collections::BTreeSet;

use agcore_memory::search::TextDocument;

/// A question.
pub(crate) struct Question {
    pub(crate) text: String,
    /// The ids of the documents that answer it, at least one.
    pub(crate) answers: BTreeSet<String>,
    /// The category, for collections that have some.
    pub(crate) category: u64,
}

/// Documents that are one index, and questions.
#[derive(Default)]
pub(crate) struct Collection {
    pub(crate) name: String,
    pub(crate) documents: Vec<TextDocument>,
    pub(crate) questions: Vec<Question>,
}

/// The sums of figures over questions.
#[derive(Default)]
pub(crate) struct Quality {
    questions: f64,
    ndcg: f64,
    recall: f64,
    first: f64,
    first_five: f64,
}

impl Quality {
    /// Adds a question, with the ids that were found for it, the best first.
    pub(crate) fn add(&mut self, answers: &BTreeSet<String>, found: &[String]) {
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let is_answer = |id: &&String| answers.contains(*id);
        let ten = found.iter().take(10);
        let gained: f64 = ten
            .clone()
            .enumerate()
            .filter(|(_, id)| is_answer(id))
            .map(|(rank, _)| gain(rank))
            .sum();
        let ideal: f64 = (0..answers.len().min(10)).map(gain).sum();
        self.questions += 1.0;
        self.ndcg += gained / ideal;
        self.recall += ten.filter(is_answer).count() as f64 / answers.len() as f64;
        self.first += f64::from(found.first().as_ref().is_some_and(is_answer));
        self.first_five += f64::from(found.iter().take(5).any(|id| is_answer(&id)));
    }

    /// Returns the cells of a row: questions, nDCG@10, recall@10, first, among the first five.
    pub(crate) fn cells(&self) -> String {
        let mean = |sum: f64| sum / self.questions;
        format!(
            "{} | {:.3} | {:.3} | {:.3} | {:.3}",
            self.questions,
            mean(self.ndcg),
            mean(self.recall),
            mean(self.first),
            mean(self.first_five)
        )
    }
}

//! [`FullText`]: SQLite's own full-text index, the reference.

use std::path::Path;

use agcore_memory::search::{KeywordExtractor, Keywords, TextDocument};
use async_trait::async_trait;
use rusqlite::{Connection, params};

use crate::{
    Fallible,
    engine::{BATCH, Engine},
};

/// The way in which texts are cut.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Terms {
    /// Words of letters and digits, with the stems of the Porter algorithm.
    Porter,
    /// The default keywords of agcore.
    Own,
}

/// A table with FTS5, which ranks by BM25.
pub(crate) struct FullText {
    connection: Connection,
    terms: Terms,
    keywords: Keywords,
}

impl FullText {
    /// Opens a file, or creates it.
    pub(crate) fn open(path: &Path, terms: Terms) -> Fallible<Self> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let tokenizer = match terms {
            Terms::Porter => "porter unicode61",
            Terms::Own => "ascii",
        };
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE IF NOT EXISTS pages USING fts5 (id UNINDEXED, title, summary, content, tokenize = '{tokenizer}')"
        ))?;
        Ok(Self {
            connection,
            terms,
            keywords: Keywords::new(),
        })
    }

    /// Returns a text as it is indexed.
    fn cut(&self, text: &str) -> String {
        if self.terms == Terms::Porter {
            return text.to_owned();
        }
        let mut cut = String::new();
        self.keywords.terms(text, &mut |term| {
            cut.push_str(term);
            cut.push(' ');
        });
        cut
    }
}

#[async_trait]
impl Engine for FullText {
    async fn add(&mut self, documents: &[TextDocument]) -> Fallible {
        for batch in documents.chunks(BATCH) {
            let cut = batch.iter().map(|document| {
                let texts = [&document.title, &document.summary, &document.content];
                (document.id.as_str(), texts.map(|text| self.cut(text)))
            });
            let rows: Vec<_> = cut.collect();
            let transaction = self.connection.transaction()?;
            for (id, [title, summary, content]) in &rows {
                let sql = "INSERT INTO pages (id, title, summary, content) VALUES (?1, ?2, ?3, ?4)";
                transaction
                    .prepare_cached(sql)?
                    .execute(params![id, title, summary, content])?;
            }
            transaction.commit()?;
        }
        Ok(())
    }

    async fn search(&mut self, query: &str, limit: usize) -> Fallible<Vec<String>> {
        let words: Vec<String> = match self.terms {
            Terms::Own => self.keywords.keywords(query),
            Terms::Porter => {
                let words = query.split(|character: char| !character.is_alphanumeric());
                words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
            }
        };
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let sql = "SELECT id FROM pages WHERE pages MATCH ?1 ORDER BY bm25(pages, 0, 1.5, 1, 1) LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![quoted.join(" OR "), i64::try_from(limit)?], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

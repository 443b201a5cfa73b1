//! Journals with a defect.

use agcore_session::{
    Entry, InMemoryJournal, Journal, Record, SessionError, SessionErrorKind, Timestamp, id::MAX_ID_BYTES,
};
use async_trait::async_trait;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum JournalDefect {
    NumbersFromZero,
    AppendsOneByOne,
    /// Appends wherever the stream ends.
    IgnoresConflicts,
    IgnoresCase,
    StartsAfterTheNumber,
    /// Keeps whole seconds only.
    CutsTimes,
    /// A stream without records starts again.
    TrimmingForgetsTheEnd,
    /// A deleted stream keeps its end.
    DeletingTrims,
    /// Names that are not acceptable are changed until they are.
    RepairsNames,
}

/// An [`InMemoryJournal`] with a defect.
#[derive(Debug)]
pub(super) struct MutantJournal {
    inner: InMemoryJournal,
    defect: JournalDefect,
}

impl MutantJournal {
    pub(super) fn new(defect: JournalDefect) -> Self {
        Self {
            inner: InMemoryJournal::new(),
            defect,
        }
    }

    fn name(&self, stream: &str) -> String {
        match self.defect {
            JournalDefect::IgnoresCase => stream.to_lowercase(),
            JournalDefect::RepairsNames => {
                let kept = stream.chars().filter(|character| *character != '\0');
                kept.take(MAX_ID_BYTES)
                    .chain(stream.is_empty().then_some('x'))
                    .collect()
            }
            _ => stream.to_owned(),
        }
    }
}

#[async_trait]
impl Journal for MutantJournal {
    async fn append(&self, stream: &str, expected: u64, mut records: Vec<Record>) -> Result<u64, SessionError> {
        let name = self.name(stream);
        match self.defect {
            JournalDefect::NumbersFromZero => Ok(self.inner.append(&name, expected, records).await?.saturating_sub(1)),
            JournalDefect::AppendsOneByOne => {
                let mut end = self.inner.append(&name, expected, Vec::new()).await?;
                for record in records {
                    end = self.inner.append(&name, end, vec![record]).await?;
                    tokio::task::yield_now().await;
                }
                Ok(end)
            }
            JournalDefect::IgnoresConflicts => match self.inner.append(&name, expected, records.clone()).await {
                Err(error) => match error.kind() {
                    SessionErrorKind::Conflict { found, .. } => self.inner.append(&name, found, records).await,
                    _ => Err(error),
                },
                appended => appended,
            },
            JournalDefect::CutsTimes => {
                for record in &mut records {
                    record.at = Timestamp::from_millis(record.at.as_millis() / 1000 * 1000);
                }
                self.inner.append(&name, expected, records).await
            }
            _ => self.inner.append(&name, expected, records).await,
        }
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        let from = match self.defect {
            JournalDefect::StartsAfterTheNumber => from.saturating_add(1),
            _ => from,
        };
        self.inner.read(&self.name(stream), from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.inner.trim(&self.name(stream), before).await?;
        let is_empty = self.inner.read(stream, 0).await?.is_empty();
        if self.defect == JournalDefect::TrimmingForgetsTheEnd && is_empty {
            self.inner.delete(stream).await?;
        }
        Ok(())
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        let name = self.name(stream);
        if self.defect == JournalDefect::DeletingTrims {
            let has_records = !self.inner.read(&name, 0).await?.is_empty();
            self.inner.trim(&name, u64::MAX).await?;
            return Ok(has_records);
        }
        self.inner.delete(&name).await
    }
}

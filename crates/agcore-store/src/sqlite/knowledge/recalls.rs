//! Statistics of recalls.

use agcore_chat::Timestamp;
use agcore_memory::knowledge::RecallStatistics;
use rusqlite::{Connection, params};

use crate::{
    error::StoreError,
    sqlite::rows::{count, execute, number, select, time},
};

/// Records recalls.
pub(super) fn record(
    connection: &Connection,
    tenant: &str,
    recalls: &[(String, f64)],
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = "UPDATE knowledge_pages SET recalls = recalls + 1, score_sum = score_sum + ?3, recalled_at = ?4
               WHERE tenant = ?1 AND id = ?2";
    for (id, score) in recalls {
        // A score that is not a number would make the sum useless for ever.
        let score = if score.is_nan() { 0.0 } else { score.clamp(0.0, 1.0) };
        execute(
            connection,
            "cannot record the recall",
            sql,
            params![tenant, id, score, now.as_millis()],
        )?;
    }
    Ok(())
}

/// Returns the statistics of the pages that were recalled most often.
pub(super) fn statistics(
    connection: &Connection,
    tenant: &str,
    limit: u64,
) -> Result<Vec<RecallStatistics>, StoreError> {
    let sql = "SELECT id, recalls, score_sum, recalled_at FROM knowledge_pages WHERE tenant = ?1 AND recalls > 0
               ORDER BY recalls DESC, id LIMIT ?2";
    let values = params![tenant, number(limit)];
    select(connection, "cannot read the recalls", sql, values, |row| {
        let (id, score_sum): (String, f64) = (row.get("id")?, row.get("score_sum")?);
        Ok(RecallStatistics::new(
            id,
            count(row, "recalls")?,
            score_sum,
            time(row, "recalled_at")?,
        ))
    })
}

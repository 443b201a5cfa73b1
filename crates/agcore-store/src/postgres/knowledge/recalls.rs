//! Statistics of recalls.

use std::collections::BTreeMap;

use agcore_memory::knowledge::RecallStatistics;
use sqlx::{Error, Row, postgres::PgRow};

use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        error::convert,
        query::number,
        rows::{count, time},
        text::lookup,
    },
};

impl PostgresStore {
    /// Records recalls.
    pub(super) async fn record_page_recalls(&self, tenant: &str, recalls: &[(String, f64)]) -> Result<(), StoreError> {
        // Sorted, so that two statements lock the pages in the same order.
        let mut sums: BTreeMap<&str, (i64, f64)> = BTreeMap::new();
        for (id, score) in recalls.iter().filter(|(id, _)| !id.contains('\0')) {
            // A score that is not a number would make the sum useless for ever.
            let score = if score.is_nan() { 0.0 } else { score.clamp(0.0, 1.0) };
            let sum = sums.entry(id).or_default();
            *sum = (sum.0 + 1, sum.1 + score);
        }
        if sums.is_empty() {
            return Ok(());
        }
        let sql = "WITH recalled AS (
                       SELECT tenant, id, number, score
                       FROM unnest($2::text[], $3::bigint[], $4::float8[]) AS new (recalled_id, number, score)
                       JOIN knowledge_pages ON tenant = $1 AND id = recalled_id ORDER BY id FOR UPDATE OF knowledge_pages
                   )
                   UPDATE knowledge_pages AS page
                   SET recalls = recalls + number, score_sum = score_sum + score, recalled_at = $5
                   FROM recalled WHERE page.tenant = recalled.tenant AND page.id = recalled.id";
        let statement = sqlx::query(sql)
            .bind(lookup(tenant))
            .bind(sums.keys().copied().collect::<Vec<&str>>())
            .bind(sums.values().map(|sum| sum.0).collect::<Vec<i64>>())
            .bind(sums.values().map(|sum| sum.1).collect::<Vec<f64>>())
            .bind(self.now().as_millis());
        let recorded = self.statements().execute("cannot record the recalls", statement).await;
        recorded.map(drop)
    }

    /// Returns the statistics of the pages that were recalled most often.
    pub(super) async fn page_recalls(&self, tenant: &str, limit: u64) -> Result<Vec<RecallStatistics>, StoreError> {
        let attempt = "cannot read the recalls";
        let sql = "SELECT id, recalls, score_sum, recalled_at FROM knowledge_pages
                   WHERE tenant = $1 AND recalls > 0 ORDER BY recalls DESC, id LIMIT $2";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(number(limit));
        let rows = self.statements().rows(attempt, statement).await?;
        let statistics: Result<_, Error> = rows.iter().map(statistics).collect();
        statistics.map_err(|error| convert(attempt, error))
    }
}

fn statistics(row: &PgRow) -> Result<RecallStatistics, Error> {
    let (id, score_sum): (String, f64) = (row.try_get("id")?, row.try_get("score_sum")?);
    Ok(RecallStatistics::new(
        id,
        count(row, "recalls")?,
        score_sum,
        time(row, "recalled_at")?,
    ))
}

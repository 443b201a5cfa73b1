//! Lists of flat objects as tables.

use std::collections::HashMap;

use serde_json::Value;

use crate::{problem::FileProblem, table::Table, work::Work};

/// Returns a list of objects without lists and objects in them as a table, with a column for each name in the order in which
/// the names occur first.
pub(super) fn table(work: &Work<'_>, value: &Value) -> Result<Option<Table>, FileProblem> {
    let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
        return Ok(None);
    };
    let mut columns: Vec<String> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for item in items {
        work.check()?;
        let Some(members) = item.as_object() else {
            return Ok(None);
        };
        for (name, member) in members {
            if member.is_array() || member.is_object() {
                return Ok(None);
            }
            numbers.entry(name).or_insert_with(|| {
                columns.push(name.clone());
                columns.len() - 1
            });
        }
    }
    // Objects with different names make a table that is much larger than the file.
    work.count_cells(columns.len().saturating_mul(items.len()))?;
    let rows = items.iter().filter_map(Value::as_object).map(|members| {
        let mut row = vec![Value::Null; columns.len()];
        for (name, member) in members {
            if let Some(cell) = numbers.get(name.as_str()).and_then(|number| row.get_mut(*number)) {
                *cell = member.clone();
            }
        }
        row
    });
    let rows = rows.collect();
    Ok((!columns.is_empty()).then(|| Table::new(work.name, columns, rows)))
}

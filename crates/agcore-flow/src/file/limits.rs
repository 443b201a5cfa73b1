//! [`FileLimits`]: the limits of the flow of a file.

use std::collections::BTreeMap;

use super::{
    kind::FlowKind,
    node::{Node, Place, Value},
    reader::Reader,
};
use crate::options::Limit;

/// The limits of the flow of a [`FlowFile`](super::FlowFile).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileLimits {
    /// How many times a model may correct a result that does not fit; `None` is the default of the agent loop.
    pub max_repairs: Option<u32>,
    /// How many times the planner of a planner flow may decide; `None` is its default.
    pub max_rounds: Option<u32>,
    /// How often nodes of a graph may be visited, by their names.
    pub visits: BTreeMap<String, Limit>,
}

/// Reads the limits. Also returns the places of the nodes that they name.
pub(super) fn limits(reader: &mut Reader<'_>, node: &Node, kind: FlowKind) -> (FileLimits, Vec<(String, Place)>) {
    let (mut limits, mut places) = (FileLimits::default(), Vec::new());
    let Some(mut table) = reader.table(node) else {
        return (limits, places);
    };
    limits.max_repairs = table.take("max_repairs").and_then(|node| reader.number(node));
    if kind == FlowKind::Planner
        && let Some(node) = table.take("max_rounds")
    {
        limits.max_rounds = reader.number(node).filter(|rounds| *rounds > 0);
        if limits.max_rounds.is_none() {
            reader.problem(node.place, "the planner must be allowed to decide at least once");
        }
    }
    if kind == FlowKind::Graph
        && let Some(node) = table.take("visits")
    {
        for member in reader.table(node).map(super::reader::Table::all).unwrap_or_default() {
            let Some((limit, exit)) = visits(reader, &member.node) else {
                continue;
            };
            places.push((member.name.clone(), member.place));
            places.extend(exit);
            limits.visits.insert(member.name.clone(), limit);
        }
    }
    reader.no_more(table);
    (limits, places)
}

/// Reads a number of visits, or a table with the number and the node that is visited instead.
fn visits(reader: &mut Reader<'_>, node: &Node) -> Option<(Limit, Option<(String, Place)>)> {
    let Value::Table(_) = node.value else {
        return Some((Limit::new(reader.number(node)?), None));
    };
    let mut table = reader.table(node)?;
    let number = reader
        .required(&mut table, "visits")
        .and_then(|node| reader.number(node));
    let exit = table
        .take("exit")
        .and_then(|node| reader.text(node).map(|name| (name, node.place)));
    reader.no_more(table);
    let limit = Limit {
        visits: number?,
        exit: exit.as_ref().map(|(name, _)| name.clone()),
    };
    Some((limit, exit))
}

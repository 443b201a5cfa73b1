//! [`Overlay`]: the path of a run, by nodes.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use agcore_chat::{Money, ReportedCost, UsageTracker};

use crate::{record::Record, step::END};

/// The path of a run: what each node took, and the edges that were followed.
pub(super) struct Overlay<'r> {
    nodes: BTreeMap<&'r str, Totals>,
    edges: BTreeSet<(&'r str, &'r str)>,
}

#[derive(Default)]
struct Totals {
    visits: u32,
    duration: Duration,
    usage: UsageTracker,
    costs: Vec<Money>,
}

impl<'r> Overlay<'r> {
    pub(super) fn of(records: &'r [Record]) -> Self {
        let mut overlay = Self {
            nodes: BTreeMap::new(),
            edges: BTreeSet::new(),
        };
        for record in records {
            let totals = overlay.nodes.entry(&record.node).or_default();
            totals.visits += 1;
            totals.duration += record.duration;
            if let Some(usage) = &record.usage {
                totals.usage.merge(usage);
                totals.add_cost(usage.usage.cost.as_ref().and_then(ReportedCost::money).as_ref());
            }
            let next = record.next.iter().map(|next| (record.node.as_str(), next.as_str()));
            overlay.edges.extend(next);
        }
        overlay
    }

    pub(super) fn is_visited(&self, node: &str) -> bool {
        self.nodes.contains_key(node)
    }

    pub(super) fn is_taken(&self, from: &str, to: &str) -> bool {
        self.edges.contains(&(from, to))
    }

    pub(super) fn has_ended(&self) -> bool {
        self.edges.iter().any(|(_, to)| *to == END)
    }

    /// Returns the lines that describe what a node took.
    pub(super) fn notes(&self, node: &str) -> Vec<String> {
        let Some(totals) = self.nodes.get(node) else {
            return Vec::new();
        };
        let mut notes = vec![format!("{}× in {}", totals.visits, shown(totals.duration))];
        notes.extend(totals.usage.total().map(|tokens| format!("{tokens} tokens")));
        notes.extend(totals.costs.iter().map(Money::to_string));
        notes
    }
}

impl Totals {
    /// Adds a cost to those in the same currency.
    fn add_cost(&mut self, cost: Option<&Money>) {
        let Some(cost) = cost else { return };
        match self.costs.iter_mut().find(|known| known.currency == cost.currency) {
            Some(known) => known.micros = known.micros.saturating_add(cost.micros),
            None => self.costs.push(cost.clone()),
        }
    }
}

fn shown(duration: Duration) -> String {
    match duration.as_millis() {
        0 => format!("{} µs", duration.as_micros()),
        millis if millis < 1000 => format!("{millis} ms"),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}

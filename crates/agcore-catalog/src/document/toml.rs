//! TOML documents.

use agcore_yaml::{Member, Node, Place, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Reads a document, or returns what is wrong and where.
pub(super) fn parse(text: &str) -> Result<Node, (Place, String)> {
    let lines = Lines::of(text);
    match DeTable::parse(text) {
        Ok(table) => Ok(lines.table(table.get_ref(), Place::new(1, 1))),
        Err(error) => {
            let place = lines.place(error.span().map_or(0, |span| span.start));
            Err((place, error.message().to_owned()))
        }
    }
}

/// The starts of the lines of a text.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
        }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line.saturating_sub(1)];
        let before = self.text.get(start..offset).unwrap_or_default();
        Place::new(line, before.chars().count() + 1)
    }

    fn table(&self, table: &DeTable<'_>, place: Place) -> Node {
        let mut members: Vec<Member> = table
            .iter()
            .map(|(name, value)| Member {
                place: self.place(name.span().start),
                name: name.get_ref().to_string(),
                node: self.node(value),
            })
            .collect();
        members.sort_by_key(|member| member.place);
        // A table without a header of its own has no place.
        let place = if place.line == 0 {
            members.first().map_or(place, |first| first.place)
        } else {
            place
        };
        Node::new(place, Value::Table(members))
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let place = self.place(value.span().start);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => Value::Number(number.to_string()),
            DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(time) => Value::Text(time.to_string()),
            DeValue::Array(items) => Value::List(items.iter().map(|item| self.node(item)).collect()),
            DeValue::Table(table) => return self.table(table, place),
        };
        Node::new(place, value)
    }
}

//! TOML documents.

use agcore_yaml::Place;
use serde_json::{Map, Number, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::places::{Places, Wrong};

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<(Value, Places), Wrong> {
    let mut reader = Reader {
        text,
        places: Places::default(),
    };
    let table = DeTable::parse(text).map_err(|error| Wrong {
        place: reader.place(error.span().map_or(0, |span| span.start)),
        member: String::new(),
        problem: error.message().to_owned(),
    })?;
    let value = reader.table(table.get_ref(), "")?;
    Ok((value, reader.places))
}

struct Reader<'t> {
    text: &'t str,
    places: Places,
}

impl Reader<'_> {
    fn place(&self, offset: usize) -> Place {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Place::new(line, column)
    }

    fn table(&mut self, table: &DeTable<'_>, path: &str) -> Result<Value, Wrong> {
        let mut members = Map::new();
        for (name, value) in table {
            let member = Places::member(path, name.get_ref());
            self.places.add(member.clone(), self.place(name.span().start));
            members.insert(name.get_ref().to_string(), self.value(value, &member)?);
        }
        Ok(Value::Object(members))
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &str) -> Result<Value, Wrong> {
        Ok(match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(time) => Value::String(time.to_string()),
            DeValue::Integer(number) => number_of(&number.to_string()).ok_or_else(|| self.no_number(value, path))?,
            DeValue::Float(number) => number_of(number.as_str()).ok_or_else(|| self.no_number(value, path))?,
            DeValue::Table(table) => return self.table(table, path),
            DeValue::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let element = Places::element(path, index);
                    self.places.add(element.clone(), self.place(item.span().start));
                    list.push(self.value(item, &element)?);
                }
                Value::Array(list)
            }
        })
    }

    fn no_number(&self, value: &Spanned<DeValue<'_>>, path: &str) -> Wrong {
        Wrong {
            place: self.place(value.span().start),
            member: path.to_owned(),
            problem: "the number has no form in JSON; write a decimal number".to_owned(),
        }
    }
}

/// Returns a number of TOML, which may contain underscores.
fn number_of(text: &str) -> Option<Value> {
    let digits: String = text.chars().filter(|digit| *digit != '_').collect();
    let digits = digits.trim_start_matches('+');
    if let Ok(number) = digits.parse::<i64>() {
        return Some(number.into());
    }
    digits.parse().ok().and_then(Number::from_f64).map(Value::Number)
}

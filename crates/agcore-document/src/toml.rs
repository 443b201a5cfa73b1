//! TOML documents.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    error::{DocumentError, ErrorKind},
    limits::Limits,
    node::{Member, Node, Value},
    number,
    place::{Lines, Place},
};

/// Reads a document.
pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Node, DocumentError> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        DocumentError::of_text(lines.place(offset), kind_of(text, &error))
    })?;
    let mut reader = Reader {
        lines,
        limits,
        values: 0,
    };
    reader.table(table.get_ref(), Place::START, 1)
}

/// Returns the kind of an error. That of a key that is there already is the only one that goes away with another name for the key.
fn kind_of(text: &str, error: &toml::de::Error) -> ErrorKind {
    let syntax = || ErrorKind::Syntax(error.message().to_owned());
    let Some((span, key)) = error.span().and_then(|span| Some((span.clone(), text.get(span)?))) else {
        return syntax();
    };
    let mut unused = String::from("x");
    while text.contains(&unused) {
        unused.push('x');
    }
    let renamed = [&text[..span.start], &unused, &text[span.end..]].concat();
    let is_solved = match DeTable::parse(&renamed) {
        Ok(_) => true,
        Err(next) => next.span().is_some_and(|next| next.start > span.start + unused.len()),
    };
    // The key is one name, and not a part of a text.
    let name = DeTable::parse(&format!("{key} = 0")).ok().and_then(|table| {
        let mut names = table.get_ref().iter().map(|(name, _)| name.get_ref().to_string());
        names.next()
    });
    match name {
        Some(name) if is_solved => ErrorKind::DuplicateKey(name),
        _ => syntax(),
    }
}

struct Reader<'t> {
    lines: Lines<'t>,
    limits: &'t Limits,
    values: usize,
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>, place: Place, depth: usize) -> Result<Node, DocumentError> {
        self.check(place, depth)?;
        let mut members = Vec::with_capacity(table.len());
        for (name, value) in table {
            members.push(Member {
                place: self.lines.place(name.span().start),
                name: name.get_ref().to_string(),
                node: self.node(value, depth)?,
            });
        }
        members.sort_by_key(|member| member.place);
        Ok(Node::new(place, Value::Table(members)))
    }

    fn node(&mut self, value: &Spanned<DeValue<'_>>, depth: usize) -> Result<Node, DocumentError> {
        let place = self.lines.place(value.span().start);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(time) => Value::Text(time.to_string()),
            DeValue::Integer(whole) => match number::from_radix(whole.as_str(), whole.radix()) {
                Some(text) => Value::Number(text),
                None => return Err(unsupported(place, number::TOO_LARGE)),
            },
            DeValue::Float(float) if number::is_decimal(float.as_str()) => Value::Number(float.as_str().to_owned()),
            DeValue::Float(_) => return Err(unsupported(place, "the number is not finite; write a decimal number")),
            DeValue::Table(table) => return self.table(table, place, depth + 1),
            DeValue::Array(items) => {
                self.check(place, depth + 1)?;
                let items = items.iter().map(|item| self.node(item, depth + 1));
                return Ok(Node::new(place, Value::List(items.collect::<Result<_, _>>()?)));
            }
        };
        self.count(place)?;
        Ok(Node::new(place, value))
    }

    /// Counts a list or a table.
    fn check(&mut self, place: Place, depth: usize) -> Result<(), DocumentError> {
        let most = self.limits.max_depth;
        if depth > most {
            return Err(DocumentError::of_text(place, ErrorKind::TooDeep(most)));
        }
        self.count(place)
    }

    fn count(&mut self, place: Place) -> Result<(), DocumentError> {
        self.values += 1;
        let most = self.limits.max_values;
        match self.values > most {
            true => Err(DocumentError::of_text(
                place,
                ErrorKind::TooLarge { unit: "values", most },
            )),
            false => Ok(()),
        }
    }
}

fn unsupported(place: Place, problem: &'static str) -> DocumentError {
    DocumentError::of_text(place, ErrorKind::Unsupported(problem))
}

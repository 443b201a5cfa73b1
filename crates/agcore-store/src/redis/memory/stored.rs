//! Items as the fields of a hash.

use std::borrow::Cow;

use agcore_chat::{Actor, Timestamp};
use agcore_memory::MemoryItem;
use serde_json::{Map, Value};

use crate::{
    error::StoreError,
    redis::error::{damaged, unreadable},
};

/// The fields of an item, in the order of a [`Row`]. Scripts use the same names. More are recorded with recalls.
pub(super) const FIELDS: [&str; 9] = [
    "content", "user", "line", "source", "metadata", "created", "updated", "from", "until",
];

/// The values of the [`FIELDS`].
pub(super) type Row = [Option<Vec<u8>>; FIELDS.len()];

/// The id of an item and the values of the [`FIELDS`].
pub(super) type ListedRow = [Option<Vec<u8>>; FIELDS.len() + 1];

/// Returns the fields that a save sets, except for the user and the times of saving.
pub(super) fn members(item: &MemoryItem) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let time = |time: Timestamp| Cow::Owned(time.as_millis().to_string());
    let metadata = serde_json::to_string(&item.metadata).unwrap_or_default();
    let fixed = [
        ("content", Some(Cow::Borrowed(item.content.as_str()))),
        ("metadata", Some(metadata.into())),
        ("line", item.owner.line.as_deref().map(Cow::Borrowed)),
        ("source", item.source.as_deref().map(Cow::Borrowed)),
        ("from", item.valid_from.map(time)),
        ("until", item.valid_until.map(time)),
    ];
    let fixed = fixed
        .into_iter()
        .filter_map(|(name, value)| Some((name.into(), value?)));
    let entries = item.metadata.iter();
    let entries = entries.filter_map(|(name, value)| Some((entry_name(name).into(), comparable(value)?.into())));
    fixed.chain(entries).collect()
}

/// Returns the name of the field by which filters find an entry of the metadata.
pub(super) fn entry_name(name: &str) -> String {
    format!("={name}")
}

/// Returns the text by which a value of the metadata is compared, if filters can ask for it. Values of different types have
/// different texts.
pub(super) fn comparable(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(format!("s{text}")),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => number.as_i64().map(|number| number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Reads an item of a list.
pub(super) fn listed_item(tenant: &str, row: ListedRow) -> Result<MemoryItem, StoreError> {
    let [id, row @ ..] = row;
    let id = String::from_utf8(id.unwrap_or_default());
    item_of(tenant, &id.map_err(|_| damaged("the id of an item"))?, row)
}

/// Reads an item.
pub(super) fn item_of(tenant: &str, id: &str, row: Row) -> Result<MemoryItem, StoreError> {
    let [content, user, line, source, metadata, created, updated, from, until] = row;
    let text = |what: &str, bytes: Option<Vec<u8>>| {
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_| damaged(&format!("the {what} of the item `{id}`")))
    };
    let required =
        |what: &str, bytes| text(what, bytes)?.ok_or_else(|| damaged(&format!("the {what} of the item `{id}`")));
    let time = |what: &str, bytes| {
        let millis = text(what, bytes)?.map(|text| text.parse().map(Timestamp::from_millis));
        millis
            .transpose()
            .map_err(|_| damaged(&format!("the {what} of the item `{id}`")))
    };
    let required_time =
        |what: &str, bytes| time(what, bytes)?.ok_or_else(|| damaged(&format!("the {what} of the item `{id}`")));

    let mut owner = Actor::new(tenant, required("owner", user)?);
    owner.line = text("owner", line)?.map(Into::into);
    let mut item = MemoryItem::new(id, required("content", content)?).with_owner(owner);
    let metadata: Result<Map<String, Value>, _> = serde_json::from_str(&required("metadata", metadata)?);
    item.metadata = metadata.map_err(|error| unreadable(&format!("the metadata of the item `{id}`"), error))?;
    item.source = text("source", source)?;
    item.created_at = required_time("time of creation", created)?;
    item.updated_at = required_time("time of the last save", updated)?;
    item.valid_from = time("validity", from)?;
    item.valid_until = time("validity", until)?;
    Ok(item)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::StoreErrorKind;

    fn row(item: &MemoryItem) -> Row {
        let members = members(item);
        let find = |field: &str| {
            let fixed = match field {
                "user" => Some(item.owner.user.to_string()),
                "created" | "updated" => Some("5".to_owned()),
                _ => None,
            };
            let member = members.iter().find(|(name, _)| name == field);
            fixed
                .or_else(|| member.map(|(_, value)| value.to_string()))
                .map(String::into_bytes)
        };
        FIELDS.map(find)
    }

    #[test]
    fn an_item_survives() {
        let mut item = MemoryItem::new("a", "\u{0}日本")
            .with_owner(Actor::new("t", "u").with_line("l"))
            .with_metadata("x", json!([1, {"y": null}]))
            .with_source("")
            .with_validity(Some(Timestamp::from_millis(-5)), None);
        (item.created_at, item.updated_at) = (Timestamp::from_millis(5), Timestamp::from_millis(5));
        assert_eq!(item_of("t", "a", row(&item)).unwrap(), item);
    }

    #[test]
    fn damage_is_named() {
        let good = row(&MemoryItem::new("a", ""));
        for (place, bytes, expected) in [
            (0, None, "the content of the item `a` is damaged"),
            (0, Some(b"\xff".to_vec()), "the content of the item `a` is damaged"),
            (1, None, "the owner of the item `a` is damaged"),
            (
                4,
                Some(b"{".to_vec()),
                "the metadata of the item `a` is damaged: its JSON cannot be read",
            ),
            (5, None, "the time of creation of the item `a` is damaged"),
            (
                6,
                Some(b"soon".to_vec()),
                "the time of the last save of the item `a` is damaged",
            ),
            (7, Some(b"".to_vec()), "the validity of the item `a` is damaged"),
        ] {
            let mut row = good.clone();
            row[place] = bytes;
            let error = item_of("local", "a", row).unwrap_err();
            assert_eq!(
                (error.kind(), error.message()),
                (StoreErrorKind::Serialization, expected)
            );
        }
    }

    #[test]
    fn values_of_different_types_differ() {
        let texts = [json!("1"), json!(1), json!("true"), json!(true), json!(i64::MIN)].map(|value| comparable(&value));
        let expected = ["s1", "1", "strue", "true", "-9223372036854775808"].map(|text| Some(text.to_owned()));
        assert_eq!(texts, expected);
        for value in [json!(1.0), json!(u64::MAX), json!(null), json!([1])] {
            assert_eq!(comparable(&value), None);
        }
    }
}

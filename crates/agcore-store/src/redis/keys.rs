//! [`Keys`]: the names of the keys of a store.

use std::fmt::Write;

/// The names of all keys of a store. Names and ids are encoded, so that no two of them share a key.
///
/// The part in braces decides in which slot of a Redis Cluster a key is. All keys of items share a slot, because several
/// tenants can be saved together; each stream has a slot of its own.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    /// Creates the names with a prefix that was checked.
    pub(super) fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
        }
    }

    /// Returns the key of the version of the format.
    pub(super) fn format(&self) -> String {
        format!("{{{}}}:format", self.prefix)
    }

    /// Returns the key of the set of tenants that have items.
    pub(super) fn tenants(&self) -> String {
        format!("{{{}}}:tenants", self.prefix)
    }

    /// Returns the keys of the items of a tenant, in the order in which the scripts expect them. The last is the beginning of
    /// the keys of single items.
    pub(super) fn items(&self, tenant: &str) -> [String; 5] {
        let tenant = encoded(tenant);
        ["ids", "created", "updated", "owners", "item"].map(|name| {
            let end = if name == "item" { ":" } else { "" };
            format!("{{{}}}:{name}:{tenant}{end}", self.prefix)
        })
    }

    /// Returns the key of an item. An id is not encoded: nothing follows it.
    pub(super) fn item(&self, tenant: &str, id: &str) -> String {
        let [.., item] = self.items(tenant);
        item + id
    }

    /// Returns the keys of the end and of the records of a stream.
    pub(super) fn stream(&self, name: &str) -> [String; 2] {
        let name = encoded(name);
        ["end", "records"].map(|part| format!("{}:stream:{{{name}}}:{part}", self.prefix))
    }
}

/// Encodes what has a meaning in keys: the separator and the braces of a hash tag.
fn encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, ':' | '{' | '}' | '%') || character.is_ascii_control() {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{:02X}", u32::from(character));
        } else {
            encoded.push(character);
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_readable() {
        let keys = Keys::new("app");
        assert_eq!(keys.item("local", "notes/tea"), "{app}:item:local:notes/tea");
        assert_eq!(keys.stream("session/ann/1")[1], "app:stream:{session/ann/1}:records");
    }

    #[test]
    fn no_two_share_a_key() {
        let keys = Keys::new("app");
        let names = [
            "a", "a:b", "b", "b:a", "a%3Ab", "{a}", "a}", "}", "ids", "%", "\u{1}", "日本",
        ];
        let mut all = BTreeSet::from([keys.format(), keys.tenants()]);
        let mut count = 2;
        for name in names {
            for key in keys.items(name).into_iter().chain(keys.stream(name)) {
                count += 1;
                all.insert(key);
            }
            for id in names {
                count += 1;
                all.insert(keys.item(name, id));
            }
        }
        assert_eq!(all.len(), count);
    }

    /// Returns the part of a key that Redis hashes: the text between the first brace and the next closing one.
    fn tag(key: &str) -> &str {
        let (_, rest) = key.split_once('{').unwrap_or_default();
        rest.split_once('}').map_or(key, |(tag, _)| tag)
    }

    #[test]
    fn what_changes_together_is_in_one_slot() {
        let keys = Keys::new("app");
        for name in ["a", "}{", "{", "a}b", ""] {
            for key in keys
                .items(name)
                .into_iter()
                .chain([keys.format(), keys.tenants(), keys.item(name, "}{")])
            {
                assert_eq!(tag(&key), "app", "{key}");
            }
        }
        for name in ["a", "}{", "{", "a}b"] {
            let [end, records] = keys.stream(name);
            assert_eq!(tag(&end), tag(&records));
            assert_eq!(tag(&end), encoded(name));
        }
    }
}

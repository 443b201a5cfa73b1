//! JSON pointers (RFC 6901) in which a segment `*` stands for every entry of a list.

use serde_json::Value;

/// The most segments of a pointer.
const MAX_SEGMENTS: usize = 16;

/// Checks a pointer. The error continues a sentence about it.
pub(super) fn check(pointer: &str) -> Result<(), &'static str> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err("does not begin with a slash");
    }
    if pointer.matches('/').count() > MAX_SEGMENTS {
        return Err("has more than 16 segments");
    }
    let mut escapes = pointer.split('~').skip(1);
    if !escapes.all(|rest| rest.starts_with(['0', '1'])) {
        return Err("contains a tilde that is not written as ~0");
    }
    Ok(())
}

/// Appends everything that a pointer selects. What does not exist is left out.
pub(super) fn select<'v>(value: &'v Value, pointer: &str, found: &mut Vec<&'v Value>) {
    let Some(rest) = pointer.strip_prefix('/') else {
        found.push(value);
        return;
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (segment, rest) = rest.split_at(end);
    match (segment, value) {
        ("*", Value::Array(entries)) => entries.iter().for_each(|entry| select(entry, rest, found)),
        ("*", _) => {}
        (segment, Value::Array(entries)) => {
            let entry = segment.parse::<usize>().ok().and_then(|index| entries.get(index));
            entry.into_iter().for_each(|entry| select(entry, rest, found));
        }
        (segment, Value::Object(members)) => {
            // In this order, so that `~01` becomes `~1`.
            let name = segment.replace("~1", "/").replace("~0", "~");
            let member = members.get(&name);
            member.into_iter().for_each(|member| select(member, rest, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn selects(pointer: &str, expected: &[Value]) {
        let value = json!({
            "a": [{"b": 1}, {"b": 2}, {"c": 3}], "x/y": {"m~n": 4}, "list": [[5, 6], [7]], "~1": 8, "*": 9,
        });
        assert_eq!(check(pointer), Ok(()), "{pointer}");
        let mut found = Vec::new();
        select(&value, pointer, &mut found);
        let expected: Vec<&Value> = expected.iter().collect();
        assert_eq!(found, expected, "{pointer}");
    }

    #[test]
    fn selects_members_and_entries() {
        selects("/a/0/b", &[json!(1)]);
        selects("/a/*/b", &[json!(1), json!(2)]);
        selects("/list/*/*", &[json!(5), json!(6), json!(7)]);
        selects("/x~1y/m~0n", &[json!(4)]);
        selects("/~01", &[json!(8)]);
        selects("/list", &[json!([[5, 6], [7]])]);
        for nothing in ["/a/3", "/a/-", "/none", "/a/0/b/c", "/*/b", "/a/b", "/"] {
            selects(nothing, &[]);
        }
    }

    #[test]
    fn refuses_what_is_no_pointer() {
        for wrong in ["a", "a/b", "/a~", "/a~2", "/a~b"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        assert!(check(&"/a".repeat(16)).is_ok());
        assert!(check(&"/a".repeat(17)).is_err());
        assert_eq!(check(""), Ok(()));
    }
}

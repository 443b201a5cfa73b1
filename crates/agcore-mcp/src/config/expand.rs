//! Replacement of `${NAME}` and `${NAME:-default}`.

/// Replaces the variables of a text. Values are not expanded again.
///
/// # Errors
/// A variable that is not set and has no default, or a `${` without a name or an end.
pub(super) fn expand(text: &str, resolve: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut expanded, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find("${") {
        expanded.push_str(&rest[..start]);
        let Some(length) = rest[start + 2..].find('}') else {
            return Err("a `${` has no `}`".to_owned());
        };
        let reference = &rest[start + 2..start + 2 + length];
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err("the name in a `${…}` is not one of a variable".to_owned());
        }
        // As in a shell, an empty value is replaced by the default.
        match (resolve(name), default) {
            (Some(value), Some(default)) if value.is_empty() => expanded.push_str(default),
            (Some(value), _) => expanded.push_str(&value),
            (None, Some(default)) => expanded.push_str(default),
            (None, None) => {
                return Err(format!(
                    "the variable {name} is not set; set it, or write ${{{name}:-default}}"
                ));
            }
        }
        rest = &rest[start + 2 + length + 1..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let resolve = |name: &str| match name {
            "KEY" => Some("${KEY}".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let expanded = expand(text, &resolve);
        assert_eq!(
            expanded.as_deref(),
            expected.map_err(str::to_owned).as_ref().copied(),
            "{text}"
        );
    }

    #[test]
    fn variables_are_replaced_once() {
        check("", Ok(""));
        check("$HOME {a} $", Ok("$HOME {a} $"));
        check("Bearer ${KEY}!", Ok("Bearer ${KEY}!"));
        check("${EMPTY}${EMPTY:-x}${NONE:-y}${NONE:-}", Ok("xy"));
        check(
            "${NONE}",
            Err("the variable NONE is not set; set it, or write ${NONE:-default}"),
        );
        check("${KEY", Err("a `${` has no `}`"));
        check("${}", Err("the name in a `${…}` is not one of a variable"));
        check("${a b}", Err("the name in a `${…}` is not one of a variable"));
    }
}

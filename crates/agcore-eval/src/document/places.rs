//! [`Places`]: where the members of a document are, and which are wrong.

use std::collections::HashMap;

use agcore_yaml::Place;

/// A problem of a document, and its place.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) place: Place,
    /// The member, such as `cases[0].expect`; empty for the document itself.
    pub(crate) member: String,
    pub(crate) problem: String,
}

/// The places of the members of a document, by paths such as `cases[0].name`.
#[derive(Debug, Default)]
pub(crate) struct Places(HashMap<String, Place>);

impl Places {
    /// Returns the path of a member of a table.
    pub(crate) fn member(path: &str, name: &str) -> String {
        match path {
            "" | "." => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    /// Returns the path of an element of a list.
    pub(crate) fn element(path: &str, index: usize) -> String {
        format!("{path}[{index}]")
    }

    pub(super) fn add(&mut self, path: String, place: Place) {
        self.0.insert(path, place);
    }

    pub(super) fn knows(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Returns the place of a member, or of the innermost known one that contains it.
    pub(crate) fn of(&self, path: &str) -> Place {
        let mut path = path;
        loop {
            if let Some(place) = self.0.get(path) {
                return *place;
            }
            match path.rfind(['.', '[']) {
                Some(end) => path = path.get(..end).unwrap_or_default(),
                None => return Place::START,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_without_a_place_is_where_its_container_is() {
        let mut places = Places::default();
        places.add("cases[0]".to_owned(), Place::new(3, 1));
        places.add("cases[0].expect".to_owned(), Place::new(5, 2));
        let check = |path: &str, line: usize| assert_eq!(places.of(path).line, line, "{path}");
        check("cases[0].expect.answer.equals", 5);
        check("cases[0].name", 3);
        check("cases[1]", 1);
        check("", 1);
    }
}

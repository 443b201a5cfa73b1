//! [`Relations`]: which parts belong to a part.

use quick_xml::events::Event;

use super::xml::{attribute, each_event};
use crate::{archive::Archive, problem::FileProblem};

/// A reference from one part to another.
#[derive(Debug)]
struct Relation {
    id: String,
    kind: String,
    target: String,
}

/// The references of a part, or of the whole file.
#[derive(Debug, Default)]
pub(super) struct Relations {
    /// The folder of the part, with a slash at its end unless it is empty.
    folder: String,
    all: Vec<Relation>,
}

impl Relations {
    /// Reads the references of a part; with an empty name, those of the file. A part need not have any.
    pub(super) fn read(archive: &mut Archive<'_>, part: &str) -> Result<Self, FileProblem> {
        let (folder, name) = match part.rsplit_once('/') {
            Some((folder, name)) => (format!("{folder}/"), name),
            None => (String::new(), part),
        };
        let mut relations = Self {
            folder,
            all: Vec::new(),
        };
        let path = format!("{}_rels/{name}.rels", relations.folder);
        let Some(text) = archive.xml(&path)? else {
            return Ok(relations);
        };
        each_event(archive.work(), &text, |event| {
            if let Event::Start(element) = event
                && element.local_name().as_ref() == "Relationship"
                && attribute(&element, "TargetMode").as_deref() != Some("External")
            {
                let value = |name| attribute(&element, name).unwrap_or_default();
                let target = resolved(&relations.folder, &value("Target"));
                relations.all.push(Relation {
                    id: value("Id"),
                    kind: value("Type"),
                    target,
                });
            }
            Ok(())
        })?;
        Ok(relations)
    }

    /// Returns the part of a kind. Kinds are URLs whose last part is the same in all versions of the format.
    pub(super) fn of_kind(&self, kind: &'static str) -> Option<&str> {
        self.all_of_kind(kind).next().map(|(_, target)| target)
    }

    /// Returns the part of a kind, or the one that most programs would write.
    pub(super) fn part(&self, kind: &'static str) -> String {
        let found = self.of_kind(kind).map(str::to_owned);
        found.unwrap_or_else(|| format!("{}{kind}.xml", self.folder))
    }

    /// Returns the ids and names of all parts of a kind.
    pub(super) fn all_of_kind(&self, kind: &'static str) -> impl Iterator<Item = (&str, &str)> {
        let is_kind = move |relation: &&Relation| {
            let last = relation.kind.rsplit('/').next().unwrap_or_default();
            last.eq_ignore_ascii_case(kind)
        };
        let found = self.all.iter().filter(is_kind);
        found.map(|relation| (relation.id.as_str(), relation.target.as_str()))
    }
}

/// Returns the name of a part that is written relative to a folder.
fn resolved(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let whole = match target.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{folder}{target}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_relative_or_absolute() {
        assert_eq!(resolved("word/", "styles2.xml"), "word/styles2.xml");
        assert_eq!(resolved("word/", "/word/a.mht"), "word/a.mht");
        assert_eq!(resolved("word/", "..\\custom\\x.xml"), "custom/x.xml");
        assert_eq!(resolved("", "./word/../../document.xml"), "document.xml");
    }
}

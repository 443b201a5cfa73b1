//! [`FrontMatter`]: the YAML at the beginning of `SKILL.md`.

use saphyr_parser::{Event, Parser, StrInput};

/// The members of the front matter that are used.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) name: String,
    pub(super) description: String,
}

impl FrontMatter {
    /// Splits a file into its front matter, which must have a name and a description, and the rest.
    ///
    /// # Errors
    /// What is wrong with the front matter.
    pub(super) fn split(text: &str) -> Result<(Self, &str), String> {
        let missing =
            "it must begin with a line `---`, the name and the description of the skill, and another line `---`";
        let text = text.trim_start_matches('\u{feff}');
        let rest = text.strip_prefix("---").ok_or(missing)?;
        let rest = rest
            .strip_prefix("\r\n")
            .or_else(|| rest.strip_prefix('\n'))
            .ok_or(missing)?;
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim_end() == "---" {
                return Ok((Self::parse(&rest[..at])?, &rest[at + line.len()..]));
            }
            at += line.len();
        }
        Err(missing.to_owned())
    }

    fn parse(yaml: &str) -> Result<Self, String> {
        let mut front = Self::default();
        let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(yaml);
        let (mut depth, mut name) = (0_usize, None::<String>);
        while let Some(event) = parser.next_event() {
            let (event, _) = event.map_err(|error| {
                // The first line of the file is `---`.
                format!(
                    "the front matter is not YAML: line {}: {}",
                    error.marker().line() + 1,
                    error.info()
                )
            })?;
            match event {
                Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
                Event::MappingEnd | Event::SequenceEnd => {
                    depth = depth.saturating_sub(1);
                    // The value of a member was a structure.
                    if depth == 1 {
                        name = None;
                    }
                }
                Event::Scalar(value, ..) if depth == 1 => match name.take() {
                    None => name = Some(value.into_owned()),
                    Some(member) if member == "name" => front.name = value.into_owned(),
                    Some(member) if member == "description" => front.description = value.into_owned(),
                    Some(_) => {}
                },
                Event::Alias(_) if depth == 1 => name = None,
                _ => {}
            }
        }
        Ok(front)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_matter_has_a_name_and_a_description() {
        let read = |text: &str| -> Result<(String, String, String), String> {
            FrontMatter::split(text).map(|(front, body)| (front.name, front.description, body.to_owned()))
        };
        let expected = (
            "tea".to_owned(),
            "Makes \"tea\": hot.".to_owned(),
            "Body\n---\n".to_owned(),
        );
        let text = "---\nname: tea\nlicense: [a, {b: c}]\ndescription: 'Makes \"tea\": hot.'\n---\nBody\n---\n";
        assert_eq!(read(text).unwrap(), expected);
        assert_eq!(
            read(&format!("\u{feff}{}", text.replace('\n', "\r\n"))).unwrap().1,
            expected.1
        );
        assert_eq!(
            read("---\nname: a\ndescription: >\n  one\n  two\n---\n").unwrap().1,
            "one two\n"
        );
        assert_eq!(
            read("---\nmeta:\n  name: x\n---\n").unwrap().0,
            "",
            "a nested name is another one"
        );
        for broken in ["", "name: tea", "---\nname: tea\n", "---x\n---\n"] {
            assert!(
                read(broken).unwrap_err().contains("must begin with a line `---`"),
                "{broken}"
            );
        }
        assert!(read("---\nname: [\n---\n").unwrap_err().contains("not YAML: line"));
    }
}

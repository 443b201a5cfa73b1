//! [`FormFields`]: the values of form fields and the texts that people put on a page, which are not a part of its content.

use std::{collections::HashSet, ptr};

use lopdf::{Dictionary, Document as Pdf, Object, ObjectId, Stream, StringFormat, decode_text_string};

use super::reader::PageReader;
use crate::{problem::FileProblem, work::Work};

/// The depth of fields in fields.
const MAX_DEPTH: usize = 16;

/// The number of fields that are read.
const MAX_FIELDS: usize = 20_000;

/// The flags of an annotation or field.
const HIDDEN: i64 = 1 << 1;
const PASSWORD: i64 = 1 << 13;
const PUSH_BUTTON: i64 = 1 << 16;

/// Finds the values of form fields, and texts that are put on a page. Each is shown once.
pub(super) struct FormFields<'w, 'p> {
    work: &'w Work<'w>,
    pdf: &'p Pdf,
    shown: HashSet<*const Dictionary>,
    /// How many bytes values may still have. Fields can share a value.
    left: usize,
}

impl<'w, 'p> FormFields<'w, 'p> {
    pub(super) fn new(work: &'w Work<'w>, pdf: &'p Pdf) -> Self {
        Self {
            work,
            pdf,
            shown: HashSet::new(),
            left: work.limits.unpacked_bytes,
        }
    }

    /// Returns a line for each field on a page that has a value, its label and the value, and the texts that are put on the page.
    pub(super) fn of_page(
        &mut self,
        number: u32,
        page: ObjectId,
        reader: &mut PageReader<'_, 'p>,
    ) -> Result<String, FileProblem> {
        let page = self.pdf.get_dictionary(page).ok();
        let annotations = page.map(|page| self.array(page, b"Annots")).unwrap_or_default();
        let mut lines = Vec::new();
        for annotation in annotations.iter().take(MAX_FIELDS) {
            self.work.check()?;
            let Some(annotation) = self.dictionary(annotation) else {
                continue;
            };
            let line = match annotation.get(b"Subtype").and_then(Object::as_name) {
                Ok(b"Widget") => {
                    let chain = self.chain(annotation);
                    self.line(&chain, |appearance, defaults| {
                        reader.read_appearance(number, appearance, defaults)
                    })?
                }
                Ok(b"FreeText") => self.free_text(annotation, |appearance, defaults| {
                    reader.read_appearance(number, appearance, defaults)
                })?,
                _ => None,
            };
            lines.extend(line);
        }
        Ok(lines.join("\n"))
    }

    /// Returns a line for each field with a value that is on no page.
    pub(super) fn of_no_page(&mut self) -> Result<String, FileProblem> {
        let Some(form) = self.form() else {
            return Ok(String::new());
        };
        let mut lines = Vec::new();
        let fields = self.array(form, b"Fields").iter();
        let mut stack: Vec<&'p Object> = fields.take(MAX_FIELDS).rev().collect();
        let mut seen = HashSet::new();
        while let Some(field) = stack.pop() {
            self.work.check()?;
            let Some(field) = self.dictionary(field) else { continue };
            if seen.len() == MAX_FIELDS || !seen.insert(ptr::from_ref(field)) {
                continue;
            }
            // Fields can share their kids.
            let room = MAX_FIELDS.saturating_sub(stack.len());
            stack.extend(self.array(field, b"Kids").iter().take(room).rev());
            if field.has(b"T") {
                let nowhere = |_: &'p Stream, _: Option<&'p Dictionary>| Ok(String::new());
                lines.extend(self.line(&self.chain(field), nowhere)?);
            }
        }
        Ok(lines.join("\n"))
    }

    /// Returns the text of an annotation on a page: its content, or otherwise the drawn text.
    fn free_text(
        &mut self,
        annotation: &'p Dictionary,
        drawn: impl FnOnce(&'p Stream, Option<&'p Dictionary>) -> Result<String, FileProblem>,
    ) -> Result<Option<String>, FileProblem> {
        if is_hidden(annotation) || !self.shown.insert(ptr::from_ref(annotation)) {
            return Ok(None);
        }
        let text = annotation.get_deref(b"Contents", self.pdf).ok();
        let text = text.and_then(|text| decode_text_string(text).ok());
        let text = match (text.filter(|text| !text.trim().is_empty()), self.appearance(annotation)) {
            (None, Some(appearance)) => drawn(appearance, self.defaults())?,
            (text, _) => text.unwrap_or_default(),
        };
        self.counted(text)
    }

    /// Returns a line unless it is empty.
    fn counted(&mut self, line: String) -> Result<Option<String>, FileProblem> {
        let left = self.left.checked_sub(line.len());
        self.left = left.ok_or_else(|| self.work.unpacked_too_large())?;
        let line = line.replace("\r\n", "\n").replace('\r', "\n");
        Ok(Some(line).filter(|line| !line.trim().is_empty()))
    }

    /// Returns the normal appearance of an annotation.
    fn appearance(&self, annotation: &'p Dictionary) -> Option<&'p Stream> {
        let appearances = annotation.get_deref(b"AP", self.pdf).ok()?.as_dict().ok()?;
        let normal = appearances.get_deref(b"N", self.pdf).ok()?;
        match normal {
            Object::Stream(stream) => Some(stream),
            // One for each state.
            Object::Dictionary(states) => {
                let state = annotation.get_deref(b"AS", self.pdf).ok()?.as_name().ok()?;
                states.get_deref(state, self.pdf).ok()?.as_stream().ok()
            }
            _ => None,
        }
    }

    /// Returns the form of the file.
    fn form(&self) -> Option<&'p Dictionary> {
        let form = self.pdf.catalog().ok()?.get_deref(b"AcroForm", self.pdf).ok()?;
        form.as_dict().ok()
    }

    /// Returns the resources of fields whose appearance has none.
    fn defaults(&self) -> Option<&'p Dictionary> {
        self.form()?.get_deref(b"DR", self.pdf).ok()?.as_dict().ok()
    }

    /// Returns the line of a field, which is given with those that it is in, the innermost first. A field without a value has the
    /// text that is drawn.
    fn line(
        &mut self,
        chain: &[&'p Dictionary],
        drawn: impl FnOnce(&'p Stream, Option<&'p Dictionary>) -> Result<String, FileProblem>,
    ) -> Result<Option<String>, FileProblem> {
        let field = chain.iter().find(|part| part.has(b"T")).or(chain.first());
        if field.is_none_or(|field| !self.shown.insert(ptr::from_ref(*field))) {
            return Ok(None);
        }
        let flags = |key: &[u8]| {
            self.inherited(chain, key)
                .and_then(|flags| flags.as_i64().ok())
                .unwrap_or(0)
        };
        if chain.first().is_some_and(|part| is_hidden(part))
            || flags(b"Ff") & PASSWORD != 0 && self.kind(chain) == b"Tx"
        {
            return Ok(None);
        }
        let value = match self.kind(chain) {
            b"Tx" | b"Ch" => self.inherited(chain, b"V").and_then(|value| self.value(chain, value)),
            b"Btn" if flags(b"Ff") & PUSH_BUTTON == 0 => self.state(chain),
            _ => None,
        };
        let appearance = || self.appearance(chain.first()?);
        let value = match (value.filter(|value| !value.trim().is_empty()), self.kind(chain)) {
            (None, b"Tx" | b"Ch" | b"Sig") => match appearance() {
                Some(appearance) => drawn(appearance, self.defaults())?,
                None => return Ok(None),
            },
            (value, _) => value.unwrap_or_default(),
        };
        if value.trim().is_empty() {
            return Ok(None);
        }
        let label = self.inherited(chain, b"TU").or_else(|| self.inherited(chain, b"T"));
        let label = label
            .and_then(|label| decode_text_string(label).ok())
            .unwrap_or_default();
        let line = match label.trim() {
            "" => value,
            label => format!("{label}: {value}"),
        };
        self.counted(line)
    }

    fn kind(&self, chain: &[&'p Dictionary]) -> &'p [u8] {
        let kind = self.inherited(chain, b"FT").and_then(|kind| kind.as_name().ok());
        kind.unwrap_or_default()
    }

    /// Returns the text of a value. Those of a choice have a text to show.
    fn value(&self, chain: &[&'p Dictionary], value: &'p Object) -> Option<String> {
        match value {
            Object::Array(values) => {
                // An array can contain itself.
                let values = values.iter().filter_map(|value| self.resolve(value));
                let values = values.filter(|value| !matches!(value, Object::Array(_)));
                let texts: Vec<String> = values.filter_map(|value| self.value(chain, value)).collect();
                Some(texts.join(", "))
            }
            Object::Stream(stream) => {
                let content = stream.get_plain_content_with_limit(self.left).ok()?;
                decode_text_string(&Object::String(content, StringFormat::Literal)).ok()
            }
            value => {
                let text = decode_text_string(value).ok()?;
                let options = self
                    .inherited(chain, b"Opt")
                    .and_then(|options| options.as_array().ok());
                let shown = options.into_iter().flatten().find_map(|option| {
                    let [exported, shown] = self.resolve(option)?.as_array().ok()?.as_slice() else {
                        return None;
                    };
                    let of = |object| decode_text_string(self.resolve(object)?).ok();
                    (of(exported)? == text).then(|| of(shown))?
                });
                Some(shown.unwrap_or(text))
            }
        }
    }

    /// Returns the state of a check box or of radio buttons, unless it is off.
    fn state(&self, chain: &[&'p Dictionary]) -> Option<String> {
        let state = self.inherited(chain, b"V").or_else(|| self.inherited(chain, b"AS"))?;
        let state = state.as_name().ok().filter(|state| *state != b"Off")?;
        Some(String::from_utf8_lossy(state).into_owned())
    }

    /// Returns a field and those that it is in.
    fn chain(&self, field: &'p Dictionary) -> Vec<&'p Dictionary> {
        let parent = |field: &&'p Dictionary| field.get_deref(b"Parent", self.pdf).ok()?.as_dict().ok();
        std::iter::successors(Some(field), parent).take(MAX_DEPTH).collect()
    }

    fn inherited(&self, chain: &[&'p Dictionary], key: &[u8]) -> Option<&'p Object> {
        chain.iter().find_map(|part| part.get_deref(key, self.pdf).ok())
    }

    fn array(&self, dictionary: &'p Dictionary, key: &[u8]) -> &'p [Object] {
        let array = dictionary.get_deref(key, self.pdf).and_then(Object::as_array);
        array.map(Vec::as_slice).unwrap_or_default()
    }

    fn resolve(&self, object: &'p Object) -> Option<&'p Object> {
        self.pdf.dereference(object).ok().map(|(_, object)| object)
    }

    fn dictionary(&self, object: &'p Object) -> Option<&'p Dictionary> {
        self.resolve(object)?.as_dict().ok()
    }
}

/// Returns whether an annotation is neither shown nor printed.
fn is_hidden(annotation: &Dictionary) -> bool {
    annotation.get(b"F").and_then(Object::as_i64).unwrap_or(0) & HIDDEN != 0
}

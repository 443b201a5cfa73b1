//! [`FormFields`]: the values of form fields, which are not a part of the content of a page.

use std::{collections::HashSet, ptr};

use lopdf::{Dictionary, Document as Pdf, Object, ObjectId, StringFormat, decode_text_string};

use crate::{problem::FileProblem, work::Work};

/// The depth of fields in fields.
const MAX_DEPTH: usize = 16;

/// The number of fields that are read.
const MAX_FIELDS: usize = 20_000;

/// The flags of an annotation or field.
const HIDDEN: i64 = 1 << 1;
const PASSWORD: i64 = 1 << 13;
const PUSH_BUTTON: i64 = 1 << 16;

/// Finds the values of form fields. Each field is shown once.
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

    /// Returns a line for each field on a page that has a value: its label and the value.
    pub(super) fn of_page(&mut self, page: ObjectId) -> Result<String, FileProblem> {
        let page = self.pdf.get_dictionary(page).ok();
        let annotations = page.map(|page| self.array(page, b"Annots")).unwrap_or_default();
        let mut lines = Vec::new();
        for annotation in annotations.iter().take(MAX_FIELDS) {
            self.work.check()?;
            let Some(annotation) = self.dictionary(annotation) else {
                continue;
            };
            let is_field = annotation
                .get(b"Subtype")
                .and_then(Object::as_name)
                .is_ok_and(|kind| kind == b"Widget");
            if is_field {
                lines.extend(self.line(&self.chain(annotation))?);
            }
        }
        Ok(lines.join("\n"))
    }

    /// Returns a line for each field with a value that is on no page.
    pub(super) fn of_no_page(&mut self) -> Result<String, FileProblem> {
        let form = self
            .pdf
            .catalog()
            .ok()
            .and_then(|catalog| catalog.get_deref(b"AcroForm", self.pdf).ok());
        let Some(form) = form.and_then(|form| form.as_dict().ok()) else {
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
                lines.extend(self.line(&self.chain(field))?);
            }
        }
        Ok(lines.join("\n"))
    }

    /// Returns the line of a field, which is given with those that it is in, the innermost first.
    fn line(&mut self, chain: &[&'p Dictionary]) -> Result<Option<String>, FileProblem> {
        let field = chain.iter().find(|part| part.has(b"T")).or(chain.first());
        if field.is_none_or(|field| !self.shown.insert(ptr::from_ref(*field))) {
            return Ok(None);
        }
        let flags = |key: &[u8]| {
            self.inherited(chain, key)
                .and_then(|flags| flags.as_i64().ok())
                .unwrap_or(0)
        };
        let is_hidden = chain
            .first()
            .is_some_and(|part| part.get(b"F").and_then(Object::as_i64).unwrap_or(0) & HIDDEN != 0);
        if is_hidden || flags(b"Ff") & PASSWORD != 0 && self.kind(chain) == b"Tx" {
            return Ok(None);
        }
        let value = match self.kind(chain) {
            b"Tx" | b"Ch" => self.inherited(chain, b"V").and_then(|value| self.value(chain, value)),
            b"Btn" if flags(b"Ff") & PUSH_BUTTON == 0 => self.state(chain),
            _ => None,
        };
        let Some(value) = value.filter(|value| !value.trim().is_empty()) else {
            return Ok(None);
        };
        let label = self.inherited(chain, b"TU").or_else(|| self.inherited(chain, b"T"));
        let label = label
            .and_then(|label| decode_text_string(label).ok())
            .unwrap_or_default();
        let line = match label.trim() {
            "" => value,
            label => format!("{label}: {value}"),
        };
        let left = self.left.checked_sub(line.len());
        self.left = left.ok_or_else(|| self.work.unpacked_too_large())?;
        Ok(Some(line))
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

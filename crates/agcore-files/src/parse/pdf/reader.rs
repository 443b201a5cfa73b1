//! [`PageReader`]: carries out the operators of a page that concern its text.

use std::{collections::HashMap, ptr, rc::Rc};

use lopdf::{
    DecompressError, Dictionary, Document as Pdf, Error, Object, ObjectId, Stream,
    content::{Content, Operation},
};

use super::{
    font::{Font, Source},
    losses::{Damage, Losses, MAX_FORM_DEPTH},
    text_state::{Fonts, TextState},
};
use crate::{
    problem::{FileProblem, FileProblemKind},
    work::Work,
};

/// The size of the content of one page in bytes. Its operators need many times this memory.
const MAX_PAGE_BYTES: usize = 16 << 20;

/// The number of fonts of a file.
const MAX_FONTS: usize = 1_000;

/// The number of bytes that each use of a content counts for in addition to its own, so that short forms are not used without
/// end.
const RUN_BYTES: usize = 100;

/// An operator that no file has, after the content of a page.
const END: &str = "\nagcoreEnd\n";

/// Reads the pages of a file.
pub(super) struct PageReader<'w, 'p> {
    work: &'w Work<'w>,
    pdf: &'p Pdf,
    /// How many bytes may still be decompressed.
    left: usize,
    /// Pages share fonts.
    fonts: HashMap<*const Dictionary, Rc<Font>>,
    source: Source<'p>,
    /// The font of texts whose font is missing.
    fallback: Rc<Font>,
    losses: Losses,
    /// The damage to the page that is read.
    damage: Damage,
}

impl<'w, 'p> PageReader<'w, 'p> {
    pub(super) fn new(work: &'w Work<'w>, pdf: &'p Pdf) -> Self {
        Self {
            work,
            pdf,
            left: work.limits.unpacked_bytes,
            fonts: HashMap::new(),
            source: Source::new(pdf, work.limits.unpacked_bytes, work.limits.cells),
            fallback: Rc::new(Font::default()),
            losses: Losses::default(),
            damage: Damage::default(),
        }
    }

    /// Returns what could not be read so far.
    pub(super) fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Adds that the file should have more pages.
    pub(super) fn add_missing(&mut self, expected: usize, found: usize) {
        self.losses.add_missing(expected, found);
    }

    /// Returns the text of a page.
    pub(super) fn read(&mut self, number: u32, page: ObjectId) -> Result<String, FileProblem> {
        self.damage = Damage::default();
        let mut parts = self.pdf.get_page_contents(page).into_iter();
        self.damage.is_cut = parts.any(|id| self.pdf.get_object(id).and_then(Object::as_stream).is_err());
        let limit = self.left.min(MAX_PAGE_BYTES);
        let content = self.pdf.get_page_content_with_limit(page, limit);
        let content = content.map_err(|error| problem(self.work, error))?;
        let fonts = self.pdf.get_page_fonts(page).unwrap_or_default();
        let fonts = self.read_fonts(fonts.into_iter())?;
        let (own, inherited) = self.pdf.get_page_resources(page).unwrap_or_default();
        let inherited = inherited.iter().filter_map(|id| self.pdf.get_dictionary(*id).ok());
        let resources: Vec<&Dictionary> = own.into_iter().chain(inherited).collect();
        let mut state = TextState::new(self.work, Rc::clone(&self.fallback));
        self.run(content, &fonts, &resources, &mut state, 0)?;
        self.damage.is_cut |= state.is_in_text();
        self.losses.add(number, state.counts(), self.damage);
        Ok(state.into_text())
    }

    /// Returns the text of the appearance of an annotation on a page. `defaults` are the resources of the form of the file.
    pub(super) fn read_appearance(
        &mut self,
        number: u32,
        appearance: &'p Stream,
        defaults: Option<&'p Dictionary>,
    ) -> Result<String, FileProblem> {
        self.damage = Damage::default();
        let fonts = self.fonts_of(defaults)?;
        let resources: Vec<&Dictionary> = defaults.into_iter().collect();
        let mut state = TextState::new(self.work, Rc::clone(&self.fallback));
        self.run_form(appearance, &fonts, &resources, &mut state, 0)?;
        self.losses.add(number, state.counts(), self.damage);
        Ok(state.into_text())
    }

    /// Carries out the operators of a page or form.
    fn run(
        &mut self,
        mut content: Vec<u8>,
        fonts: &Fonts,
        resources: &[&'p Dictionary],
        state: &mut TextState<'_>,
        depth: usize,
    ) -> Result<(), FileProblem> {
        // The same content can be used by many pages and forms.
        self.left = self
            .left
            .checked_sub(content.len() + RUN_BYTES)
            .ok_or_else(|| self.work.unpacked_too_large())?;
        // The library stops at an error, often without saying so: then the end is not found.
        content.extend_from_slice(END.as_bytes());
        let mut is_at_end = false;
        for operation in Content::decode_iter(&content) {
            self.work.check()?;
            let Ok(operation) = operation else { break };
            is_at_end = operation.operator.as_str() == END.trim();
            match operation.operator.as_str() {
                "Do" => self.form(&operation, fonts, resources, state, depth)?,
                _ => state.apply(&operation, fonts)?,
            }
        }
        self.damage.is_cut |= !is_at_end;
        Ok(())
    }

    /// Reads a form, which is a page inside of a page.
    fn form(
        &mut self,
        operation: &Operation,
        fonts: &Fonts,
        resources: &[&'p Dictionary],
        state: &mut TextState<'_>,
        depth: usize,
    ) -> Result<(), FileProblem> {
        let pdf = self.pdf;
        let Some(name) = operation.operands.first().and_then(|name| name.as_name().ok()) else {
            return Ok(());
        };
        let found = resources.iter().find_map(|resources| {
            let objects = resources.get_deref(b"XObject", pdf).ok()?.as_dict().ok()?;
            objects.get_deref(name, pdf).ok()?.as_stream().ok()
        });
        let is_form = |form: &&Stream| {
            form.dict
                .get(b"Subtype")
                .and_then(Object::as_name)
                .is_ok_and(|kind| kind == b"Form")
        };
        let Some(form) = found.filter(is_form) else {
            return Ok(());
        };
        if depth == MAX_FORM_DEPTH {
            self.damage.is_too_deep = true;
            return Ok(());
        }
        self.run_form(form, fonts, resources, state, depth)
    }

    /// Carries out the operators of a form.
    fn run_form(
        &mut self,
        form: &'p Stream,
        fonts: &Fonts,
        resources: &[&'p Dictionary],
        state: &mut TextState<'_>,
        depth: usize,
    ) -> Result<(), FileProblem> {
        let pdf = self.pdf;
        let content = form.get_plain_content_with_limit(self.left.min(MAX_PAGE_BYTES));
        let content = content.map_err(|error| problem(self.work, error))?;
        let own = form.dict.get_deref(b"Resources", pdf).and_then(Object::as_dict).ok();
        let own_fonts = self.fonts_of(own)?;
        let kept = state.keep();
        if let Some(matrix) = form
            .dict
            .get_deref(b"Matrix", pdf)
            .ok()
            .and_then(|matrix| matrix.as_array().ok())
        {
            state.transform(matrix);
        }
        let fonts = if own_fonts.is_empty() { fonts } else { &own_fonts };
        let own: Vec<&Dictionary> = own.into_iter().collect();
        let resources = if own.is_empty() { resources } else { own.as_slice() };
        self.run(content, fonts, resources, state, depth + 1)?;
        state.restore(kept);
        Ok(())
    }

    /// Returns the fonts of the resources of a form.
    fn fonts_of(&mut self, resources: Option<&'p Dictionary>) -> Result<Fonts, FileProblem> {
        let pdf = self.pdf;
        let named = resources.and_then(|own| own.get_deref(b"Font", pdf).ok()?.as_dict().ok());
        let named = named.into_iter().flat_map(Dictionary::iter);
        let named =
            named.filter_map(|(name, font)| Some((name.clone(), pdf.dereference(font).ok()?.1.as_dict().ok()?)));
        self.read_fonts(named)
    }

    fn read_fonts(&mut self, named: impl Iterator<Item = (Vec<u8>, &'p Dictionary)>) -> Result<Fonts, FileProblem> {
        let mut fonts = Fonts::new();
        for (name, font) in named {
            self.work.check()?;
            let key = ptr::from_ref(font);
            let known = self.fonts.get(&key).cloned();
            let read = match known {
                Some(known) => known,
                None if self.fonts.len() == MAX_FONTS => {
                    return Err(self.work.exceeded(&format!("it has more than {MAX_FONTS} fonts")));
                }
                None => {
                    let read = Rc::new(Font::read(&mut self.source, font));
                    self.fonts.insert(key, Rc::clone(&read));
                    read
                }
            };
            fonts.insert(name, read);
        }
        Ok(fonts)
    }
}

/// Returns the problem for an error of the library.
pub(super) fn problem(work: &Work<'_>, error: Error) -> FileProblem {
    match error {
        Error::Decompress(DecompressError::MemoryLimitExceeded { limit }) => work.exceeded(&format!(
            "it has a part that is larger than {limit} bytes after decompression"
        )),
        Error::InvalidPassword | Error::Decryption(_) => encrypted(work).with_source(error),
        error => work.broken("it is not a complete PDF file").with_source(error),
    }
}

/// Returns the problem of a file with a password.
pub(super) fn encrypted(work: &Work<'_>) -> FileProblem {
    let message = "it is protected with a password; remove the password, and try again";
    FileProblem::new(work.name, FileProblemKind::Encrypted, message)
}

//! [`PageReader`]: carries out the operators of a page that concern its text.

use std::{
    collections::{BTreeMap, HashMap},
    ptr,
    rc::Rc,
};

use lopdf::{
    DecompressError, Dictionary, Document as Pdf, Error, Object, ObjectId, Stream,
    content::{Content, Operation},
};

use super::{
    font::Font,
    matrix::Matrix,
    page_text::{PageText, Placed},
};
use crate::{
    problem::{FileProblem, FileProblemKind},
    work::Work,
};

/// The size of the content of one page in bytes. Its operators need many times this memory.
const MAX_PAGE_BYTES: usize = 16 << 20;

/// The size of the tables of one font in bytes.
const MAX_FONT_BYTES: usize = 4 << 20;

/// The number of fonts of a file.
const MAX_FONTS: usize = 1_000;

/// The depth of forms in forms that is read. Forms can contain themselves.
const MAX_FORM_DEPTH: usize = 5;

/// The number of graphics states that can be saved.
const MAX_SAVED: usize = 512;

/// A movement between two letters that is a space, in thousandths of the font size.
const SPACE_MOVEMENT: f32 = -180.0;

type Fonts<'p> = BTreeMap<Vec<u8>, Option<Rc<Font<'p>>>>;

/// Reads the pages of a file.
pub(super) struct PageReader<'w, 'p> {
    work: &'w Work<'w>,
    pdf: &'p Pdf,
    /// How many bytes may still be decompressed.
    left: usize,
    /// Pages share fonts. A font that cannot be read is `None`, and its texts are left out.
    fonts: HashMap<*const Dictionary, Option<Rc<Font<'p>>>>,
}

impl<'w, 'p> PageReader<'w, 'p> {
    pub(super) fn new(work: &'w Work<'w>, pdf: &'p Pdf) -> Self {
        Self {
            work,
            pdf,
            left: work.limits.unpacked_bytes,
            fonts: HashMap::new(),
        }
    }

    /// Returns the text of a page.
    pub(super) fn read(&mut self, page: ObjectId) -> Result<String, FileProblem> {
        let limit = self.left.min(MAX_PAGE_BYTES);
        let content = self.pdf.get_page_content_with_limit(page, limit);
        let content = content.map_err(|error| problem(self.work, error))?;
        let fonts = self.pdf.get_page_fonts(page).unwrap_or_default();
        let fonts = self.read_fonts(fonts.into_iter())?;
        let (own, inherited) = self.pdf.get_page_resources(page).unwrap_or_default();
        let inherited = inherited.iter().filter_map(|id| self.pdf.get_dictionary(*id).ok());
        let resources: Vec<&Dictionary> = own.into_iter().chain(inherited).collect();
        let mut state = State::default();
        self.run(&content, &fonts, &resources, &mut state, 0)?;
        Ok(state.page.into_text())
    }

    fn run(
        &mut self,
        content: &[u8],
        fonts: &Fonts<'p>,
        resources: &[&'p Dictionary],
        state: &mut State<'p>,
        depth: usize,
    ) -> Result<(), FileProblem> {
        // The same content can be used by many pages and forms.
        self.left = self
            .left
            .checked_sub(content.len())
            .ok_or_else(|| self.work.unpacked_too_large())?;
        for operation in Content::decode_iter(content) {
            self.work.check()?;
            // What follows an error cannot be read, but what comes before it has been.
            let Ok(operation) = operation else { break };
            match operation.operator.as_str() {
                "Do" if depth < MAX_FORM_DEPTH => self.form(&operation, fonts, resources, state, depth)?,
                _ => state.apply(&operation, fonts),
            }
        }
        Ok(())
    }

    /// Reads a form, which is a page inside of a page.
    fn form(
        &mut self,
        operation: &Operation,
        fonts: &Fonts<'p>,
        resources: &[&'p Dictionary],
        state: &mut State<'p>,
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
        let content = form.get_plain_content_with_limit(self.left.min(MAX_PAGE_BYTES));
        let content = content.map_err(|error| problem(self.work, error))?;
        let own = form.dict.get_deref(b"Resources", pdf).and_then(Object::as_dict).ok();
        let named = own.and_then(|own| own.get_deref(b"Font", pdf).ok()?.as_dict().ok());
        let named = named.into_iter().flat_map(Dictionary::iter);
        let named =
            named.filter_map(|(name, font)| Some((name.clone(), pdf.dereference(font).ok()?.1.as_dict().ok()?)));
        let own_fonts = self.read_fonts(named)?;
        let saved = state.graphics.clone();
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
        self.run(&content, fonts, resources, state, depth + 1)?;
        state.graphics = saved;
        Ok(())
    }

    fn read_fonts(&mut self, named: impl Iterator<Item = (Vec<u8>, &'p Dictionary)>) -> Result<Fonts<'p>, FileProblem> {
        let mut fonts = Fonts::new();
        for (name, font) in named {
            self.work.check()?;
            let key = ptr::from_ref(font);
            if !self.fonts.contains_key(&key) {
                if self.fonts.len() == MAX_FONTS {
                    return Err(self.work.exceeded(&format!("it has more than {MAX_FONTS} fonts")));
                }
                let read = Font::read(self.pdf, font, MAX_FONT_BYTES).ok().map(Rc::new);
                self.fonts.insert(key, read);
            }
            fonts.insert(name, self.fonts.get(&key).cloned().flatten());
        }
        Ok(fonts)
    }
}

/// The part of the state that `q` saves and `Q` restores.
#[derive(Clone)]
struct Graphics<'p> {
    transformation: Matrix,
    font: Option<Rc<Font<'p>>>,
    size: f32,
    leading: f32,
}

/// The state of a page while it is drawn.
struct State<'p> {
    graphics: Graphics<'p>,
    saved: Vec<Graphics<'p>>,
    /// The place of the next text, and of the line that it is on.
    text: Matrix,
    line: Matrix,
    page: PageText,
}

impl Default for State<'_> {
    fn default() -> Self {
        Self {
            graphics: Graphics {
                transformation: Matrix::IDENTITY,
                font: None,
                size: 1.0,
                leading: 0.0,
            },
            saved: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            page: PageText::default(),
        }
    }
}

impl<'p> State<'p> {
    fn apply(&mut self, operation: &Operation, fonts: &Fonts<'p>) {
        let operands = operation.operands.as_slice();
        let number = |index: usize| {
            operands
                .get(index)
                .and_then(|operand| operand.as_float().ok())
                .unwrap_or(0.0)
        };
        match operation.operator.as_str() {
            "q" if self.saved.len() < MAX_SAVED => self.saved.push(self.graphics.clone()),
            "Q" => self.graphics = self.saved.pop().unwrap_or_else(|| self.graphics.clone()),
            "cm" => self.transform(operands),
            "BT" => self.set_line(Matrix::IDENTITY),
            "Tf" => {
                let name = operands.first().and_then(|name| name.as_name().ok());
                self.graphics.font = name.and_then(|name| fonts.get(name).cloned().flatten());
                self.graphics.size = number(1);
            }
            "TL" => self.graphics.leading = number(0),
            "Td" => self.next_line(number(0), number(1)),
            "TD" => {
                self.graphics.leading = -number(1);
                self.next_line(number(0), number(1));
            }
            "Tm" => {
                if let Some(matrix) = Matrix::from_operands(operands) {
                    self.set_line(matrix);
                }
            }
            "T*" => self.next_line(0.0, -self.graphics.leading),
            "Tj" | "TJ" => self.show(operands),
            "'" => {
                self.next_line(0.0, -self.graphics.leading);
                self.show(operands);
            }
            "\"" => {
                self.next_line(0.0, -self.graphics.leading);
                self.show(operands.get(2..).unwrap_or_default());
            }
            _ => {}
        }
    }

    fn transform(&mut self, operands: &[Object]) {
        if let Some(matrix) = Matrix::from_operands(operands) {
            self.graphics.transformation = matrix.then(self.graphics.transformation);
        }
    }

    fn set_line(&mut self, line: Matrix) {
        self.line = line;
        self.text = line;
    }

    fn next_line(&mut self, x: f32, y: f32) {
        self.set_line(Matrix::translation(x, y).then(self.line));
    }

    /// Shows texts. Arrays contain texts and movements between them.
    fn show(&mut self, operands: &[Object]) {
        let Some(font) = self.graphics.font.clone() else {
            return;
        };
        let Some(first) = operands.first() else { return };
        let parts = match first {
            Object::Array(parts) => parts.as_slice(),
            _ => std::slice::from_ref(first),
        };
        let (mut shown, mut width) = (String::new(), 0.0);
        for part in parts {
            if let Ok(movement) = part.as_float() {
                width -= movement / 1000.0;
                if movement < SPACE_MOVEMENT && !shown.ends_with(' ') {
                    shown.push(' ');
                }
            } else if let Object::String(bytes, _) = part {
                let text = font.text(bytes);
                width += font.width(bytes, &text);
                shown.push_str(&text);
            }
        }
        let place = self.text.then(self.graphics.transformation);
        let (x, y) = place.origin();
        let size = self.graphics.size;
        self.page.push(
            &shown,
            Placed {
                x,
                y,
                width: width * size * place.width_scale(),
                size: size.abs() * place.height_scale(),
            },
        );
        self.text = Matrix::translation(width * size, 0.0).then(self.text);
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

//! PDF: the text of each page, in lines and paragraphs.

mod accents;
mod copies;
mod font;
mod form_fields;
mod losses;
mod matrix;
mod page_text;
mod place;
mod reader;
mod text_state;
mod values;

use lopdf::{Document as Pdf, LoadOptions, decode_text_string};

use self::{
    form_fields::FormFields,
    reader::{PageReader, encrypted, problem},
};
use crate::{
    kind::FileKind,
    outline::Outline,
    preprocessed::Preprocessed,
    problem::{FileProblem, FileProblemKind},
    work::Work,
};

/// The size of one stream of objects after decompression in bytes. Programs put some hundred objects into each.
const MAX_OBJECT_STREAM_BYTES: usize = 4 << 20;

/// Reads the text of a PDF file.
pub(crate) fn parse(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let pdf = load(work)?;
    let mut outline = Outline::extracted(work);
    if let Some(title) = title(&pdf) {
        outline.set_title(&title);
    }
    let mut reader = PageReader::new(work, &pdf);
    let has_values = read_pages(work, &pdf, &mut reader, &mut outline)?;
    let unsupported = |message: &str| FileProblem::new(work.name, FileProblemKind::Unsupported, message);
    if reader.losses().is_everything() && !has_values {
        return Err(unsupported(
            "it has text, but its fonts do not say which characters it consists of; recognize the text with another program \
             first",
        ));
    }
    if outline.is_empty() {
        return Err(unsupported(
            "it has no text, its pages may be pictures; recognize the text with another program first",
        ));
    }
    Ok(Preprocessed {
        warnings: reader.losses().warnings(work),
        documents: vec![outline.into_document(FileKind::Pdf)?],
        ..Preprocessed::new()
    })
}

/// Reads the text of all pages with the values of their form fields and the texts that are put on them, and returns whether there
/// are any of these.
fn read_pages<'p>(
    work: &Work<'_>,
    pdf: &'p Pdf,
    reader: &mut PageReader<'_, 'p>,
    outline: &mut Outline<'_>,
) -> Result<bool, FileProblem> {
    let mut fields = FormFields::new(work, pdf);
    let (mut pages, mut has_values) = (0, false);
    for (number, page) in (1..).zip(pdf.page_iter()) {
        work.check()?;
        pages += 1;
        let limit = work.limits.pages;
        if pages > limit {
            return Err(work.exceeded(&format!("it has more than {limit} pages")));
        }
        outline.set_page(number);
        for paragraph in reader.read(number, page)?.split("\n\n") {
            outline.push(paragraph, None)?;
        }
        let values = fields.of_page(number, page, reader)?;
        has_values |= !values.is_empty();
        outline.push(&values, None)?;
    }
    if pages == 0 {
        return Err(work.broken("it has no pages"));
    }
    if let Some(expected) = expected_pages(pdf).filter(|expected| *expected > pages) {
        reader.add_missing(expected, pages);
    }
    let values = fields.of_no_page()?;
    has_values |= !values.is_empty();
    outline.push(&values, None)?;
    Ok(has_values)
}

fn load(work: &Work<'_>) -> Result<Pdf, FileProblem> {
    values::start(work)?;
    let load = |is_rebuilt: bool| {
        let limit = MAX_OBJECT_STREAM_BYTES.min(work.limits.unpacked_bytes);
        let mut options = LoadOptions::with_max_decompressed_size(limit);
        options.filter = Some(values::keep);
        options.force_reconstruct = is_rebuilt;
        Pdf::load_mem_with_options(work.content, options).map_err(|error| problem(work, error))
    };
    let mut pdf = load(false)?;
    if pdf.page_iter().next().is_none() && !pdf.is_encrypted() {
        // The table of objects may be wrong; the library only searches for objects by itself when it has no filter.
        values::start(work)?;
        pdf = load(true)?;
    }
    values::finish(work)?;
    if pdf.is_encrypted() {
        return Err(encrypted(work));
    }
    Ok(pdf)
}

/// Returns the number of pages that the file states.
fn expected_pages(pdf: &Pdf) -> Option<usize> {
    let pages = pdf.catalog().ok()?.get_deref(b"Pages", pdf).ok()?.as_dict().ok()?;
    usize::try_from(pages.get_deref(b"Count", pdf).ok()?.as_i64().ok()?).ok()
}

fn title(pdf: &Pdf) -> Option<String> {
    let info = pdf.trailer.get_deref(b"Info", pdf).ok()?.as_dict().ok()?;
    decode_text_string(info.get_deref(b"Title", pdf).ok()?).ok()
}

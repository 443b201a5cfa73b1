"""Writes the files and questions of the knowledge set: what a maker of pumps keeps, in many formats and three languages.

Needs reportlab, openpyxl and python-docx:

    python3 scripts/knowledge-set/make.py fixtures/knowledge

The files are the same each time, except for times that their libraries write into them.
"""

import csv
import io
import json
import sys
from pathlib import Path

from docx import Document
from openpyxl import Workbook
from openpyxl.styles import Font
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import BaseDocTemplate, Frame, NextPageTemplate, PageBreak, PageTemplate, Paragraph, Spacer

import texts

QUESTIONS = []


def ask(question, file, place=None):
    """Adds a question with the file of its answer, and a part of the place in it."""
    QUESTIONS.append({"question": question, "file": file, **({"place": place} if place else {})})


def pdf(path, title, sections, columns=1):
    """Writes a PDF file with a section on each page, in one or two columns."""
    styles = getSampleStyleSheet()
    document = BaseDocTemplate(str(path), pagesize=A4, title=title, invariant=1)
    width, height, edge, gap = A4[0], A4[1], 56, 18
    column = (width - 2 * edge - (columns - 1) * gap) / columns
    frames = [
        Frame(edge + number * (column + gap), edge, column, height - 2 * edge, id=f"c{number}")
        for number in range(columns)
    ]
    document.addPageTemplates([PageTemplate(id="page", frames=frames)])
    story = [Paragraph(title, styles["Title"]), NextPageTemplate("page")]
    for number, (heading, paragraphs) in enumerate(sections):
        if number:
            story.append(PageBreak())
        story.append(Paragraph(heading, styles["Heading2"]))
        for text in paragraphs:
            story += [Paragraph(text, styles["BodyText"]), Spacer(1, 6)]
    document.build(story)


def manuals(folder):
    """Manuals of pumps: the same sections with other values, which makes them hard to distinguish."""
    for number, pump in enumerate(texts.PUMPS):
        name = f"manuals/{pump['model'].lower()}.pdf"
        sections = [(heading, [text.format(**pump) for text in paragraphs]) for heading, paragraphs in texts.MANUAL]
        pdf(folder / name, f"Operating manual {pump['model']}", sections, columns=1 + number % 2)
    for question, model, page in texts.MANUAL_QUESTIONS:
        ask(question, f"manuals/{model.lower()}.pdf", f"page {page}")


def workbooks(folder):
    """Price lists and measurements, one sheet for each quarter or line."""
    for year in (2024, 2025, 2026):
        book = Workbook()
        book.remove(book.active)
        for quarter in range(1, 5):
            sheet = book.create_sheet(f"Q{quarter}")
            sheet.append([f"Orders {year} by customer, in EUR"])
            sheet.append([])
            sheet.append(["Customer", "City", "Model", "Pieces", "Revenue"])
            for cell in sheet[3]:
                cell.font = Font(bold=True)
            for row, (customer, city) in enumerate(texts.CUSTOMERS):
                pieces = 3 + (row * 7 + quarter * 5 + year) % 40
                model = texts.PUMPS[(row + quarter) % len(texts.PUMPS)]["model"]
                sheet.append([customer, city, model, pieces, pieces * (480 + 35 * row)])
        book.save(folder / f"sales/orders-{year}.xlsx")
    for year, quarter, customer in ((2024, 2, "Molkerei Nordsee"), (2025, 4, "Papierfabrik Aue"), (2026, 1, "Hafenwerke Emden")):
        ask(f"Orders {year} in quarter Q{quarter}: revenue with {customer}", f"sales/orders-{year}.xlsx", f"sheet Q{quarter}")
    for name, title, columns, rows, questions in texts.WORKBOOKS:
        book = Workbook()
        book.active.title = title
        book.active.append(columns)
        for row in rows:
            book.active.append(row)
        book.save(folder / f"sales/{name}")
        for question, place in questions:
            ask(question, f"sales/{name}", place)


def policies(folder):
    """Word documents with headings, lists and tables."""
    for name, title, sections in texts.POLICIES:
        document = Document()
        document.add_heading(title, 0)
        for heading, content in sections:
            document.add_heading(heading, 1)
            for item in content:
                if isinstance(item, list):
                    table = document.add_table(rows=0, cols=len(item[0]))
                    for row in item:
                        for cell, text in zip(table.add_row().cells, row):
                            cell.text = text
                else:
                    document.add_paragraph(item)
        document.save(folder / f"policies/{name}.docx")
    for question, name, heading in texts.POLICY_QUESTIONS:
        ask(question, f"policies/{name}.docx", heading)


def articles(folder):
    """Pages of the support site."""
    for name, title, sections in texts.ARTICLES:
        body = "".join(f"<h2>{heading}</h2>\n{content}\n" for heading, content in sections)
        text = (
            f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head><body>"
            f"<nav><a href=/>Home</a> <a href=/support>Support</a></nav><h1>{title}</h1>\n{body}</body></html>\n"
        )
        (folder / f"support/{name}.html").write_text(text, encoding="utf-8")
    for question, name, heading in texts.ARTICLE_QUESTIONS:
        ask(question, f"support/{name}.html", heading)


def values(folder):
    """Tables in the encodings in which programs in China and Japan write them."""
    for name, encoding, columns, rows, questions in texts.VALUES:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows(rows)
        (folder / f"data/{name}").write_bytes(text.getvalue().encode(encoding))
        for question, place in questions:
            ask(question, f"data/{name}", place)


def notes(folder):
    """Notes in Markdown, letters and logs."""
    for name, text, questions in texts.NOTES:
        (folder / f"notes/{name}").write_text(text, encoding="utf-8")
        for question, place in questions:
            ask(question, f"notes/{name}", place)


def main():
    folder = Path(sys.argv[1])
    for name in ("manuals", "sales", "policies", "support", "data", "notes"):
        (folder / "files" / name).mkdir(parents=True, exist_ok=True)
    for write in (manuals, workbooks, policies, articles, values, notes):
        write(folder / "files")
    (folder / "questions.json").write_text(json.dumps(QUESTIONS, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    files = [path for path in (folder / "files").rglob("*") if path.is_file()]
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files)} bytes, {len(QUESTIONS)} questions")


main()

#!/usr/bin/env python3
"""Makes the samples in fixtures/files/ with the usual programs of their formats.

    pip install -r requirements.txt
    make.py FOLDER

The samples are committed; run this only to change them. Archives contain the time at which they are made.
"""

import pathlib
import sys

import docx
import openpyxl
import pypdf
from docx.enum.text import WD_BREAK
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

import datetime


def workbook(path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Harvest"
    sheet["B2"] = "Harvest of 2025"
    rows = [
        ["plant", "kilograms", "picked", "organic", "share"],
        ["tomato", 12.5, datetime.date(2025, 8, 3), True, "=C4/20"],
        ["bean & pea", 7, datetime.datetime(2025, 7, 1, 6, 30), False, None],
        ["käse|kraut", None, datetime.time(18, 45), None, None],
    ]
    for row_number, row in enumerate(rows, start=3):
        for column, value in enumerate(row, start=2):
            sheet.cell(row_number, column, value)
    far = book.create_sheet("Far")
    far["A1"] = "name"
    far["XFD1048576"] = "corner"
    book.create_sheet("Empty")
    book.save(path)


def document(path):
    document = docx.Document()
    document.core_properties.title = "Garden handbook"
    document.add_heading("Garden", level=1)
    document.add_paragraph("The garden has two beds & one shed.")
    document.add_heading("Watering", level=2)
    paragraph = document.add_paragraph("Water the beds ")
    paragraph.add_run("in the morning").bold = True
    paragraph.add_run(".\tNever at noon.")
    document.add_paragraph("Rain water", style="List Bullet")
    document.add_paragraph("Tap water", style="List Bullet")
    table = document.add_table(rows=3, cols=3)
    for row, texts in zip(table.rows, [["bed", "litres", "note"], ["east", "10", ""], ["west", "12", "dry"]]):
        for cell, text in zip(row.cells, texts):
            cell.text = text
    merged = table.add_row().cells
    merged[0].merge(merged[1]).text = "both"
    merged[2].text = "22"
    document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    document.add_heading("Wörter – 词语", level=1)
    document.add_paragraph("日本語の段落。")
    document.save(path)


def report(path):
    styles = getSampleStyleSheet()
    story = [
        Paragraph("Harvest report", styles["Title"]),
        Paragraph("The tomatoes grew well this year. " * 8, styles["BodyText"]),
        Spacer(1, 24),
        Paragraph("Beans &amp; peas were café-sized – 12 kg.", styles["BodyText"]),
        Table([["plant", "kg"], ["tomato", "12.5"], ["bean", "7"]]),
    ]
    pages = SimpleDocTemplate(str(path), pagesize=A4, title="Harvest report 2025", author="Gardener", invariant=1)
    from reportlab.platypus import PageBreak

    pages.build(story + [PageBreak(), Paragraph("Second page.", styles["BodyText"])])


def locked(source, path):
    writer = pypdf.PdfWriter(clone_from=str(source))
    writer.encrypt("secret", algorithm="AES-256")
    writer.write(str(path))


def picture(path):
    pages = canvas.Canvas(str(path), pagesize=(100, 100), invariant=1)
    pages.rect(10, 10, 50, 50, fill=1)
    pages.save()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    workbook(folder / "harvest.xlsx")
    document(folder / "garden.docx")
    report(folder / "report.pdf")
    locked(folder / "report.pdf", folder / "locked.pdf")
    picture(folder / "picture.pdf")


if __name__ == "__main__":
    main()

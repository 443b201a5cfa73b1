#!/usr/bin/env python3
"""Makes the tables of fonts in crates/agcore-files/src/parse/pdf/font/.

    pip install -r requirements.txt
    make.py FOLDER

- glyphs.txt: the Adobe Glyph List and the names of ZapfDingbats (from fontTools), as "name code…" in hexadecimal;
  the latter begin with "ZapfDingbats.".
- encodings.txt: the encodings of PDF (from reportlab), as a line of 256 names each.
- strings.txt: the names of glyphs that CFF fonts have as numbers (from fontTools).
- widths.txt: the widths in the metrics of the 14 standard fonts (from reportlab), as "name width…".

The tables are committed; run this only to change them.
"""

import pathlib
import sys

from fontTools import agl
from fontTools.cffLib import cffStandardStrings
from reportlab.pdfbase import _fontdata as data

# Names in fonts of TeX that are not in the Adobe Glyph List, and codes that it has for other uses.
MORE = {
    "mapsto": "21A6",
    "visiblespace": "2423",
    "negationslash": "0338",
    "owner": "220B",
    "lessorequalslant": "2A7D",
    "greaterorequalslant": "2A7E",
    "follows": "227B",
    "precedesequal": "2AAF",
    "followsequal": "2AB0",
    "coproduct": "2210",
    "triangle": "25B3",
    "arrowhookleft": "21AA",
    "arrowhookright": "21A9",
    "Rfractur": "211C",
    "Ifractur": "2111",
    "angbracketleft": "27E8",
    "angbracketright": "27E9",
    "subsetnoteql": "228A",
    "notexistential": "2204",
    "squaresolid": "25A0",
    "measuredangle": "2221",
    "prime": "2032",
    "vextendsingle": "23D0",
    "vextenddouble": "2016",
    "tildewide": "02DC",
    "tildewider": "02DC",
    "tildewidest": "02DC",
    "hatwide": "02C6",
    "hatwider": "02C6",
    "hatwidest": "02C6",
    "Bullet": "2022",
    "latticetop": "22A4",
    "turnstileleft": "22A2",
    "turnstileright": "22A3",
    "bardbl": "2016",
    "star": "22C6",
    "triangleleft": "25C1",
    "triangleright": "25B7",
    "diamondmath": "22C4",
    "asteriskmath": "2217",
    "epsilon1": "03F5",
    "pi1": "03D6",
    "rho1": "03F1",
    "sigma1": "03C2",
    "phi1": "03D5",
    "theta1": "03D1",
    "lscript": "2113",
    "ff": "0066 0066",
    "fi": "0066 0069",
    "fl": "0066 006C",
    "ffi": "0066 0066 0069",
    "ffl": "0066 0066 006C",
}

LATIN = ["Helvetica", "Helvetica-Bold", "Times-Roman", "Times-Bold", "Times-Italic", "Times-BoldItalic"]


def glyphs():
    names = {}
    for line in agl._aglText.splitlines():
        if ";" in line and not line.startswith("#"):
            name, codes = line.split(";")
            names[name] = codes
    for name in data.widthsByFontGlyph["ZapfDingbats"]:
        text = agl._zapfDingbatsToUnicode(name)
        if text:
            names["ZapfDingbats." + name] = f"{ord(text):04X}"
    names.update(MORE)
    return "".join(f"{name} {codes}\n" for name, codes in sorted(names.items()))


def encodings():
    lines = []
    for name, names in data.encodings.items():
        if name != "PDFDocEncoding":
            names = [glyph or ".notdef" for glyph in names]
            lines.append(f"{name} {' '.join(names)}\n")
    return "".join(lines)


def strings():
    return "".join(f"{name}\n" for name in cffStandardStrings)


def widths():
    lines = []
    tables = [data.widthsByFontGlyph[font] for font in LATIN]
    for name in sorted(tables[0]):
        lines.append(f"{name} {' '.join(str(table[name]) for table in tables)}\n")
    for font in ("Symbol", "ZapfDingbats"):
        table = data.widthsByFontGlyph[font]
        lines.append(f"{font}: {' '.join(f'{name} {table[name]}' for name in sorted(table))}\n")
    return "".join(lines)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, make in (("glyphs", glyphs), ("encodings", encodings), ("strings", strings), ("widths", widths)):
        (folder / f"{name}.txt").write_text(make())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures how many words of PDF files are extracted, compared with pypdf.

    pip install -r requirements.txt
    cargo build --package agcore-files --features formats --example extract
    python recall.py --program target/debug/examples/extract FOLDER…

Each PDF file below the folders is read by pypdf and by the program, which gets the path as its last argument and prints the
text. The recall of a file is the share of pypdf's words (separated by white space, after NFKC, as a multiset) that the program
found too. The table lists all files; the last lines count those with a recall of at least 0.99 and below 0.9. Files in which
pypdf finds no words are listed, but have no recall.
"""

import argparse
import collections
import hashlib
import logging
import multiprocessing
import pathlib
import subprocess
import sys
import unicodedata

GOOD, BAD = 0.99, 0.9
SECONDS = 120


def words(text):
    text = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))
    return collections.Counter(text.split())


def pages(path, queue):
    import pypdf

    logging.disable()
    reader = pypdf.PdfReader(path)
    if reader.is_encrypted:
        reader.decrypt("")
    queue.put("\n".join(page.extract_text() for page in reader.pages))


def oracle(path, cache):
    """Returns the text that pypdf finds, or None if it fails or takes too long. Cached by the content of the file."""
    kept = cache / hashlib.sha256(path.read_bytes()).hexdigest() if cache else None
    if kept and kept.exists():
        return kept.read_text(errors="surrogateescape")
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=pages, args=(path, queue))
    process.start()
    try:
        text = queue.get(timeout=SECONDS) if wait(process, queue) else None
    finally:
        process.kill()
        process.join()
    if kept and text is not None:
        kept.write_text(text, errors="surrogatepass")
    return text


def wait(process, queue):
    """Returns whether a result arrives before the process ends."""
    for _ in range(SECONDS * 10):
        if not queue.empty():
            return True
        process.join(0.1)
        if process.exitcode is not None:
            return not queue.empty()
    return False


def ours(path, program):
    """Returns the text that the program prints, and what it says on standard error."""
    try:
        done = subprocess.run([*program, path], capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "", "takes too long"
    said = " ".join(done.stderr.decode(errors="replace").split())
    return done.stdout.decode(errors="replace"), said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the program and its first arguments, separated by spaces")
    parser.add_argument("--cache", type=pathlib.Path, help="a folder that keeps what pypdf finds")
    parser.add_argument("--missing", type=int, default=0, help="show so many words of each file that are missing")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if options.cache:
        options.cache.mkdir(parents=True, exist_ok=True)
    good, bad, silent, measured, silent_files = 0, 0, 0, 0, []
    print("| file | words | recall | message |\n| --- | ---: | ---: | --- |")
    for folder in options.folders:
        for path in sorted(folder.rglob("*.pdf")):
            expected = oracle(path, options.cache)
            text, said = ours(path, options.program.split())
            name = f"{folder.name}/{path.relative_to(folder)}"
            wanted = words(expected or "")
            if not wanted:
                reason = "pypdf fails" if expected is None else "pypdf finds no words"
                print(f"| {name} | 0 | – | {reason}; {said[:100]} |")
                continue
            missing = wanted - words(text)
            recall = 1 - missing.total() / wanted.total()
            measured += 1
            good += recall >= GOOD
            bad += recall < BAD
            if recall < BAD and not said:
                silent_files.append(name)
            print(f"| {name} | {wanted.total()} | {recall:.3f} | {said[:100]} |")
            if options.missing and missing:
                print("   ", [word for word, _ in missing.most_common(options.missing)], file=sys.stderr)
    print(f"\n{measured} files with words: {good} with a recall of at least {GOOD}, {bad} below {BAD}")
    print(f"below {BAD} without a message: {len(silent_files)} {' '.join(silent_files)}")


if __name__ == "__main__":
    main()

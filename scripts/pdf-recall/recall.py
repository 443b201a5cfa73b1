#!/usr/bin/env python3
"""Measures how many words of PDF files are extracted, compared with pypdf and PDFium.

    pip install -r requirements.txt
    cargo build --package agcore-files --features formats --example extract
    python recall.py --program target/debug/examples/extract FOLDER…

Each PDF file below the folders is read by pypdf, by PDFium and by the program, which gets the path as its last argument and
prints the text. The recall of a file is the share of pypdf's words (separated by white space, after NFKC, as a multiset) that the
program found too. Both readers make mistakes. In the second column, words with white space at other places are found as well: words
that follow each other are the same if their letters are, as in `BigSmall` and `Big Small`, and each word that the program found is
used once. The third column has the share of the words that both readers found. The table lists all files; the last lines count
those with a recall of at least 0.99 and below 0.9. A file without words has a recall of 1.
"""

import argparse
import collections
import hashlib
import logging
import multiprocessing
import pathlib
import subprocess
import unicodedata

GOOD, BAD = 0.99, 0.9
SECONDS = 120

# The largest number of words that are compared without the white space between them.
LONGEST = 40


def listed(text):
    return unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8")).split()


def words(text):
    return collections.Counter(listed(text))


def same_letters(wanted, found, start, at):
    """Returns the ends of the shortest lists of words from two places whose letters are the same, or None."""
    end, until, left, right = start, at, "", ""
    while end - start <= LONGEST and until - at <= LONGEST:
        if left and left == right:
            return end, until
        if len(left) <= len(right) and end < len(wanted):
            left, end = left + wanted[end], end + 1
        elif until < len(found):
            right, until = right + found[until], until + 1
        else:
            return None
        if not (left.startswith(right) or right.startswith(left)):
            return None
    return None


def missing_letters(wanted, found):
    """Returns how many of the words are missing, except those that have white space at other places."""
    missing, extra = collections.Counter(wanted), collections.Counter(found)
    missing, extra = missing - extra, extra - missing
    places = collections.defaultdict(list)
    for at, word in enumerate(found):
        if extra[word]:
            places[word[0]].append(at)
    for start, word in enumerate(wanted):
        if not missing[word]:
            continue
        for at in places[word[0]]:
            ends = same_letters(wanted, found, start, at)
            used = collections.Counter(found[at : ends[1]]) if ends else None
            if used and used <= extra:
                extra -= used
                missing -= collections.Counter(wanted[start : ends[0]])
                break
    return missing.total()


def by_pypdf(path, queue):
    import pypdf

    logging.disable()
    reader = pypdf.PdfReader(path)
    if reader.is_encrypted:
        reader.decrypt("")
    queue.put("\n".join(page.extract_text() for page in reader.pages))


def by_pdfium(path, queue):
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    queue.put("\n".join(page.get_textpage().get_text_bounded() for page in document))


def quietly(read, path, queue):
    try:
        read(path, queue)
    except Exception:  # noqa: BLE001: a file that cannot be read has no words
        queue.put("")


def oracle(read, path, cache):
    """Returns the text that a reader finds, which is empty if it fails or takes too long. Cached by the content of the file."""
    name = f"{read.__name__}-{hashlib.sha256(path.read_bytes()).hexdigest()}"
    kept = cache / name if cache else None
    if kept and kept.exists():
        return kept.read_text(errors="surrogateescape")
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=quietly, args=(read, path, queue))
    process.start()
    try:
        text = queue.get(timeout=SECONDS) if wait(process, queue) else ""
    finally:
        process.kill()
        process.join()
    text = text.encode("utf-8", "replace").decode()
    if kept:
        kept.write_text(text)
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
    """Returns the text that the program prints, and what it prints on standard error."""
    try:
        done = subprocess.run([*program, path], capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "", "takes too long"
    messages = " ".join(done.stderr.decode(errors="replace").split())
    return done.stdout.decode(errors="replace"), messages


def share(wanted, found):
    return 1 - (wanted - found).total() / wanted.total() if wanted else 1.0


def summary(name, recalls):
    good, bad = sum(recall >= GOOD for recall in recalls), sum(recall < BAD for recall in recalls)
    print(f"{name}: of {len(recalls)} files, {good} have a recall of at least {GOOD} and {bad} below {BAD}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the program and its first arguments, separated by spaces")
    parser.add_argument("--cache", type=pathlib.Path, help="a folder that keeps what the readers find")
    parser.add_argument("--missing", type=int, default=0, help="the number of missing words to list for each file")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if options.cache:
        options.cache.mkdir(parents=True, exist_ok=True)
    recalls, spaced, agreed, silent = [], [], [], []
    print("| file | words | of pypdf | but for spaces | of both | message |\n| --- | ---: | ---: | ---: | ---: | --- |")
    for folder in options.folders:
        for path in sorted(folder.rglob("*.pdf")):
            by_reader = oracle(by_pypdf, path, options.cache)
            wanted = words(by_reader)
            both = wanted & words(oracle(by_pdfium, path, options.cache))
            text, messages = ours(path, options.program.split())
            found = words(text)
            recalls.append(share(wanted, found))
            missing = missing_letters(listed(by_reader), listed(text))
            spaced.append(1 - missing / max(wanted.total(), 1))
            agreed.append(share(both, found))
            name = f"{folder.name}/{path.relative_to(folder)}"
            print(f"| {name} | {wanted.total()} | {recalls[-1]:.3f} | {spaced[-1]:.3f} | {agreed[-1]:.3f} | {messages[:160]} |")
            if agreed[-1] < BAD and not messages:
                silent.append(name)
            if options.missing:
                print("".join(f"| | | | | | `{word}` |\n" for word, _ in (both - found).most_common(options.missing)), end="")
    print()
    summary("words of pypdf", recalls)
    summary("words of pypdf, but for spaces", spaced)
    summary("words of both", agreed)
    print(f"below {BAD} of both without a message: {' '.join(silent) or 'none'}")


if __name__ == "__main__":
    main()

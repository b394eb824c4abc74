"""`jointwatch report RECORDING …`: writes the page, and on request a PDF by Chromium."""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from daq.commands.codes import EXIT_INTERRUPTED, fail, tell_break
from daq.commands.progress import Progress
from daq.commands.recordings.only_ours import of_another_program
from daq.commands.report.document import document
from daq.commands.report.run import gather
from daq.recording.reader import RecordingError

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT: Final = 120.0  # s that a browser may take


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("recording", nargs="+", type=Path, help="consecutive .mcap files in order")
    parser.add_argument("--out", type=Path, metavar="FILE", help=".html (default: next to the first recording)")
    parser.add_argument("--pdf", action="store_true", help="also write a PDF (needs chromium)")


def run(options: argparse.Namespace) -> int:
    """Write the report; exit code 1 with one line if the page or the PDF cannot be made."""
    files: list[Path] = options.recording
    page: Path = options.out or files[0].with_suffix(".html")
    try:
        if wrong := of_another_program("report", files):
            return fail(wrong)
        size = sum(file.stat().st_size for file in files)
        with Progress("report") as progress:
            content = gather(files, lambda name: progress.stage(name, size, "B"))
            progress.stage("step 3 of 3, drawing")
            page.write_text(document(content), encoding="utf-8")
        print(page)
        for words in content.breaks:
            tell_break(words)
        if options.pdf:
            print(_pdf(page))
    except KeyboardInterrupt:
        return fail(f"report: interrupted: {page} is not written, or not complete", EXIT_INTERRUPTED)
    except RecordingError as error:
        return fail(error)
    except OSError as error:
        return fail(f"{error.filename or page}: {error.strerror}")
    except subprocess.SubprocessError as error:
        return fail(f"no PDF: {error}")
    return 0


def _pdf(page: Path) -> Path:
    """Print the page. Raises FileNotFoundError without a browser, SubprocessError when it fails."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise FileNotFoundError(2, "needed for a PDF, not found (apt-get install chromium)", "chromium")
    target = page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={profile}"]
        command = [browser, *flags, f"--print-to-pdf={target.resolve()}", page.resolve().as_uri()]
        subprocess.run(command, check=True, timeout=TIMEOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not target.exists():
        raise subprocess.SubprocessError(f"{browser} wrote nothing")
    return target

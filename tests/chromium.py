"""A headless Chromium, in which a script visits pages of a folder and returns what it finds."""

import json
import re
import shutil
import subprocess
import tempfile
from html import unescape
from pathlib import Path
from typing import Any

import pytest

COMMANDS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # Root in a container has no other way; only our own files are opened.
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--window-size=1500,1100",
    "--allow-file-access-from-files",  # The script reads other files, in a frame.
    "--enable-logging=stderr",
    "--virtual-time-budget=1000000",
    "--dump-dom",
)
DRIVER = """<!doctype html><meta charset="utf-8"><body></body><script type="module">
let frame;
const visit = (address, width = 1400) => new Promise((loaded) => {
  frame?.remove();
  frame = document.createElement("iframe");
  frame.style = `border: 0; width: ${width}px; height: 1000px`;
  frame.onload = loaded;
  frame.src = new URL(address, "FOLDER/");
  document.body.append(frame);
});
const all = (place) => [...frame.contentDocument.querySelectorAll(place)];
const one = (place) => all(place)[0];
const texts = (place) => all(place).map((element) => element.textContent);
const put = (place, value) => {
  one(place).value = value;
  one(place).dispatchEvent(new Event("input", {bubbles: true}));
};
const found = await (async () => {
SCRIPT
})();
document.body.textContent = JSON.stringify(found);
</script>"""
"""``put`` puts a value in a field as typing or choosing does; a place is a selector."""


def in_browser(folder: Path, script: str) -> Any:
    """Return what a script returns; skip the test where there is no Chromium.

    What the console says, as of an uncaught exception, fails the test.
    """
    command = next(filter(None, map(shutil.which, COMMANDS)), None)
    if command is None:
        pytest.skip("Chromium is not installed (on Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        driver = Path(profile) / "driver.html"
        text = DRIVER.replace("FOLDER", folder.as_uri()).replace("SCRIPT", script)
        driver.write_text(text, encoding="utf-8")
        words = [command, *OPTIONS, f"--user-data-dir={profile}", driver.as_uri()]
        run = subprocess.run(words, capture_output=True, check=True, encoding="utf-8", timeout=600)
    assert re.findall(r".*\bCONSOLE\b.*", run.stderr) == []
    [found] = re.findall(r"<body>(.*)</body>", run.stdout, re.DOTALL)
    return json.loads(unescape(found))

"""A headless Chromium that tests drive over its debugging pipe; no driver is needed."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

COMMANDS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 120
"""So long a page may take; a report of twenty megabytes opens in a few seconds."""

OPTIONS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # Root in a container has no other way; only our own files are opened.
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--window-size=1400,1000",
)

SET = """{{
  const field = document.querySelector("{place}");
  field.value = "{value}";
  field.dispatchEvent(new Event("input", {{bubbles: true}}));
}}"""
"""Puts a value in a field as typing or choosing does; the place is a selector."""


class Page:
    """One page: it opens addresses, runs scripts and keeps what went wrong.

    Attributes:
        errors: uncaught exceptions, console errors and failed loads, in order.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self.errors: list[str] = []
        self._to, self._from = to_browser, from_browser
        self._number, self._rest = 0, b""
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def open(self, address: str) -> None:
        """Open an address and wait until it is loaded."""
        self._events.clear()
        self._ask("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._note(self._next())

    def resize(self, width: int, height: int) -> None:
        """Show the pages to come on a screen of so many pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
        self._ask("Emulation.setDeviceMetricsOverride", **size)

    def run(self, script: str) -> Any:
        """Return the value of a script, awaited where it is a promise; its errors are raised."""
        how = {"awaitPromise": True, "returnByValue": True}
        done = self._ask("Runtime.evaluate", expression=script, **how)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        self._events.append(event)
        details = event.get("params", {})
        is_wrong = (
            event["method"] == "Runtime.exceptionThrown"
            or (event["method"] == "Runtime.consoleAPICalled" and details["type"] == "error")
            or (event["method"] == "Log.entryAdded" and details["entry"]["level"] == "error")
        )
        if is_wrong:
            self.errors.append(json.dumps(details)[:500])

    def _next(self) -> dict[str, Any]:
        """Return the browser's next message; messages end with a zero byte."""
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], deadline - time.monotonic())
            assert ready, f"Chromium said nothing for {SECONDS} s"
            received = os.read(self._from, 1 << 20)
            assert received, "Chromium ended"
            self._rest += received
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def chromium_page() -> Iterator[Page]:
    """Start Chromium and give a page of it; skip the test where there is none."""
    command = next(filter(None, map(shutil.which, COMMANDS)), None)
    if command is None:
        pytest.skip("Chromium is not installed (on Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        own_profile = f"--user-data-dir={profile}"
        process, to_browser, from_browser = _start([command, *OPTIONS, own_profile])
        try:
            yield Page(to_browser, from_browser)
        finally:
            os.close(to_browser)
            os.close(from_browser)
            process.terminate()
            process.wait()


def _start(command: list[str]) -> tuple["subprocess.Popen[bytes]", int, int]:
    """Return the process, and the ends of the pipes to and from it, which it has as 3 and 4."""
    (its_input, to_browser), (from_browser, its_output) = os.pipe(), os.pipe()
    # Standard output and input, so that no number of an end is in the way of 3 and 4.
    process = subprocess.Popen(
        ["sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null', "sh", *command],
        stdin=its_input,
        stdout=its_output,
        stderr=subprocess.DEVNULL,
    )
    os.close(its_input)
    os.close(its_output)
    return process, to_browser, from_browser

"""A headless Chromium, by the WebDriver protocol: Debian's packages chromium and chromium-driver."""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def is_installed():
    return bool(shutil.which("chromium") and shutil.which("chromedriver"))


def eventually(what, condition, seconds=60):
    """The first true value of the condition."""
    end = time.monotonic() + seconds
    while True:
        try:
            value = condition()
        except Failure as failure:
            # The page loads itself again: an element may be one of the page before.
            if not failure.is_of_old_page:
                raise
            value = None
        if value:
            return value
        if time.monotonic() > end:
            raise SystemExit(f"FAILED  {what}: not within {seconds} s")
        time.sleep(0.1)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Failure(Exception):
    def __init__(self, error, message):
        super().__init__(f"{error}: {message.splitlines()[0] if message else ''}")
        self.is_of_old_page = error in ("stale element reference", "no such element")


class Browser:
    """One browser with a profile of its own, for use in a `with` statement."""

    def __init__(self, arguments=(), preferences=None, size="1100,900"):
        self.arguments = arguments
        self.preferences = preferences or {}
        self.size = size

    def __enter__(self):
        self.home = tempfile.mkdtemp()
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        environment = {**os.environ, "HOME": self.home, "XDG_CONFIG_HOME": self.home}
        self.process = subprocess.Popen(
            ["chromedriver", f"--port={port}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        try:
            eventually("chromedriver responds", self.is_up)
            options = {
                "args": [
                    "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                    "--hide-scrollbars", f"--window-size={self.size}",
                    # Chromium's own sandbox does not work for root, nor in most containers.
                    "--no-sandbox", *self.arguments,
                ],
                "prefs": self.preferences,
            }
            capabilities = {"alwaysMatch": {"goog:chromeOptions": options}}
            answer = self.call("POST", "/session", {"capabilities": capabilities})
            self.base += f"/session/{answer['sessionId']}"
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if "/session/" in self.base:
            try:
                self.call("DELETE", "")
            except (Failure, OSError):
                pass
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def is_up(self):
        try:
            return self.call("GET", "/status")["ready"]
        except OSError:
            return False

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data, {"content-type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise Failure(value["error"], value["message"]) from None

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    @property
    def url(self):
        return self.call("GET", "/url")

    @property
    def source(self):
        return self.call("GET", "/source")

    def element(self, xpath):
        found = self.call("POST", "/element", {"using": "xpath", "value": xpath})
        return found[ELEMENT]

    def text(self, xpath="//body"):
        return eventually(
            f"the text of {xpath}",
            lambda: self.call("GET", f"/element/{self.element(xpath)}/text") or " ",
        )

    def click(self, xpath):
        def attempt():
            self.call("POST", f"/element/{self.element(xpath)}/click", {})
            return True

        eventually(f"a click on {xpath}", attempt)

    def write(self, xpath, text):
        self.call("POST", f"/element/{self.element(xpath)}/value", {"text": text})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

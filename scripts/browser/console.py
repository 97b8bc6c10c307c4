#!/usr/bin/env python3
"""Uses the console of a running server in a real browser, without JavaScript, as an operator would.

    console.py ADDRESS APP EMAIL PICTURES COMMAND...

ADDRESS is what `realm-server console` prints; APP an app whose sync is enabled, with a user and with EMAIL, an
account that waits for confirmation. COMMAND is realm-server with the options that name its configuration last:
it tells what the server holds. Screenshots go to the folder PICTURES.
"""

import http.server
import subprocess
import sys
import threading
import urllib.parse
from pathlib import Path

from driver import Browser, eventually, free_port

address, app, email, pictures, program, *configuration = sys.argv[1:]
pictures = Path(pictures)
pictures.mkdir(parents=True, exist_ok=True)
site = address.partition("?")[0]
port = urllib.parse.urlsplit(address).port


def server(*words):
    return subprocess.run(
        [program, *words, *configuration], check=True, capture_output=True, text=True
    ).stdout


def state():
    return server("sync", "status", "--app", app).split("sync ")[1].split(",")[0]


def holds(what, condition):
    if not condition:
        raise SystemExit(f"FAILED  {what}")
    print(f"ok      {what}")


def shows(browser, what, text, xpath="//body"):
    eventually(what, lambda: text in browser.text(xpath))
    print(f"ok      {what}")


class ForeignPage(http.server.BaseHTTPRequestHandler):
    """A page of another site whose form goes to the console."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        fields = f'<input name="verb" value="pause"><input name="app" value="{app}">'
        form = f'<form method="post" action="{site}">{fields}<button>free tickets</button></form>'
        self.wfile.write(form.encode())

    def log_message(self, *_):
        pass


foreign = http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), ForeignPage)
threading.Thread(target=foreign.serve_forever, daemon=True).start()

no_script = {"profile.managed_default_content_settings.javascript": 2}
rebinding = "--host-resolver-rules=MAP rebinding.example 127.0.0.1"
with Browser(arguments=[rebinding], preferences=no_script) as browser:
    browser.open(site)
    shows(browser, "without the key there is nothing to see", "open the address")
    browser.open(address)
    holds("the key is not left in the address", browser.url == site)
    shows(browser, "the page shows the app", app, "//table[@id='apps']")
    holds("no script is on the page", "<script" not in browser.source)
    holds("a user's name is text", "<img" not in browser.source and "<img" in browser.text())
    browser.screenshot(pictures / "console.png")

    browser.click("//button[text()='Pause']")
    shows(browser, "Pause is done", "paused", "//table[@id='apps']")
    holds("the server has paused sync", state() == "paused")
    server("sync", "enable", "--app", app)
    eventually("live", lambda: "paused" not in browser.text("//table[@id='apps']"))
    print("ok      the page follows what a command did, without a touch")

    browser.click("//a[text()='Terminate…']")
    browser.write("//input[@name='typed']", "yes")
    browser.screenshot(pictures / "question.png")
    browser.click("//form[@id='question']//button")
    shows(browser, "a termination without the app's id is refused", "refused", "//ul[@id='deeds']")
    holds("sync goes on", state() == "enabled")
    browser.click("//a[text()='Terminate…']")
    browser.write("//input[@name='typed']", app)
    browser.click("//form[@id='question']//button")
    shows(browser, "Terminate is done", "terminated", "//table[@id='apps']")
    holds("the server has terminated sync", state() == "terminated")
    browser.click("//button[text()='Enable' and ../input[@name='verb' and @value='enable']]")
    eventually("sync is enabled", lambda: state() == "enabled")
    print("ok      Enable is done")

    browser.click("//button[text()='Disable']")
    shows(browser, "a user is disabled", "disabled", "//table[@id='users']")
    holds("the server has disabled it", "disabled" in server("users", "list", "--app", app))
    browser.click("//button[text()='Enable' and ../input[@name='verb' and @value='enable-user']]")
    eventually("enabled", lambda: "disabled" not in server("users", "list", "--app", app))
    print("ok      and enabled")
    holds("an account waits", email in server("users", "pending", "--app", app))
    browser.click(f"//tr[td//text()='{email}']//button[text()='Confirm']")
    eventually("confirmed", lambda: email not in server("users", "pending", "--app", app))
    print("ok      an account is confirmed")

    browser.open(f"http://127.0.0.1:{foreign.server_port}/")
    browser.click("//button")
    shows(browser, "a form of another site is refused", "not of this console")
    holds("and does nothing", state() == "enabled")
    browser.open(f"http://rebinding.example:{port}/")
    shows(browser, "another name of this machine is refused", "not the host of the console")
    browser.open(site)
    shows(browser, "the page still works", app, "//table[@id='apps']")

"""What is refused, and what every answer carries: each test fails without the line of the guard that it is about."""

from __future__ import annotations

import socket
import stat
import subprocess
import sys
from urllib.parse import urlencode

import pytest

from hushtable.report.html import join
from hushtable.studio import forms, serve, words
from hushtable.studio.guard import HEADERS, POLICY, REPORT
from hushtable.studio.session import IDLE, LINK_VALID, Session
from hushtable.studio.studio import Studio
from hushtable.studio.view import Screen, Shown
from tests.unit.studio.client import ORIGIN, PORT, Client

SECRET = "Maria Musterfrau"


class Clock:
    """A clock that is turned by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Bell:
    """A screen with one action that can be counted, one that breaks, and a piece."""

    def __init__(self) -> None:
        self.rung: list[dict[str, str]] = []
        actions = {"ring": self.ring, "break": self.broken, "away": self.away}
        self.screen = Screen("bell", "Bell", "Who rings?", self.show, actions, {"part": self.piece}, needs_table=False)

    async def show(self, view):
        return Shown(join("a bell"))

    async def ring(self, view, form):
        self.rung.append(dict(form))
        return view.to("bell")

    async def broken(self, view, form):
        raise ValueError(SECRET)

    async def away(self, view, form):
        return "https://example.org/"

    async def piece(self, view):
        return join("a part")


@pytest.fixture
def bell():
    return Bell()


@pytest.fixture
def window(tmp_path, run, bell):
    """A studio of one screen, with a clock of its own."""
    clock = Clock()
    window = Client(Studio(tmp_path, session=Session(clock)), screens=(bell.screen,))
    window.clock = clock
    run(window.enter())
    return window


def ring(window, **more):
    """A form as the page would send it."""
    token = window.studio.session.form_token(window.cookie)
    return window.ask("POST", f"{window.prefix}/bell/ring", urlencode({"token": token, "how": "loud"}).encode(), **more)


def test_a_form_of_our_own_page_is_done_and_leads_on(window, run, bell):
    got = run(ring(window))
    assert (got.status, got.headers["location"]) == (303, f"{window.prefix}/bell")
    assert bell.rung == [{"how": "loud"}]


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}"])
def test_our_own_names_are_served(window, run, host):
    assert run(window.ask("GET", f"{window.prefix}/bell", headers={"host": host})).status == 200


@pytest.mark.parametrize(
    "host", ["127.0.0.1", f"127.0.0.1:{PORT + 1}", f"evil.example:{PORT}", f"127.0.0.1.evil.example:{PORT}", "localhost", "", None]
)
def test_another_host_is_refused(window, run, host):
    assert run(window.ask("GET", f"{window.prefix}/bell", headers={"host": host})).status == 421


@pytest.mark.parametrize("path", ["/", "/bell", "/0123/bell", "/bell/../", "//bell"])
def test_nothing_is_outside_of_the_prefix(window, run, path):
    assert run(window.ask("GET", path)).status == 404


def test_the_prefix_has_128_bits_and_is_new_each_time():
    assert len({Session().prefix for _ in range(8)}) == 8
    assert all(len(bytes.fromhex(Session().prefix)) == 16 for _ in range(8))


@pytest.mark.parametrize("cookie", ["", "wrong", "x" * 4000])
@pytest.mark.parametrize("path", ["bell", "", "events", "bell/-/part", "result/1", "journal.sh"])
def test_without_its_cookie_nothing_is_shown(window, run, path, cookie):
    window.cookie = ""
    got = run(window.ask("GET", f"{window.prefix}/{path}", cookie=cookie))
    assert got.status == 403
    assert words.LOCKED in got.text


def test_without_its_cookie_nothing_is_done(window, run, bell):
    assert run(ring(window, cookie="wrong")).status == 403
    assert bell.rung == []


def test_a_link_opens_the_studio_once(window, run):
    token = window.studio.session.link()
    address = f"{window.prefix}/enter?token={token}"
    assert run(window.ask("GET", address)).cookies
    again = run(window.ask("GET", address))
    assert (again.status, again.cookies) == (403, [])


def test_a_link_is_valid_for_a_minute(window, run):
    token = window.studio.session.link()
    window.clock.now += LINK_VALID
    got = run(window.ask("GET", f"{window.prefix}/enter?token={token}"))
    assert (got.status, got.cookies) == (403, [])
    assert LINK_VALID == 60


def test_a_guessed_link_opens_nothing(window, run):
    assert run(window.ask("GET", f"{window.prefix}/enter?token=guess")).cookies == []
    assert run(window.ask("GET", f"{window.prefix}/enter")).cookies == []


def test_the_cookie_is_for_this_prefix_alone_and_out_of_reach_of_scripts_and_other_sites(window, run):
    (cookie,) = run(window.enter()).cookies
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert parts == {"httponly", "samesite=strict", f"path={window.prefix}"}


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": None},
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"http://localhost:{PORT}"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
def test_a_form_of_another_origin_is_refused(window, run, bell, headers):
    assert run(ring(window, headers=headers)).status == 403
    assert bell.rung == []


def test_a_browser_that_does_not_say_where_a_form_comes_from_needs_its_origin_all_the_same(window, run, bell):
    assert run(ring(window, headers={"sec-fetch-site": None})).status == 303
    assert run(ring(window, headers={"sec-fetch-site": None, "origin": None})).status == 403
    assert len(bell.rung) == 1


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
def test_a_form_without_its_token_is_refused_and_what_was_typed_is_kept(window, run, bell, token):
    got = run(window.ask("POST", f"{window.prefix}/bell/ring", urlencode({"token": token}).encode()))
    assert got.status == 403
    assert words.STALE_FORM in got.text
    assert bell.rung == []


def test_the_token_of_another_session_is_refused(window, run, bell):
    before, old = window.studio.session.form_token(window.cookie), window.cookie
    run(window.enter())
    assert window.cookie != old
    assert run(window.ask("POST", f"{window.prefix}/bell/ring", urlencode({"token": before}).encode())).status == 403
    assert bell.rung == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_other_methods_are_refused(window, run, method):
    assert run(window.ask(method, f"{window.prefix}/bell/ring")).status == 405


def test_an_action_is_never_done_by_a_link(window, run, bell):
    assert (
        run(window.ask("GET", f"{window.prefix}/bell/ring?token={window.studio.session.form_token(window.cookie)}")).status == 405
    )
    assert bell.rung == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "bell", 200), ("GET", "", 303), ("GET", "nothing", 404), ("GET", "static/studio.css", 200),
        ("GET", "static/no", 404),
        ("GET", "enter?token=x", 403), ("PUT", "bell", 405), ("POST", "bell/ring", 403), ("GET", "../outside", 405),
    ],
)  # fmt: skip
def test_every_answer_carries_the_headers(window, run, method, path, status):
    got = run(window.ask(method, f"{window.prefix}/{path}"))
    assert got.status == status
    for name, value in HEADERS.items():
        assert got.headers[name] == value


def test_refusals_carry_the_headers_too(window, run):
    for got in (
        run(window.ask("GET", "/bell")),
        run(window.ask("GET", f"{window.prefix}/bell", headers={"host": "evil"})),
        run(window.ask("GET", f"{window.prefix}/bell", cookie="wrong")),
    ):
        assert HEADERS.items() <= got.headers.items()


def test_the_headers_are_those_that_were_decided():
    assert POLICY == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    assert HEADERS["referrer-policy"] == "same-origin"
    assert HEADERS["x-content-type-options"] == "nosniff"
    assert HEADERS["cache-control"] == "no-store"
    assert HEADERS["cross-origin-opener-policy"] == HEADERS["cross-origin-resource-policy"] == "same-origin"
    assert REPORT["content-security-policy"].startswith("sandbox allow-scripts;")
    assert "allow-same-origin" not in REPORT["content-security-policy"]


def test_no_page_has_anything_inline(window, run):
    text = run(window.get("bell")).text
    assert "<style" not in text
    assert " style=" not in text
    assert " onclick" not in text
    assert "<script src=" in text
    assert text.count("<script") == 1


def test_a_form_that_is_too_long_is_refused_before_it_is_read(window, run, bell, monkeypatch):
    monkeypatch.setattr(forms, "MOST_BYTES", 1000)
    body = b"token=1&x=" + b"a" * 100_000
    assert run(window.ask("POST", f"{window.prefix}/bell/ring", body, parts=100)).status == 413
    many = b"&".join(b"a=1" for _ in range(forms.MOST_FIELDS + 1))
    monkeypatch.setattr(forms, "MOST_BYTES", 10_000_000)
    assert run(window.ask("POST", f"{window.prefix}/bell/ring", many)).status == 413
    assert bell.rung == []


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", None])
def test_only_a_url_encoded_form_is_read(window, run, bell, kind):
    assert run(ring(window, headers={"content-type": kind})).status == 403
    assert bell.rung == []


def test_a_form_that_is_no_text_is_refused(window, run, bell):
    assert run(window.ask("POST", f"{window.prefix}/bell/ring", b"token=\xff&x=%ff%fe")).status == 403
    assert bell.rung == []


def test_an_action_cannot_lead_out_of_the_studio(window, run):
    token = urlencode({"token": window.studio.session.form_token(window.cookie)}).encode()
    with pytest.raises(AssertionError):
        run(window.ask("POST", f"{window.prefix}/bell/away", token))


def test_an_error_is_told_by_its_place_and_never_by_its_text(window, run):
    told = []
    token = urlencode({"token": window.studio.session.form_token(window.cookie)}).encode()

    async def send(message):
        told.append(message)

    real = window.app

    async def app(scope, receive, _):
        await real(scope, receive, send)

    window.app = app
    with pytest.raises(ValueError, match=SECRET):
        run(window.ask("POST", f"{window.prefix}/bell/break", token))
    assert told[0]["status"] == 500
    text = b"".join(m.get("body", b"") for m in told).decode()
    assert "ValueError" in text
    assert SECRET not in text


def test_the_screen_locks_when_nobody_used_it_for_a_while(window, run, bell):
    window.clock.now += IDLE - 1
    assert run(window.ask("GET", f"{window.prefix}/bell")).status == 200
    window.clock.now += IDLE - 1
    assert run(ring(window)).status == 303
    window.clock.now += IDLE
    assert run(window.ask("GET", f"{window.prefix}/bell")).status == 403
    assert run(ring(window)).status == 403
    assert IDLE == 15 * 60


def test_what_a_page_asks_for_by_itself_keeps_no_screen_open(window, run):
    for _ in range(3):
        window.clock.now += IDLE / 3
        got = run(window.ask("GET", f"{window.prefix}/bell/-/part"))
    assert got.status == 403
    assert got.headers["x-studio"] == "locked"


def test_the_screen_can_be_locked_by_hand(window, run):
    form = run(window.get("bell")).form("session/lock")
    run(window.post(form))
    assert run(window.ask("GET", f"{window.prefix}/bell")).status == 403


def test_a_form_without_its_token_locks_nothing(window, run):
    run(window.ask("POST", f"{window.prefix}/session/lock", b"token=no"))
    assert run(window.ask("GET", f"{window.prefix}/bell")).status == 200


def test_the_command_line_gets_a_link_by_the_secret_of_its_private_file_alone(window, run):
    def link(secret):
        return run(window.ask("POST", f"{window.prefix}/link", cookie="no", headers={"authorization": f"Bearer {secret}"}))

    assert link(window.studio.session.control).status == 200
    assert link("guess").status == 403
    assert link("").status == 403
    assert run(window.ask("POST", f"{window.prefix}/link")).status == 403


def test_it_listens_on_loopback_alone():
    sockets = serve.bound()
    try:
        assert {s.getsockname()[0] for s in sockets} <= {"127.0.0.1", "::1"}
        assert len({s.getsockname()[1] for s in sockets}) == 1
        # A browser that is quicker than the server waits.
        socket.create_connection(sockets[0].getsockname()).close()
    finally:
        for own in sockets:
            own.close()


def test_the_browser_is_led_by_a_file_of_its_owner_alone():
    page = serve.redirect_page(f"{ORIGIN}/p/enter?token=abc")
    try:
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert "token=abc" in page.read_text()
        assert "abc" not in page.as_uri()
    finally:
        page.unlink()


REACH = """
import socket, sys
{begin}
def refused(call, *arguments):
    try:
        call(*arguments)
    except ConnectionRefusedError as error:
        return "reaches nothing" in str(error)
    except OSError:
        return False
    return False
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
six = socket.socket(socket.AF_INET6)
own = socket.socket(); own.bind(("127.0.0.1", 0)); own.listen()
socket.create_connection(own.getsockname()).close()
answers = [
    refused(socket.create_connection, ("192.0.2.1", 80), 0.2), refused(socket.getaddrinfo, "example.com", 80),
    refused(socket.gethostbyname, "example.com"), refused(udp.sendto, b"x", ("192.0.2.1", 53)),
    refused(six.connect, ("2001:db8::1", 80)), refused(socket.socket().connect_ex, ("192.0.2.1", 80)),
    refused(socket.socket().connect, ("0.0.0.0", 80)),
]
sys.stderr.write(str(answers)); sys.stderr.flush()
"""


@pytest.mark.parametrize(
    "begin",
    [
        "from hushtable.studio.child import begin; begin()",
        "from hushtable.studio import serve as s\nasync def nothing(*a, **k): pass\ns._serve = nothing\ns.serve(None)",
    ],
    ids=["worker and job", "server"],
)
def test_no_process_reaches_anything_beyond_loopback(begin):
    done = subprocess.run([sys.executable, "-c", REACH.format(begin=begin)], capture_output=True, text=True, timeout=60)
    assert done.stderr == str([True] * 7)


def test_the_server_imports_nothing_heavy():
    code = (
        "import sys, hushtable.cli.app, hushtable.studio.serve; "
        "print([m for m in ('numpy', 'pandas', 'scipy', 'duckdb') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"

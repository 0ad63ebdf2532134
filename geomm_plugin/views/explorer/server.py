"""The explorer's web server: on this machine only, and only for users who know the whole address.

Any page in the user's browser can send requests to 127.0.0.1. So the address holds a random token,
the Host header must name this server (else another site's name could be made to lead to it: DNS
rebinding), requests that come from other origins are refused, and the page may load nothing but its
own files.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import secrets
import socket
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from urllib.parse import parse_qs

from geomm_plugin import progress
from geomm_plugin.errors import GeommError, ParameterError
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.text import escaped
from geomm_plugin.views.explorer.explorer import Explorer
from geomm_plugin.views.palette import color_rules

ADDRESS = "127.0.0.1"
PAGE = Path(__file__).parent / "page"
REDIRECT = Path(__file__).parent / "redirect.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # the token is in the address
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
MAX_WAITING_CLIENTS = 200  # not accepted yet
RETRY_SECONDS = 0.1  # waiting time where no file descriptor is left for a client
OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
Query = dict[str, str]
ALIGNED = "aligned files"  # the name of a space that came without one

logger = logging.getLogger(__name__)


class ExplorerServer(ThreadingHTTPServer):
    """Serves the page and its questions; `address` is what the user opens.

    Parameters
    ----------
    port
        0 takes any that is free.
    """

    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = MAX_WAITING_CLIENTS

    def __init__(self, explorer: Explorer, port: int = 0):
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            raise ParameterError(
                f"Cannot listen on port {port}: {error.strerror}. Choose another one, or 0 for any."
            ) from error
        self.explorer = explorer
        self.token = secrets.token_urlsafe(16)
        self.files = {path.name: path.read_bytes() for path in sorted(PAGE.iterdir())}
        self.files["colors.css"] = color_rules().encode()
        self.hosts = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a client; where no file descriptor is left, wait, while it stays in the queue."""
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in OUT_OF_RESOURCES:
                time.sleep(RETRY_SECONDS)
            raise

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log what went wrong with a connection; the others go on."""
        logger.debug("A connection from %s failed.", client_address, exc_info=True)

    @property
    def address(self) -> str:
        """The whole address of the page."""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"


class Handler(BaseHTTPRequestHandler):
    """Answers one connection: files of the page, and questions as JSON."""

    server: ExplorerServer
    protocol_version = "HTTP/1.1"
    server_version = "geomm"
    sys_version = ""
    timeout = 60

    questions: ClassVar[dict[str, Callable[[Explorer, Query], Any]]] = {
        "api/about": lambda words, _: words.about(),
        "api/search": lambda words, q: words.search(q.get("text", ""), q.get("language", "")),
        "api/translate": lambda words, q: words.translate(*_word(q), q.get("retrieval", "")),
        "api/picture": lambda words, q: words.picture(*_word(q)),
    }

    def do_GET(self) -> None:
        """Answer a request, or refuse it."""
        path, _, query = self.path.partition("?")
        token, slash, name = path.removeprefix("/").partition("/")
        if not self._comes_from_here(opens_page=not name):
            self._refuse(HTTPStatus.FORBIDDEN, "This page answers only its own address.")
            return
        if any(name in self.headers for name in ("Content-Length", "Transfer-Encoding")):
            # The body would be read as the next request (request smuggling).
            self.send_error(HTTPStatus.BAD_REQUEST, "A question has no body.")
            return
        name = name or "index.html"
        known = secrets.compare_digest(token.encode(), self.server.token.encode())
        if not (known and slash):
            self._refuse(HTTPStatus.NOT_FOUND, "Open the whole address that geomm explore shows.")
        elif name in self.server.files:
            self._send(HTTPStatus.OK, TYPES[Path(name).suffix], self.server.files[name])
        elif name in self.questions:
            self._answer(self.questions[name], query)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "There is nothing at this address.")

    def _comes_from_here(self, opens_page: bool) -> bool:
        """Tell whether a request is the page's own, or opens it: by hand, or by the redirect page.

        The redirect page is a file, so browsers report that its requests come from another site.
        """
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        site = self.headers.get("Sec-Fetch-Site", "none")
        how = self.headers.get("Sec-Fetch-Mode"), self.headers.get("Sec-Fetch-Dest")
        is_navigation = opens_page and how == ("navigate", "document")
        return (
            len(hosts) == 1
            and hosts[0] in self.server.hosts
            and all(origin == f"http://{hosts[0]}" for origin in origins)
            and (site in ("none", "same-origin") or is_navigation)
        )

    def _answer(self, question: Callable[[Explorer, Query], Any], text: str) -> None:
        query = {name: values[-1] for name, values in parse_qs(text, errors="replace").items()}
        try:
            answer, status = question(self.server.explorer, query), HTTPStatus.OK
        except GeommError as error:
            answer, status = {"error": str(error)}, HTTPStatus.BAD_REQUEST
        except Exception:
            logger.exception("The question %r has no answer.", text[:200])
            problem = "Something is wrong in geomm explore itself; its log says what."
            answer, status = {"error": problem}, HTTPStatus.INTERNAL_SERVER_ERROR
        # ASCII: a word may hold halves of surrogate pairs, which UTF-8 cannot.
        self._send(status, "application/json", json.dumps(answer).encode("ascii"))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse a request that the page would not send, and close the connection."""
        self.close_connection = True
        status = HTTPStatus(code)
        self._refuse(status, message if status == HTTPStatus.BAD_REQUEST else f"{status.phrase}.")

    def _refuse(self, status: HTTPStatus, reason: str | None) -> None:
        self._send(status, "text/plain; charset=utf-8", f"{reason}\n".encode())

    def _send(self, status: HTTPStatus, content_type: str, content: bytes) -> None:
        try:
            self.send_response(status)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(content)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(content)
        except ConnectionError:  # the page no longer wants the answer
            self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log to the logger of this module instead of standard error."""
        logger.debug(format, *arguments)


def _word(query: Query) -> tuple[int, str, int]:
    """Read which mapper and which word a question is about."""
    mapper, language, row = (query.get(name, "") for name in ("mapper", "language", "row"))
    # int() also takes 1_0 and digits of other scripts.
    if not all(re.fullmatch("[0-9]{1,19}", number) for number in (mapper, row)):
        raise ParameterError(
            "A question names the mapper (a number), the language and the row of the word."
        )
    return int(mapper), language, int(row)


def explore(
    space: Mapping[str, object],
    *,
    port: int = 0,
    browser: bool = True,
    quiet: bool = True,
    on_address: Callable[[str], object] = print,
) -> None:
    """Open a page with the translations and neighbours of any word, until Ctrl-C.

    Only this machine is answered, and only where the whole address is known.

    Parameters
    ----------
    space
        A SharedSpace; aligned vectors by language (Embeddings, gensim KeyedVectors, ...); or
        several SharedSpaces of the same words by name, between which the page switches.
    port
        0 takes any that is free.
    browser
        Whether to open the page in the user's browser.
    quiet
        Whether to show no progress before the page is ready.
    on_address
        Called with the address of the page.
    """
    with progress.shown(quiet):
        with progress.task("Sorting words"):
            explorer = Explorer(as_spaces(space))
        explorer.prepare()
    with ExplorerServer(explorer, port) as server, redirect_page(server.address) as page:
        on_address(server.address)
        if browser:
            webbrowser.open(page.as_uri())  # the address itself would be seen by `ps`
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def as_spaces(space: Mapping[str, object]) -> dict[str, SharedSpace]:
    """Return spaces by name: those that are given so, or the one space that languages make."""
    if isinstance(space, SharedSpace):
        return {ALIGNED: space}
    spaces = {name: value for name, value in space.items() if isinstance(value, SharedSpace)}
    if spaces and len(spaces) == len(space):
        return spaces
    return {ALIGNED: SharedSpace(space)}


@contextmanager
def redirect_page(address: str) -> Iterator[Path]:
    """Write a page that leads a browser to the explorer; it is there inside the `with` block.

    The address holds a secret token, and a browser is started by a command line, which every user
    of the machine can see (`ps`). So the browser gets the path of a page that only its user can
    read (mode 600, in a folder of its own), and the page holds the address.
    """
    with TemporaryDirectory(prefix="geomm-explore-") as folder:  # of mode 700
        path = Path(folder) / "open.html"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:  # noqa: PTH123
            stream.write(REDIRECT.read_text("utf-8").format(address=escaped(address)))
        yield path

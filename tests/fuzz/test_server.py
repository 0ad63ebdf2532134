"""The explorer's server: whatever is sent to it, it answers its own page and goes on."""

import http.client
import json
import logging
import socket
import threading

import numpy as np
import pytest
from hostile import damaged, fuzzed
from hypothesis import given
from hypothesis import strategies as st

from geomm_plugin import Embeddings, SharedSpace
from geomm_plugin.views.explorer import Explorer, ExplorerServer

EXPECTED = {200, 400, 403, 404, 414, 431, 501, 505}


@pytest.fixture(scope="module")
def server():
    random = np.random.default_rng(0)
    words = {
        language: Embeddings([f"{language}{n}" for n in range(9)], random.normal(size=(9, 4)))
        for language in ("en", "es")
    }
    with ExplorerServer(Explorer({"a": SharedSpace(words)})) as server:
        server.token = "secret-token"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def send(server, request):
    """Send bytes, say that no more will come, and return all that is answered."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        except OSError:  # it has refused already, and closed
            pass
        received = []
        try:
            while part := connection.recv(2**16):
                received.append(part)
        except ConnectionResetError:
            pass
    return b"".join(received)


def statuses(answer):
    """Return the status of each answer, all of which forbid what the page does not need."""
    found = []
    while answer.startswith(b"HTTP/"):
        head, _, rest = answer.partition(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
        assert b"default-src 'none'" in fields[b"Content-Security-Policy"]
        assert fields[b"X-Content-Type-Options"] == b"nosniff"
        found.append(int(head.split(b" ")[1]))
        answer = rest[int(fields[b"Content-Length"]) :]
    return found


def is_alive(server):
    """The server still answers its own page, and only that."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    connection.request("GET", "/secret-token/api/about")
    answer = connection.getresponse()
    known = json.loads(answer.read())["mappers"]
    connection.close()
    return answer.status == 200 and known == ["a"]


def request(server, path="/secret-token/api/about", method="GET", extra=b"", body=b""):
    host = f"127.0.0.1:{server.server_port}".encode()
    head = f"{method} {path} HTTP/1.1\r\n".encode("latin-1", "replace")
    return head + b"Host: " + host + b"\r\n" + extra + b"\r\n" + body


@fuzzed(60, share=0.5)
@given(data=st.data())
def test_requests_that_were_damaged(server, data):
    good = request(server, extra=b"Accept: */*\r\nSec-Fetch-Site: same-origin\r\n")
    content = data.draw(damaged(good) | st.binary(max_size=400))
    assert set(statuses(send(server, content))) <= EXPECTED
    assert is_alive(server)


paths = st.one_of(
    st.text(st.characters(min_codepoint=33, max_codepoint=255), max_size=30),
    st.lists(
        st.sampled_from(
            ["secret-token", "/", "//", "..", "%2e%2e", "%00", "%", "%zz", "\xff", "index.html",
             "api/", "search", "translate", "picture", "?", "&", "=", "text", "row=", "row=1",
             "mapper=0", "mapper=", "language=en", "retrieval=csls", ";", "#", "9" * 5000,
             "+", "%ff", "%ED%A0%80", "http://evil.example/", "LONG", "etc/passwd"]
        ),
        max_size=8,
    ).map("".join),
)  # fmt: skip


@fuzzed(80, share=0.5)
@given(path=paths, inside=st.booleans())
def test_paths(server, path, inside):
    target = (f"/secret-token/{path}" if inside else path).replace("LONG", "a" * 70_000)
    found = statuses(send(server, request(server, target)))
    assert set(found) <= EXPECTED
    if not target.lstrip("/").startswith("secret-token/"):
        assert 200 not in found
    assert is_alive(server)


@pytest.mark.parametrize(
    "method",
    ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "CONNECT", "get", "G\tT", "\xff"],
)
def test_other_methods_are_refused_and_end_the_connection(server, method):
    smuggled = request(server)
    length = b"Content-Length: %d\r\n" % len(smuggled)
    answer = send(server, request(server, method=method, extra=length, body=smuggled))
    assert statuses(answer) in ([501], [400])
    assert b"Connection: close" in answer and b"<" not in answer.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize(
    "extra", [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Length: x\r\n"]
)
def test_a_body_is_not_taken_for_the_next_request(server, extra):
    answer = send(server, request(server, extra=extra, body=request(server)))
    assert statuses(answer) == [400]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        (b"".join(b"X-%d: y\r\n" % n for n in range(500)), 431),
        (b"X: " + b"y" * 100_000 + b"\r\n", 431),
        (b"Host: evil.example\r\n", 403),
        (b"Origin: http://evil.example\r\n", 403),
        (b"Origin: null\r\nOrigin: null\r\n", 403),
        (b"Sec-Fetch-Site: same-site\r\n", 403),
        (b"", 200),
    ],
)
def test_headers(server, extra, expected):
    found = statuses(send(server, request(server, extra=extra)))
    assert found == [expected] or (expected == 431 and not found)  # closed while we still sent
    assert is_alive(server)


def test_without_a_host_there_is_nothing(server):
    assert statuses(send(server, b"GET /secret-token/ HTTP/1.0\r\n\r\n")) == [403]
    assert b"<html" not in send(server, b"GET /secret-token/\r\n\r\n")  # HTTP/0.9


def test_a_fault_of_our_own_is_told_and_logged(server, monkeypatch, caplog):
    def fault():
        raise ZeroDivisionError("private")

    monkeypatch.setattr(server.explorer, "about", fault)
    with caplog.at_level(logging.ERROR):
        answer = send(server, request(server))
    assert statuses(answer) == [500]
    assert b"private" not in answer and "private" in caplog.text

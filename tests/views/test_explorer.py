"""The explorer: search, answers, and a server that answers nobody else."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import unicodedata
from contextlib import contextmanager
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomm_plugin import Embeddings, SharedSpace
from geomm_plugin.errors import LanguagesError, ParameterError
from geomm_plugin.text import fold
from geomm_plugin.views.explorer import Explorer, ExplorerServer
from geomm_plugin.views.explorer.explorer import WordSearch
from geomm_plugin.views.explorer.server import as_spaces
from geomm_plugin.views.plots import principal_plane


def toy_space(seed=0, count=40):
    random = np.random.default_rng(seed)
    return SharedSpace(
        {
            language: Embeddings(
                [f"{language}{n}" for n in range(count)],
                random.normal(size=(count, 8)).astype(np.float32),
            )
            for language in ("en", "es", "it")
        }
    )


@given(st.lists(st.text(max_size=5), unique=True, max_size=60), st.text(max_size=3))
def test_search_finds_what_looking_at_every_word_would_find(words, text):
    beginning = fold(text)
    expected = [row for row, word in enumerate(words) if fold(word).startswith(beginning)]
    expected.sort(
        key=lambda row: (
            (fold(words[row]) != beginning, words[row] != text, row)
            if fold(words[row]) == beginning
            else (True, False, row)
        )
    )
    for limit in (1, 5, 100):
        assert WordSearch(words).find(text, limit) == (expected[:limit] if beginning else [])


@given(st.text())
def test_folding_ignores_case_and_accents(text):
    assert fold(fold(text)) == fold(text)
    assert not any(map(unicodedata.combining, fold(text)))


def test_shares_make_up_the_score():
    space = SharedSpace(
        {
            "en": Embeddings(["water", "hotel", "music"], np.eye(3)),
            "es": Embeddings(["agua", "hotel", "musica"], np.eye(3)),
        }
    )
    answers = Explorer({"one": space}).translate(0, "en", 2, "reranked")["es"]
    assert answers[0]["word"] == "musica" and answers[0]["shares"]["letters"] > 0.2
    for answer in answers:
        assert list(answer["shares"]) == ["csls", "letters"]
        assert sum(answer["shares"].values()) == pytest.approx(answer["score"])
    assert 0 < sum(answer["probability"] for answer in answers) <= len(answers)
    assert "shares" not in Explorer({"one": space}).translate(0, "en", 2, "csls")["es"][0]


def test_there_are_words_to_begin_with():
    words = ["the", "of", "2024", "<b>x", "parliament", "Madrid", "house", "water"]
    words += [f"word{chr(97 + n)}" for n in range(20)]
    space = SharedSpace(
        {"en": Embeddings(words, np.eye(28)), "zh": Embeddings(["水"], np.eye(1, 28))}
    )
    examples = Explorer({"one": space}).about()["examples"]
    chosen = [word["word"] for word in examples if word["language"] == "en"]
    assert 1 <= len(chosen) <= 5 and all(word.isalpha() and len(word) > 4 for word in chosen)
    assert all(words[word["row"]] == word["word"] for word in examples if word["language"] == "en")
    assert Explorer({"one": toy_space(count=3)}).about()["examples"], "few words are enough"


def test_words_to_begin_with_have_a_clear_translation_that_is_another_word():
    words = {lang: [f"{lang}word{chr(97 + n)}" for n in range(20)] for lang in ("en", "es")}
    words["es"][3] = words["en"][3]
    turned = np.eye(20)
    turned[8:] = np.roll(np.eye(20), 1, axis=0)[8:] + np.eye(20)[8:]  # two words are as near
    space = SharedSpace({"en": Embeddings(words["en"], np.eye(20)),
                         "es": Embeddings(words["es"], turned)})  # fmt: skip
    examples = Explorer({"one": space}).about()["examples"]
    rows = [word["row"] for word in examples if word["language"] == "en"]
    assert len(rows) == 5 and set(rows) <= {0, 1, 2, 4, 5, 6}


def test_keyed_vectors_and_languages_are_one_space():
    gensim = pytest.importorskip("gensim")
    keyed = gensim.models.KeyedVectors(3)
    keyed.add_vectors(["a", "b"], np.eye(3, dtype=np.float32)[:2])
    spaces = as_spaces({"en": keyed, "es": Embeddings(["c", "d"], np.eye(3)[:2])})
    assert list(spaces) == ["aligned files"]
    answers = Explorer(spaces).translate(0, "en", 1, "cosine")
    assert answers["es"][0]["word"] == "d"
    two = {"one": toy_space(), "two": toy_space(1)}
    assert as_spaces(two) == two
    assert list(as_spaces(two["one"]).values()) == [two["one"]]


def test_a_word_as_typed_comes_before_frequent_words_that_only_begin_so():
    space = SharedSpace(
        {
            "en": Embeddings(["cafeteria", "Café", "cafe"], np.eye(3)),
            "fr": Embeddings(["cafés", "café"], np.eye(3)[:2]),
        }
    )
    explorer = Explorer({"one": space})
    found = [(word["language"], word["word"]) for word in explorer.search("café")]
    assert found[0] == ("fr", "café")
    assert set(found[1:3]) == {("en", "Café"), ("en", "cafe")}
    assert found[3:] == [("en", "cafeteria"), ("fr", "cafés")]
    assert [w["word"] for w in explorer.search("CAFE", "fr")] == ["café", "cafés"]


@pytest.mark.parametrize("retrieval", ["cosine", "csls", "reranked"])
def test_translations_are_those_of_the_space(retrieval):
    space = toy_space()
    answers = Explorer({"a": space}).translate(0, "en", 3, retrieval)
    assert set(answers) == {"es", "it"}
    for target, words in answers.items():
        expected = space.translate("en3", "en", target, k=len(words), retrieval=retrieval)
        assert [(word["word"], word["score"]) for word in words] == expected
        assert all(space[target].words[word["row"]] == word["word"] for word in words)


def test_the_picture_holds_the_word_first_and_each_word_once():
    picture = Explorer({"a": toy_space()}).picture(0, "es", 5)
    names = [(point["language"], point["row"]) for point in picture["points"]]
    assert names[0] == ("es", 5)
    assert len(set(names)) == len(names)
    assert {language for language, _ in names} == {"en", "es", "it"}
    assert 0 < picture["variance"] <= 1


def test_the_principal_plane_keeps_the_distances_of_points_in_a_plane():
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.normal(size=(9, 2)))[0]
    vectors = random.normal(size=(12, 2)) @ basis.T + random.normal(size=9)
    plane, kept = principal_plane(vectors)
    assert kept == pytest.approx(1)
    before = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
    after = np.linalg.norm(plane[:, None] - plane[None], axis=-1)
    np.testing.assert_allclose(after, before, atol=1e-9)
    rotated, _ = principal_plane(vectors @ np.linalg.qr(random.normal(size=(9, 9)))[0])
    np.testing.assert_allclose(rotated, plane, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2])
def test_the_principal_plane_of_almost_nothing(count):
    plane, kept = principal_plane(np.ones((count, 4)))
    assert plane.shape == (count, 2) and kept == 1
    assert not plane.any()


def test_spaces_must_hold_the_same_languages():
    other = SharedSpace({"en": Embeddings(["a"], np.ones((1, 8)))})
    with pytest.raises(LanguagesError, match="same languages"):
        Explorer({"a": toy_space(), "b": other})
    with pytest.raises(ParameterError):
        Explorer({})


@pytest.mark.parametrize(
    "mapper, language, row",
    [(1, "en", 0), (-1, "en", 0), (0, "de", 0), (0, "en", 40), (0, "en", -1)],
)
def test_what_is_not_there_is_refused(mapper, language, row):
    explorer = Explorer({"a": toy_space()})
    for ask in (lambda *q: explorer.translate(*q, "csls"), explorer.picture):
        with pytest.raises((ParameterError, LanguagesError)):
            ask(mapper, language, row)


@contextmanager
def serving(space):
    with ExplorerServer(Explorer({"a": space})) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def server():
    with serving(toy_space()) as server:
        yield server


def get(server, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    try:
        connection.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def test_the_server_listens_on_this_machine_only(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.address.startswith("http://127.0.0.1:")
    assert len(server.token) >= 20


def test_each_server_has_its_own_token(server):
    with ExplorerServer(server.explorer) as other:
        assert other.token != server.token


def test_every_answer_forbids_what_the_page_does_not_need(server):
    for path in (f"/{server.token}/", f"/{server.token}/api/about", "/", "/favicon.ico"):
        _, headers, _ = get(server, path)
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "path", ["/", "/{token}", "/{token}x/", "/x/api/about", "//", "/api/about"]
)
def test_without_the_token_there_is_nothing(server, path):
    status, _, body = get(server, path.format(token=server.token))
    assert status == 404 and b"whole address" in body


@pytest.mark.parametrize(
    "path", ["../server.py", "%2e%2e/server.py", "..%2fserver.py", "/etc/passwd", "api/", "api/x"]
)
def test_only_files_of_the_page_are_served(server, path):
    assert get(server, f"/{server.token}/{path}")[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
    ],
)
def test_other_sites_are_refused_even_with_the_token(server, headers):
    assert get(server, f"/{server.token}/api/about", **headers)[0] == 403


LED_HERE = {
    "Sec_Fetch_Site": "cross-site",
    "Sec_Fetch_Mode": "navigate",
    "Sec_Fetch_Dest": "document",
}


def test_the_redirect_page_leads_to_the_page_and_to_nothing_else(server):
    assert get(server, f"/{server.token}/", **LED_HERE)[0] == 200
    assert get(server, f"/{server.token}/api/about", **LED_HERE)[0] == 403
    assert get(server, f"/{server.token}/", **LED_HERE | {"Sec_Fetch_Dest": "iframe"})[0] == 403
    assert get(server, f"/{server.token}/", **LED_HERE | {"Host": "evil.example"})[0] == 403
    assert get(server, "/guess/", **LED_HERE)[0] == 404


def test_two_hundred_clients_can_wait(server):
    with ExplorerServer(server.explorer) as idle:  # accepts nobody
        clients = [socket.create_connection(idle.server_address, timeout=5) for _ in range(200)]
        for client in clients:
            client.close()


FULL = """
import resource, socket, sys, threading, time
import numpy as np
from geomm_plugin import Embeddings, SharedSpace
from geomm_plugin.views.explorer import Explorer, ExplorerServer
from geomm_plugin.views.explorer.server import as_spaces
space = SharedSpace({"en": Embeddings(["a"], np.ones((1, 2)))})
attempts, accept = [], ExplorerServer.get_request
ExplorerServer.get_request = lambda server: (attempts.append(1), accept(server))[1]
with ExplorerServer(Explorer({"a": space})) as server:
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    client = socket.create_connection(server.server_address)  # accepted
    time.sleep(0.3)
    more = [socket.socket() for _ in range(5)]
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(s.fileno() for s in more)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
    for s in more:
        s.connect(server.server_address)  # waits: there is no descriptor to accept it with
    time.sleep(1)
    tried = len(attempts)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1024), hard))
    more[0].sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    answered = more[0].recv(12)
    server.shutdown()
    thread.join()
print(tried, answered.decode())
"""


def test_running_out_of_descriptors_neither_spins_nor_ends_the_server():
    done = subprocess.run(
        [sys.executable, "-c", FULL],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    tried, answered = done.stdout.split(" ", 1)
    assert 1 < int(tried) < 100, "a server that does not wait tries many thousand times"
    assert answered.startswith("HTTP/1.1"), done.stderr


@pytest.mark.parametrize("row", ["1_0", "\u0661", "+1", " 1", "1" * 30])
def test_other_digits_are_no_numbers_in_questions(server, row):
    question = f"picture?mapper=0&language=en&row={quote(row)}"
    assert get(server, f"/{server.token}/api/{question}")[0] == 400


def test_its_own_page_is_answered(server):
    host = f"localhost:{server.server_port}"
    headers = {"Host": host, "Origin": f"http://{host}", "Sec_Fetch_Site": "same-origin"}
    status, _, body = get(server, f"/{server.token}/api/about", **headers)
    assert status == 200 and json.loads(body) == server.explorer.about()


@pytest.mark.parametrize(
    "question",
    [
        "translate?mapper=0&language=en&row=99&retrieval=csls",
        "translate?mapper=0&language=en&row=0&retrieval=x",
        "picture?mapper=zero&language=en&row=0",
        "picture",
        "search?text=e&language=xx",
    ],
)
def test_a_wrong_question_gets_a_sentence(server, question):
    status, _, body = get(server, f"/{server.token}/api/{question}")
    assert status == 400 and json.loads(body)["error"].endswith(".")


def test_odd_words_survive_the_way_to_the_page():
    words = ["half\udce9", "<b>", "nul\x00", "line\u2028"]
    with serving(SharedSpace({"en": Embeddings(words, np.eye(4))})) as server:
        found = [
            json.loads(get(server, f"/{server.token}/api/search?text={text}")[2])[0]["word"]
            for text in ("half", "%3Cb", "nul", "line")
        ]
    assert found == words


def test_many_threads_get_the_same_answers():
    explorer, expected = Explorer({"a": toy_space()}), Explorer({"a": toy_space()})
    questions = [(0, language, row, "csls") for language in ("en", "it") for row in range(40)]
    answers = {}

    def ask(part):
        for question in part:
            answers[question] = explorer.translate(*question)

    threads = [threading.Thread(target=ask, args=(questions[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {question: expected.translate(*question) for question in questions}

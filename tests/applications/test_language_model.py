"""The language model: its parts on the host, and what a board writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import application
import numpy as np
import pytest

from ember.errors import SdkError

NAME = "language_model"
FOLDER = application.FOLDER / NAME
PARTS = Path(__file__).parent / "parts"
BOARD = "qemu-a64-sme"
tokens = application.module(NAME, "tokens")
evaluate = application.module(NAME, "evaluate")
PAIRS = tokens.read(FOLDER / "firmware" / "tokens.h")

TEXTS = {
    "words": "The Python language is in the public domain.\n\nOf the",
    "repeated": "a" * 7 + "  " * 9 + "eeeee\n\n\n\n----------",
    "one": "x",
    "end": "ions that are l",  # a pair with what is behind the end, left of merges
    "bytes": "\u00e4\u20ac\U0001f600 is not ASCII",
}


@pytest.fixture(scope="module", name="parts")
def _parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tests the sampler, then turns its input into tokens and back."""
    program = tmp_path_factory.mktemp("parts") / "parts"
    return application.compiled(NAME, PARTS / f"{NAME}.c", program)


@pytest.mark.parametrize("name", TEXTS)
def test_the_firmware_has_python_s_tokens(parts: Path, name: str) -> None:
    text = TEXTS[name].encode()
    said = subprocess.run([parts], input=text, capture_output=True, check=True).stdout
    first, _, rest = said.partition(b"\n")
    expected = tokens.encode(TEXTS[name], PAIRS).tolist()
    assert [int(x) for x in first.split()] == expected
    assert rest == text
    assert tokens.decode(expected, PAIRS) == text


def test_pairs_are_learned_by_how_often_they_occur() -> None:
    pairs = tokens.learn("ababab " * 20 + "xyz")
    ab = (ord("a"), ord("b"))
    assert pairs[:2] == [ab, (256, 256)]
    assert tokens.encode("xabab", pairs).tolist() == [ord("x"), 257]
    assert tokens.encode("aaa", [(97, 97)]).tolist() == [256, 97]


def test_tokens_h_is_as_python_writes_it(tmp_path: Path) -> None:
    assert len(PAIRS) == tokens.WORDS - tokens.BYTES
    tokens.write(tmp_path / "tokens.h", PAIRS)
    committed = (FOLDER / "firmware" / "tokens.h").read_bytes()
    assert (tmp_path / "tokens.h").read_bytes() == committed
    header = (FOLDER / "firmware" / "tokenizer.h").read_text()
    assert f"TOKEN_BYTES = {tokens.LONGEST} " in header


def test_a_token_that_is_too_long_is_refused(tmp_path: Path) -> None:
    doubling = [(97, 97), *((256 + i, 256 + i) for i in range(255))]
    with pytest.raises(SystemExit, match="the firmware takes 64"):
        tokens.write(tmp_path / "tokens.h", doubling[:7] + [(1, 1)] * 249)
    assert not (tmp_path / "tokens.h").exists()


def test_the_log_of_the_firmware() -> None:
    log = "prompt 1 2\ntokens 3\ntext a\n\nb\nend\nprompt 4\ntokens\ntext \nend"
    assert evaluate.parse(log) == [([1, 2], [3], "a\n\nb"), ([4], [], "")]


def test_broken_promises_are_told() -> None:
    row = {"same_tokens": 1.0, "accuracy": 0.4, "float_accuracy": 0.44}
    assert evaluate.wrong(row, same_prompts=True) == []
    worse = row | {"same_tokens": 0.99, "accuracy": 0.38}
    assert len(evaluate.wrong(worse, same_prompts=False)) == 3


# ---- the board -----------------------------------------------------------------------


@pytest.fixture(scope="module", name="firmware")
def _firmware(tmp_path_factory: pytest.TempPathFactory) -> object:
    return evaluate.built_for(BOARD, tmp_path_factory.mktemp("firmware"))


class Answer(NamedTuple):
    given: list[int]
    drawn: list[int]
    text: str


def answers(firmware: object, *requests: bytes) -> list[Answer]:
    files = {"requests.txt": b"".join(requests)}
    ran = evaluate.on_board.run(firmware, files, count=False)
    return [Answer(*answer) for answer in evaluate.parse("\n".join(ran.lines))]


@pytest.mark.qemu
@pytest.mark.slow
def test_a_board_writes_what_pytorch_does(firmware: object) -> None:
    """Greedy and drawn, one after the other: the caches of the first do not matter."""
    wanted = [evaluate.references()["answers"][at] for at in (0, 2)]
    asked = [
        evaluate.request(x["prompt"], 12, x["thousandths"], x["best"], x["seed"])
        for x in wanted
    ]
    got = answers(firmware, *asked)
    assert [answer.given for answer in got] == [answer["given"] for answer in wanted]
    drawn = [answer["tokens"][:12] for answer in wanted]
    assert [answer.drawn for answer in got] == drawn
    for answer in got:
        assert answer.text == tokens.decode(answer.drawn, PAIRS).decode()


@pytest.mark.qemu
@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_of", "sentence"),
    [
        (b"3 0 0 1 text\0", "draws from 1 to 64 tokens"),
        (b"3 0 65 1 text\0", "draws from 1 to 64 tokens"),
        (b"3 0 1 0 text\0", "by a seed above 0"),
        (b"3 0 1 1 \0", "a prompt is empty"),
        (b"0 0 1 1 " + bytes(range(1, 128)) * 3 + b"\0", "longer than the model"),
        (b"x" * 3000, "a request is longer than 2,048 bytes"),
    ],
)
def test_bad_requests(firmware: object, request_of: bytes, sentence: str) -> None:
    with pytest.raises(SdkError, match=sentence):
        answers(firmware, request_of)


@pytest.mark.qemu
@pytest.mark.broad
def test_it_ends_where_the_model_s_memory_does(firmware: object) -> None:
    facts = evaluate.references()
    text = tokens.decode(facts["tokens"], PAIRS).decode()
    (got,) = answers(firmware, evaluate.request(text, 200))
    assert len(got.given) + len(got.drawn) == 256 + 1


@pytest.mark.broad
@pytest.mark.qemu
def test_the_promises_hold() -> None:
    facts = application.evaluated(NAME, BOARD)
    assert facts["same_tokens"] == 1
    assert facts["same_as_executorch"] == 1  # the same program
    assert facts["same_predicted"] > 0.97  # the module: its sums have another order


# ---- PyTorch -------------------------------------------------------------------------


@pytest.mark.export
@pytest.mark.long
@application.needs_torch
def test_references_are_those_of_the_weights(tmp_path: Path) -> None:
    for name in ("weights.npz",):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    words = [sys.executable, str(FOLDER / "references.py"), "--out", str(tmp_path)]
    subprocess.run(words, check=True, capture_output=True)
    for name in ("language_model.pte", "references.json"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


@pytest.mark.export
@pytest.mark.qemu
@application.needs_torch
def test_in_float32_a_board_writes_what_pytorch_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    references = application.module(NAME, "references")
    writer = references.model.model()
    program = tmp_path / "language_model.pte"
    program.write_bytes(references.lowered(writer, None).content)
    monkeypatch.setattr(evaluate, "PROGRAM", program)
    monkeypatch.setattr(
        references,
        "REQUESTS",
        [(*request[:1], 32, *request[2:]) for request in references.REQUESTS],
    )
    writer.reset()
    wanted = references.answers(references.eager(writer), PAIRS)
    keys = ("prompt", "count", "thousandths", "best", "seed")
    asked = [evaluate.request(*(answer[key] for key in keys)) for answer in wanted]
    got = answers(evaluate.built_for(BOARD, tmp_path), *asked)
    drawn = [answer.drawn for answer in got]
    assert drawn == [answer["tokens"] for answer in wanted]
    assert len(np.unique([token for answer in drawn for token in answer])) > 30

"""Kernels in a folder of the user's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ember import cli, kernels
from ember.errors import SdkError
from ember.firmware import project as projects
from ember.toolchain import libraries

EXAMPLE = Path(__file__).parents[3] / "examples" / "custom_op"


def ember(*words: object) -> int:
    return cli.main([str(word) for word in words])


@pytest.mark.slow
def test_run_build_and_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--kernels", EXAMPLE / "kernels")
    model = EXAMPLE / "mul3"
    report = tmp_path / "run.json"
    place = ("--out", tmp_path / "build", "--json", report)
    assert ember("run", model, "--board", "host", *options, *place) == 0
    listed = json.loads(report.read_text())
    assert listed["nodes"][0]["kernel"] == "mul3"
    assert ember("test", EXAMPLE, "--board", "host", *options) == 0
    assert ember("select", model, *options, "--json", report) == 0
    operators = json.loads(report.read_text())["operators"]
    assert operators["my_ops::mul3.out"] == ["mul3"]
    assert ember("run", model, "--board", "host") == 1
    assert "--kernels" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_changed_kernel_is_compiled_again(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    shutil.copytree(EXAMPLE / "kernels", folder)
    words = ("test", EXAMPLE, "--board", "host", "--kernels", folder)
    assert ember(*words) == 0
    source = folder / "mul3.c"
    source.write_text(source.read_text().replace("3.0f", "4.0f"))
    kernels.load.cache_clear()  # as in another process
    assert ember(*words) == 1


def library(folder: Path, text: str, *files: str) -> Path:
    folder.mkdir()
    (folder / "kernels.yaml").write_text(text)
    for name in files:
        (folder / name).write_text("")
    return folder


def test_layout_of_executorch(tmp_path: Path) -> None:
    text = """\
- func: my_ops::mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: my_ops::mul3
"""
    known = kernels.load((library(tmp_path / "own", text, "mul3.c"),))
    operator = known.operators["my_ops::mul3.out"]
    assert operator.kernels == ("mul3",)
    assert operator.arguments == 2


def test_candidates_before_those_of_ember(tmp_path: Path) -> None:
    folder = library(tmp_path / "own", "[{op: add.out, kernels: [my_add]}]", "my_add.c")
    operator = kernels.load((folder,)).operators["aten::add.out"]
    assert operator.kernels[0] == "my_add"
    assert operator.source("my_add") == folder / "my_add.c"
    assert "add_f32" in operator.kernels


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[{op: 'my::a', schema: '(Tensor x)', kernels: [missing]}]", "does not exist"),
        ("[{op: 'my::a', schema: '(Tensor x)', kernels: [add]}]", "is named add"),
        (
            "[{op: 'my::a', schema: '(Tensor x)', kernels: [B]}]",
            "is not a valid kernel name",
        ),
        ("[{op: 'my::a', kernels: [there]}]", "has no schema"),
        (
            "[{op: 'my::a', schema: '(Tensor x', kernels: [there]}]",
            "unbalanced parentheses",
        ),
        ("[{schema: '(Tensor x)'}]", "it has no 'op'"),
        ("[{op: add.out, schema: '(Tensor x)', kernels: [there]}]", "has 1 arguments"),
        ("{operators: 3}", "must be a list"),
        (
            "{operators: [{op: 'my::a', schema: '(Tensor x)', kernels: [there]}],"
            " sources: [loop.c]}",
            "no such file:",
        ),
        (
            "[{op: 'my::a', schema: '(Tensor x)', in: loop.c, kernels: [there]}]",
            "does not exist",
        ),
        ("{operators: [], sources: 3}", "`sources` must be a list of files"),
    ],
)
def test_wrong_lists(text: str, said: str, tmp_path: Path) -> None:
    folder = library(tmp_path / "own", text, "there.c")
    (folder / "loop.c").symlink_to("loop.c")
    with pytest.raises(SdkError) as error:
        kernels.load((folder,))
    assert said in error.value.what


def test_a_folder_without_a_list(tmp_path: Path) -> None:
    with pytest.raises(SdkError, match=r"the list of kernels .* does not exist"):
        kernels.load((tmp_path,))


SHARED = """\
operators: [{op: "my::a", schema: "(Tensor x)", in: KERNELS, kernels: [mine]}]
sources: [SHARED]
"""


@pytest.mark.parametrize("place", [".", "../beside"])
@pytest.mark.parametrize("spelling", ["own", "other/../own", "link"])
def test_shared_sources_are_linked_however_folders_are_spelled(
    place: str, spelling: str, tmp_path: Path
) -> None:
    text = SHARED.replace("KERNELS", place).replace("SHARED", f"{place}/shared.c")
    real = library(tmp_path / "own", text)
    for folder in ("other", "beside"):
        (tmp_path / folder).mkdir()
    (tmp_path / "link").symlink_to(real)
    sources = [(real / place / name).resolve() for name in ("mine.c", "shared.c")]
    for source in sources:
        source.write_text("")
    project = projects.load(None, [tmp_path / spelling, real])
    assert project.rules.known.user_sources({"my::a": ["mine"]}) == sources
    before = libraries.user_digest(project.rules.libraries)
    for source in sources:
        source.write_text(f"// {source.name}")
        after = libraries.user_digest(project.rules.libraries)
        assert after != before
        before = after

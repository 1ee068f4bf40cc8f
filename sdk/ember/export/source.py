"""A MODULE.py or FILE.pt2 becomes a `Source`: a model, example inputs, calibration."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ember.errors import SdkError
from ember.export import blame
from ember.export.graph import layouts
from ember.export.packages import need, quiet
from ember.files import arrays

# The names that are looked for, the first found wins; the second ones are those of
# ExecuTorch's own examples.
_MODEL = ("model", "ModelUnderTest")
_INPUTS = ("example_inputs", "ModelInputs")
_CALIBRATION = ("calibration_inputs",)
_DYNAMIC = ("dynamic_shapes",)

Sample = tuple[Any, ...]  # the inputs of one call


@dataclass(frozen=True)
class Source:
    """A model with inputs, before anything is decided about a board."""

    path: Path
    model: Any  # a torch.nn.Module in evaluation mode
    inputs: Sample
    calibration: tuple[Sample, ...] = ()  # of the file itself
    dynamic: Any = None  # dynamic_shapes of torch.export
    saved: bool = False  # a .pt2: a graph, no longer a module of layers


def read(path: Path) -> Source:
    """The model in a MODULE.py or FILE.pt2. Raises SdkError if something is missing."""
    if not path.is_file():
        raise SdkError(f"{path} does not exist", hint="give a MODULE.py or a FILE.pt2")
    if path.suffix == ".py":
        return _of_module(path)
    if path.suffix == ".pt2":
        return _of_saved(path)
    raise SdkError(
        f"{path} is neither a .py nor a .pt2 file",
        hint="give a Python file that defines `model` and `example_inputs`, or a file"
        " from torch.export.save()",
    )


def _of_module(path: Path) -> Source:
    need("torch")
    module = _run(path)
    names = vars(module)
    model = _model(path, _first(names, _MODEL))
    inputs = _sample(path, _INPUTS[0], _first(names, _INPUTS))
    given = _called(path, _CALIBRATION[0], _first(names, _CALIBRATION))
    calibration = [_sample(path, _CALIBRATION[0], item) for item in given or ()]
    dynamic = _first(names, _DYNAMIC)
    return Source(path, model, inputs, tuple(calibration), dynamic)


def _run(path: Path) -> Any:
    """Executes the file as a module, its folder first on the path, without bytecode."""
    name = f"ember_export_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    leaves_no_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise blame.of(f"cannot run {path}", error, path) from error
    finally:
        sys.dont_write_bytecode = leaves_no_bytecode
        sys.path.remove(str(path.resolve().parent))
    return module


def _first(names: dict[str, Any], wanted: Sequence[str]) -> Any:
    return next((names[name] for name in wanted if name in names), None)


def _model(path: Path, model: Any) -> Any:
    torch = need("torch")
    if model is None:
        raise SdkError(
            f"{path} defines no `model`",
            hint="model = MyNetwork(), example_inputs = (torch.randn(1, 3, 32, 32),)",
        )
    if not isinstance(model, torch.nn.Module):
        model = _called(path, _MODEL[0], model)
    if not isinstance(model, torch.nn.Module):
        raise SdkError(
            f"{path}: `model` is neither a torch.nn.Module nor a function"
            " that returns one"
        )
    layouts.straighten(model)
    with contextlib.suppress(NotImplementedError):  # a graph is what it was exported as
        model.eval()
    return model


def _called(path: Path, name: str, value: Any) -> Any:
    """The result of a class or function without arguments; other objects as is."""
    if not callable(value):
        return value
    make: Callable[[], Any] = value
    try:
        return make()
    except Exception as error:
        raise blame.of(f"{path}: cannot call `{name}`", error, path) from error


def _sample(path: Path, name: str, value: Any) -> Sample:
    """Inputs as a tuple; a tensor is the only input."""
    torch = need("torch")
    value = _called(path, name, value)
    if isinstance(value, torch.Tensor):
        value = (value,)
    if isinstance(value, tuple | list) and value:
        return tuple(layouts.whole(value))
    raise SdkError(
        f"{path} defines no `{name}`, the inputs of one call",
        hint=f"{name} = (torch.randn(1, 3, 32, 32),)",
    )


def _of_saved(path: Path) -> Source:
    torch = need("torch")
    try:
        with quiet():
            program = torch.export.load(path)
    except Exception as error:
        raise SdkError(
            f"{path} is not a file from torch.export.save(): {blame.first_line(error)}"
        ) from error
    given = program.example_inputs
    if not given or not given[0]:
        raise SdkError(
            f"{path} was saved without example inputs",
            hint="save the result of torch.export.export(model, example_inputs)",
        )
    if given[1]:
        names = ", ".join(given[1])
        raise SdkError(
            f"{path} takes keyword arguments ({names}), which a .pte does not have"
        )
    model = program.module(check_guards=False)
    layouts.straighten(model)
    return Source(path, model, tuple(layouts.whole(given[0])), saved=True)


# ---- --calibrate DATA becomes inputs of calls ----------------------------------------


_FORMS = (
    "give a .npy with samples along the first axis, a .npz with such an array for"
    " each input, or a folder of them"
)


def read_samples(path: Path, example: Sample) -> tuple[Sample, ...]:
    """The samples in `path`, each with the shapes and dtypes of `example`."""
    if path.is_dir():
        files = sorted([*path.glob("*.npy"), *path.glob("*.npz")])
        if not files:
            raise SdkError(f"{path} has no .npy or .npz file", hint=_FORMS)
        return tuple(sample for file in files for sample in _samples_of(file, example))
    return tuple(_samples_of(path, example))


def _samples_of(path: Path, example: Sample) -> Iterator[Sample]:
    given = arrays.read_all(path)
    if len(given) != len(example):
        raise SdkError(
            f"{path} has {len(given)} arrays, but the model takes {len(example)}"
            " inputs",
            hint=_FORMS,
        )
    columns = [
        _tensors(path, number, array, tensor)
        for number, (array, tensor) in enumerate(zip(given, example, strict=True))
    ]
    counts = [len(column) for column in columns]
    if len(set(counts)) != 1:
        said = ", ".join(map(str, counts))
        raise SdkError(f"{path}: the inputs have different numbers of samples: {said}")
    yield from zip(*columns, strict=True)


def _tensors(path: Path, number: int, array: NDArray[Any], like: Any) -> Sequence[Any]:
    """One sample, or several; a batch dimension of one can be left out."""
    torch = need("torch")
    if not isinstance(like, torch.Tensor):
        raise SdkError(f"input {number} is not a tensor: it cannot come from {path}")
    shape = tuple(like.shape)
    if array.shape == shape:
        parts = [array]
    elif array.ndim > 0 and shape in (array.shape[1:], (1, *array.shape[1:])):
        parts = [part.reshape(shape) for part in array]
    else:
        raise SdkError(
            f"{path}: input {number} has the shape {list(array.shape)}, but the model"
            f" takes {list(shape)}",
            hint=_FORMS,
        )
    return [torch.from_numpy(np.ascontiguousarray(p)).to(like.dtype) for p in parts]

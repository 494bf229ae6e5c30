"""XMI files and the type system of each: a file with TypeSystem.xml beside it, a zip of them, or a folder.

The bytes are bounded and have no document type definition, so no parser can be made to expand entities or to fetch
anything. What they mean is read elsewhere (formats/cas.py).
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from nestag.corpora.folders import document_name
from nestag.errors import InputError
from nestag.files import reading

LARGEST = 256 * 2**20
"""Bytes of one XMI file beyond which it is refused."""
TYPE_SYSTEM = "TypeSystem.xml"


class Xmi(NamedTuple):
    """The bytes of a document and of its type system, both safe to parse."""

    name: str
    place: str
    data: bytes
    type_system: bytes


def read_xmi(path: Path) -> Iterator[Xmi]:
    """The documents of a file, a zip or a folder."""
    if path.is_dir():
        yield from _in_folder(path)
    elif path.suffix.lower() == ".zip":
        yield from _in_zip(path, "")
    else:
        types = path.with_name(TYPE_SYSTEM)
        if path.exists() and not types.exists():
            raise InputError(f"there is no {TYPE_SYSTEM} beside it; export it as well", str(path))
        yield _xmi(document_name(_stem(path.name)), str(path), _bytes_of(path), _bytes_of(types))


def _in_folder(path: Path) -> Iterator[Xmi]:
    """Every .xmi file, with the type system of its folder or of one above, and every zip."""
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in (".xmi", ".zip") and file.is_file())
    if not files:
        raise InputError("the folder has no .xmi or .zip file; name one that has", str(path))
    systems = {file.relative_to(path).as_posix(): file for file in path.rglob(TYPE_SYSTEM)}
    for file in files:
        name = file.relative_to(path).as_posix()
        if file.suffix.lower() == ".zip":
            yield from _in_zip(file, f"{document_name(_stem(name))}/")
            continue
        types = systems[_nearest(name, systems, str(file))]
        yield _xmi(document_name(_stem(name)), str(file), _bytes_of(file), _bytes_of(types))


def _in_zip(path: Path, prefix: str) -> Iterator[Xmi]:
    """Every .xmi file in a zip."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.filename: member for member in archive.infolist()}
            documents = sorted(name for name in members if name.lower().endswith(".xmi"))
            if not documents:
                raise InputError("the zip has no .xmi file; export the documents as UIMA CAS XMI", str(path))

            def content(name: str) -> bytes:
                return _bounded(archive.open(members[name]).read, f"{path}/{name}")

            for name in documents:
                types = content(_nearest(name, members, f"{path}/{name}"))
                yield _xmi(prefix + document_name(_stem(name)), f"{path}/{name}", content(name), types)
    except FileNotFoundError:
        raise InputError("there is no such file; check the path", str(path)) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError) as error:
        raise InputError(f"not a zip that can be read ({error}); pack it again", str(path)) from None


def _nearest(name: str, there: Iterable[str], place: str) -> str:
    """The type system of a file: in its folder, or in the nearest above."""
    systems = set(there)
    for folder in PurePosixPath(name).parents:
        system = (folder / TYPE_SYSTEM).as_posix()
        if system in systems:
            return system
    raise InputError(f"there is no {TYPE_SYSTEM} beside it; export it as well", place)


def _bytes_of(path: Path) -> bytes:
    with reading(path) as stream:
        return _bounded(stream.read, str(path))


def _bounded(read: Callable[[int], bytes], place: str) -> bytes:
    data = read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InputError(f"more than {LARGEST} bytes; split the document", place)
    return data


def _stem(name: str) -> str:
    return str(PurePosixPath(name).with_suffix(""))


def _xmi(name: str, place: str, data: bytes, types: bytes) -> Xmi:
    _refuse_definitions(data, place)
    _refuse_definitions(types, f"{place} ({TYPE_SYSTEM})")
    return Xmi(name, place, data, types)


def _refuse_definitions(data: bytes, place: str) -> None:
    """An InputError if XML has a document type definition, in whatever encoding it is."""
    etree = import_module("defusedxml.ElementTree")
    forbidden = import_module("defusedxml.common").DTDForbidden
    try:
        next(etree.iterparse(BytesIO(data), events=("start",), forbid_dtd=True), None)
    except forbidden:
        raise InputError("the XML has a document type definition; remove <!DOCTYPE ...>", place) from None
    except (etree.ParseError, LookupError, ValueError) as error:
        raise InputError(f"not XML ({error}); export it again", place) from None

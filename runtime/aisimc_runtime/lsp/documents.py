"""The campaigns that an editor has open: checked as they are on the screen, imports included."""

from __future__ import annotations

import os

from pygls import uris
from pygls.workspace import Workspace

from aisimc_compiler.api import CheckResult, check_source
from aisimc_compiler.editor.names import Occurrence, occurrences
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source


class Checked(NamedTuple):
    """An open file, checked: its source is `result.files[0]`."""

    result: CheckResult
    names: list[Occurrence]

    @property
    def source(self) -> Source:
        """The text of the file itself."""
        return self.result.files[0]


def path_of(uri: str) -> str:
    """The path of a document; an unsaved one has a name that is no path."""
    return uris.to_fs_path(uri) or uri


def uri_of(path: str) -> str:
    """The URI of a file."""
    return uris.from_fs_path(os.path.abspath(path)) or path  # noqa: PTH100


def check_document(workspace: Workspace, uri: str) -> Checked:
    """Check a document as the editor has it, and the open documents that it imports likewise."""
    path = path_of(uri)
    folder = os.path.dirname(path)  # noqa: PTH120
    source = Source(path, workspace.get_text_document(uri).source)
    overlay = {}
    for other in workspace.text_documents.values():
        if other.uri != uri and (file := uris.to_fs_path(other.uri)):
            overlay[os.path.relpath(file, folder)] = Source(file, other.source)
    result = check_source(source, folder, overlay)
    # Open files that this one does not import were lent to the check, and are none of its own.
    spoken = {id(d.span.source) for d in result.diagnostics}
    imported = {one.name for one in occurrences([source]) if one.kind == "import"}
    lent = {id(text) for name, text in overlay.items() if name not in imported and id(text) not in spoken}
    files = tuple(text for text in result.files if id(text) not in lent)
    return Checked(result._replace(files=files), occurrences(files))

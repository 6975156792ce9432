"""The server itself: one function for each request, each a few lines over `aisimc_compiler.editor`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from aisimc_compiler.editor import names
from aisimc_compiler.editor.completion import complete
from aisimc_compiler.editor.hover import hover
from aisimc_compiler.fixing import applicable
from aisimc_compiler.rules import RULES
from aisimc_compiler.source import Source
from aisimc_compiler.syntax import tree
from aisimc_compiler.syntax.format import FormatterError, format_source
from aisimc_compiler.syntax.parser import parse
from aisimc_runtime import __version__
from aisimc_runtime.lsp import convert
from aisimc_runtime.lsp.documents import Checked, check_document, path_of, uri_of
from aisimc_runtime.lsp.positions import Encoding, offset, position, span_range

Positioned = types.DefinitionParams | types.ReferenceParams | types.PrepareRenameParams | types.RenameParams

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


class CampaignServer(LanguageServer):
    """Keeps the last check of each open document."""

    def __init__(self) -> None:
        super().__init__("aisimc", __version__)
        self.checked: dict[str, Checked] = {}
        self.spoken: dict[str, set[str]] = {}
        """Document → other files on which its check had something to say."""

    @property
    def encoding(self) -> Encoding:
        """The unit of columns agreed with the client."""
        return self.workspace.position_encoding or types.PositionEncodingKind.Utf16

    def current(self, uri: str) -> Checked:
        """The check of a document as it is now."""
        known = self.checked.get(uri)
        if known is None or known.source.text != self.workspace.get_text_document(uri).source:
            known = self.checked[uri] = check_document(self.workspace, uri)
        return known

    def refresh(self, uri: str) -> None:
        """Check a document again and publish what is wrong with it and, if they are not open, with its imports."""
        checked = self.checked[uri] = check_document(self.workspace, uri)
        by_file: dict[str, list[types.Diagnostic]] = {uri: []}
        own = path_of(uri)
        for found in checked.result.diagnostics:
            name = found.span.source.name
            target = uri if name == own else uri_of(name)
            if target != uri and target in self.workspace.text_documents:
                continue
            code = RULES[found.rule].code if found.rule in RULES else ""
            by_file.setdefault(target, []).append(convert.diagnostic(found, code, self.encoding))
        for gone in self.spoken.get(uri, set()) - set(by_file):
            by_file[gone] = []
        self.spoken[uri] = set(by_file) - {uri}
        for target, diagnostics in by_file.items():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(target, diagnostics))


def create() -> CampaignServer:
    """A server with all its requests registered."""
    server = CampaignServer()
    _synchronise(server)
    _inform(server)
    _navigate(server)
    _edit(server)
    return server


def _synchronise(server: CampaignServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(ls: CampaignServer, params: types.DidOpenTextDocumentParams) -> None:
        ls.refresh(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(ls: CampaignServer, params: types.DidChangeTextDocumentParams) -> None:
        for uri in [params.text_document.uri, *_importers(ls, params.text_document.uri)]:
            ls.refresh(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(ls: CampaignServer, params: types.DidSaveTextDocumentParams) -> None:
        ls.refresh(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(ls: CampaignServer, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        ls.checked.pop(uri, None)
        for target in {uri, *ls.spoken.pop(uri, set())}:
            ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(target, []))


def _importers(ls: CampaignServer, uri: str) -> list[str]:
    """Open documents whose check read the text of this one."""
    path = os.path.realpath(path_of(uri))
    return [
        other
        for other, checked in ls.checked.items()
        if other != uri and any(os.path.realpath(file.name) == path for file in checked.result.files[1:])
    ]


def _inform(server: CampaignServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(ls: CampaignServer, params: types.HoverParams) -> types.Hover | None:
        checked = ls.current(params.text_document.uri)
        source = checked.source
        told = hover(source, offset(source, params.position, ls.encoding), checked.result, checked.names)
        if told is None:
            return None
        place = types.Range(position(source, told.start, ls.encoding), position(source, told.end, ls.encoding))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, told.text), place)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["=", " "]))
    def on_completion(ls: CampaignServer, params: types.CompletionParams) -> types.CompletionList:
        checked = ls.current(params.text_document.uri)
        at = offset(checked.source, params.position, ls.encoding)
        proposals = complete(checked.source.text, at, checked.names)
        snippets = _takes_snippets(ls)
        items = [convert.completion(one, checked.source, at, snippets, ls.encoding) for one in proposals]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_symbols(ls: CampaignServer, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        source = ls.current(params.text_document.uri).source
        return [_symbol(item, ls.encoding) for item in parse(source)[0].body if isinstance(item, tree.Block)]


def _takes_snippets(ls: CampaignServer) -> bool:
    documents = ls.client_capabilities.text_document
    item = documents.completion.completion_item if documents and documents.completion else None
    return bool(item and item.snippet_support)


def _symbol(block: tree.Block, encoding: Encoding) -> types.DocumentSymbol:
    labels = [str(label.value) if isinstance(label, tree.Value) else label.text for label in block.labels]
    return types.DocumentSymbol(
        " ".join([block.keyword.text, *labels]),
        types.SymbolKind.Struct,
        span_range(block.span, encoding),
        span_range(block.keyword.span, encoding),
        children=[_symbol(part, encoding) for part in block.body if isinstance(part, tree.Block)],
    )


def _navigate(server: CampaignServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def on_definition(ls: CampaignServer, params: types.DefinitionParams) -> list[types.Location]:
        checked, one = _occurrence(ls, params)
        if one is None:
            return []
        if one.kind == "import":
            start = types.Position(0, 0)
            return [types.Location(uri_of(names.imported(one)), types.Range(start, start))]
        return _locations(ls, [o for o in names.same(checked.names, one) if o.defines])

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def on_references(ls: CampaignServer, params: types.ReferenceParams) -> list[types.Location]:
        checked, one = _occurrence(ls, params)
        if one is None:
            return []
        wanted = params.context.include_declaration
        return _locations(ls, [o for o in names.same(checked.names, one) if wanted or not o.defines])

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def on_prepare(ls: CampaignServer, params: types.PrepareRenameParams) -> types.Range | None:
        _, one = _occurrence(ls, params)
        return None if one is None or one.kind == "import" else span_range(one.span, ls.encoding)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def on_rename(ls: CampaignServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
        checked, one = _occurrence(ls, params)
        if one is None or one.kind == "import":
            return None
        if not _NAME.fullmatch(params.new_name):
            raise JsonRpcInvalidParams("a name has letters, digits, `_` and `-`, and starts with a letter")
        taken = [o for o in checked.names if o.defines and (o.kind, o.name) == (one.kind, params.new_name)]
        if taken and params.new_name != one.name:
            raise JsonRpcInvalidParams(f"there is another {one.kind} `{params.new_name}`")
        edits: dict[str, list[types.TextEdit]] = {}
        for other in names.same(checked.names, one):
            edit = types.TextEdit(span_range(other.span, ls.encoding), params.new_name)
            edits.setdefault(uri_of(other.span.source.name), []).append(edit)
        return types.WorkspaceEdit(changes=dict(edits))


def _occurrence(ls: CampaignServer, params: Positioned) -> tuple[Checked, names.Occurrence | None]:
    checked = ls.current(params.text_document.uri)
    at = offset(checked.source, params.position, ls.encoding)
    return checked, names.at(checked.names, checked.source, at)


def _locations(ls: CampaignServer, found: Sequence[names.Occurrence]) -> list[types.Location]:
    return [types.Location(uri_of(o.span.source.name), span_range(o.span, ls.encoding)) for o in found]


def _edit(server: CampaignServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def on_format(ls: CampaignServer, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        source = Source(
            path_of(params.text_document.uri), ls.workspace.get_text_document(params.text_document.uri).source
        )
        try:
            text = format_source(source).text
        except FormatterError:
            return None
        if text is None or text == source.text:
            return None
        whole = types.Range(types.Position(0, 0), position(source, len(source.text), ls.encoding))
        return [types.TextEdit(whole, text)]

    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    def on_code_action(ls: CampaignServer, params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        return [*_quick_fixes(ls, uri, params.range), *_fix_all(ls, uri)]


def _quick_fixes(ls: CampaignServer, uri: str, wanted: types.Range) -> list[types.CodeAction]:
    checked = ls.current(uri)
    start = offset(checked.source, wanted.start, ls.encoding)
    end = offset(checked.source, wanted.end, ls.encoding)
    actions = []
    for found in checked.result.diagnostics:
        span, mend = found.span, found.replacement
        if mend is None or mend.span.source is not checked.source or span.source is not checked.source:
            continue
        if span.end < start or span.start > end:
            continue
        code = RULES[found.rule].code if found.rule in RULES else ""
        actions.append(
            types.CodeAction(
                convert.fix_title(found),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[convert.diagnostic(found, code, ls.encoding)],
                edit=types.WorkspaceEdit({uri: [types.TextEdit(span_range(mend.span, ls.encoding), mend.text)]}),
                is_preferred=mend.applicable,
            )
        )
    return actions


def _fix_all(ls: CampaignServer, uri: str) -> list[types.CodeAction]:
    checked = ls.current(uri)
    mends = applicable(checked.result.diagnostics, checked.source)
    if not mends:
        return []
    edits = [types.TextEdit(span_range(mend.span, ls.encoding), mend.text) for mend in mends]
    title = "Apply all mends that cannot change the meaning"
    return [types.CodeAction(title, kind=types.CodeActionKind.SourceFixAll, edit=types.WorkspaceEdit({uri: edits}))]

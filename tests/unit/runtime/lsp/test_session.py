"""A whole session over standard input and output, with the protocol library's own client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the language server is an extra: pip install 'PATH[lsp]'")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

SHARED_PART = """\
exclude {
  /summary/wall_time_ms
  /summary/processed_tokens_per_s
  /summary/processed_output_tokens_per_s
  /planner/html_report_path
}

family window {
  input = conversation
  timing polynomial
  capacity { num_gpu_blocks = 6_144 block_size = 64 max_num_seqs = 16 max_num_batched_tokens = 8_192 }
}
"""

CAMPAIGN = """\
import "part.campaign"

campaign "one" { language = 1 purpose = "Try the editor: 😀" corpus = long matrix = focused }

revision baseline {
  wheel  = "aisimulate==0.12.0.dev1"
  sha256 = "9334cf5150e74eeff8f55c68a6b01f3cc355d89f5652504ee6c235e02f9d9bd2"
}
revision candidate {
  wheel    = "aisimulate==0.12.0.dev2"
  sha256   = "9b50283211b7927a7d80a87a98a2eb0d869376b6459f9eaf0d18acebef4593e4"
  relation = "the next build of the same line"
}

determinism {
  mode        = canonical_v1
  repetitions = 2
  correction stable_request_identity { }
}

input conversation {
  format     = mooncake
  block_size = 512
  upstream   = "https://github.com/kvcache-ai/Mooncake"
  commit     = "3cca71daccf2a7afb8fe3f0295358f70e3a69fdb"
  path       = "FAST25-release/traces/conversation_trace.jsonl"
  sha256     = "b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df"
  rows       = 12_031
  slice { start = 0 rows = 5_000 sha256 = "c2157405477e02aeaaa01e5fcc9794bd9ac146f64643a03aef067853471356b0" }
}

row vllm-aggregated {
  family = window
  engine = vllm
  topology aggregated { workers = 4 }
  evidence { preemptions = 1..3 }
}
"""


class Session:
    """A client and its server, and the diagnostics that came."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("test", "1")
        self.published: dict[str, list[types.Diagnostic]] = {}
        self.news = asyncio.Event()
        self.version = 1

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = list(params.diagnostics)
            self.news.set()

    @property
    def uri(self) -> str:
        return (self.folder / "one.campaign").as_uri()

    @property
    def document(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)

    async def start(self, text: str) -> None:
        (self.folder / "one.campaign").write_text(text, encoding="utf-8")
        (self.folder / "part.campaign").write_text(SHARED_PART, encoding="utf-8")
        await self.client.start_io(sys.executable, "-m", "aisimc_runtime", "lsp")
        item = types.ClientCompletionItemOptions(snippet_support=True)
        documents = types.TextDocumentClientCapabilities(
            completion=types.CompletionClientCapabilities(completion_item=item)
        )
        capabilities = types.ClientCapabilities(text_document=documents)
        await self.client.initialize_async(types.InitializeParams(capabilities, root_uri=self.folder.as_uri()))
        self.client.initialized(types.InitializedParams())
        opened = types.TextDocumentItem(self.uri, "campaign", self.version, text)
        await self.told(lambda: self.client.text_document_did_open(types.DidOpenTextDocumentParams(opened)))

    async def change(self, text: str) -> list[types.Diagnostic]:
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        await self.told(
            lambda: self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))
        )
        return self.published[self.uri]

    async def told(self, act: Callable[[], object]) -> None:
        self.news.clear()
        act()
        await asyncio.wait_for(self.news.wait(), 30)

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


def position_of(text: str, part: str, behind: bool = False) -> types.Position:
    """The position of the first occurrence of a part, in UTF-16 units."""
    at = text.index(part) + (len(part) if behind else 0)
    head = text[:at]
    line = head.rsplit("\n", 1)[-1]
    return types.Position(head.count("\n"), len(line.encode("utf-16-le")) // 2)


def run(folder: Path, act: Callable[[Session], Awaitable[Any]], text: str = CAMPAIGN) -> None:
    async def whole() -> None:
        session = Session(folder)
        await session.start(text)
        try:
            await act(session)
        finally:
            await session.stop()

    asyncio.run(asyncio.wait_for(whole(), 120))


def test_diagnostics_follow_the_text(tmp_path: Path) -> None:
    async def act(session: Session) -> None:
        assert session.published[session.uri] == []
        broken = CAMPAIGN.replace('editor: 😀" corpus = long', 'editor: 😀" corpus = short')
        (found,) = await session.change(broken)
        assert found.code == "AC0004 name.unknown"
        assert found.range.start == position_of(broken, "short")
        assert found.range.end == position_of(broken, "short", behind=True)
        assert await session.change(CAMPAIGN) == []

    run(tmp_path, act)


def test_an_import_is_read_as_the_editor_has_it(tmp_path: Path) -> None:
    async def act(session: Session) -> None:
        part = (session.folder / "part.campaign").as_uri()
        opened = types.TextDocumentItem(part, "campaign", 1, SHARED_PART)
        await session.told(lambda: session.client.text_document_did_open(types.DidOpenTextDocumentParams(opened)))
        document = types.VersionedTextDocumentIdentifier(2, part)
        changes = [types.TextDocumentContentChangeWholeDocument(SHARED_PART.replace("family window", "family wide"))]
        session.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))
        for _ in range(100):
            if session.published.get(session.uri):
                break
            await asyncio.sleep(0.05)
        assert next(found.code for found in session.published[session.uri]) == "AC0004 name.unknown"

    run(tmp_path, act)


@pytest.mark.parametrize(
    ("text", "behind", "some", "none"),
    [
        ("row x {\n  ", "row x {\n  ", {"engine", "topology", "evidence"}, {"wheel"}),
        ("row x {\n  engine = vllm\n  ", "vllm\n  ", {"input"}, {"engine"}),
        ("row x {\n  engine = ", "engine = ", {"vllm", "sglang", "trtllm"}, {"long"}),
        ("row x {\n  engine = sg", "engine = sg", {"sglang"}, set()),
        ("row x {\n  family = ", "family = ", {"window"}, {"conversation"}),
        ("row x {\n  input = ", "input = ", {"conversation"}, {"window"}),
        ("row x {\n  topology ", "topology ", {"aggregated", "disaggregated"}, {"engine"}),
        (
            "row x {\n  topology disaggregated {\n    ",
            "disaggregated {\n    ",
            {"prefill", "decode", "transfer"},
            set(),
        ),
        ("revision ", "revision ", {"baseline", "candidate"}, set()),
        ("performance {\n  rows = [", "rows = [", {"vllm-aggregated"}, set()),
        ("exclude {\n  ", "exclude {\n  ", {"/summary/wall_time_ms"}, set()),
    ],
)
def test_completion(tmp_path: Path, text: str, behind: str, some: set[str], none: set[str]) -> None:
    async def act(session: Session) -> None:
        whole = CAMPAIGN + "\n" + text
        await session.change(whole)
        head = CAMPAIGN + "\n" + text[: text.index(behind) + len(behind)]
        at = types.Position(head.count("\n"), len(head.rsplit("\n", 1)[-1]))
        found = await session.client.text_document_completion_async(types.CompletionParams(session.document, at))
        assert isinstance(found, types.CompletionList)
        labels = {item.label for item in found.items}
        assert some <= labels
        assert not none & labels

    run(tmp_path, act)


def test_hover_shows_where_values_come_from(tmp_path: Path) -> None:
    async def act(session: Session) -> None:
        at = position_of(CAMPAIGN, "vllm-aggregated")
        told = await session.client.text_document_hover_async(types.HoverParams(session.document, at))
        assert told is not None
        assert isinstance(told.contents, types.MarkupContent)
        assert "| `input` | `conversation` | family, part.campaign:9 |" in told.contents.value
        at = position_of(CAMPAIGN, "corpus")
        told = await session.client.text_document_hover_async(types.HoverParams(session.document, at))
        assert told is not None
        assert isinstance(told.contents, types.MarkupContent)
        assert "`preflight`" in told.contents.value

    run(tmp_path, act)


def test_hover_explains_a_broken_rule(tmp_path: Path) -> None:
    async def act(session: Session) -> None:
        broken = CAMPAIGN.replace("workers = 4", "workers = 1")
        await session.change(broken)
        at = position_of(broken, "workers = 1", behind=True)
        told = await session.client.text_document_hover_async(types.HoverParams(session.document, at))
        assert told is not None
        assert isinstance(told.contents, types.MarkupContent)
        assert "row.observable" in told.contents.value

    run(tmp_path, act)


def test_definition_references_and_rename_reach_into_imports(tmp_path: Path) -> None:
    async def act(session: Session) -> None:
        part = (session.folder / "part.campaign").as_uri()
        at = position_of(CAMPAIGN, "window")
        found = await session.client.text_document_definition_async(types.DefinitionParams(session.document, at))
        assert isinstance(found, list)
        assert [(one.uri, one.range.start.line) for one in found if isinstance(one, types.Location)] == [(part, 7)]
        at = position_of(CAMPAIGN, "conversation {")
        context = types.ReferenceContext(include_declaration=True)
        used = await session.client.text_document_references_async(types.ReferenceParams(context, session.document, at))
        assert used is not None
        assert {one.uri for one in used} == {part, session.uri}
        edit = await session.client.text_document_rename_async(types.RenameParams(session.document, at, "talk"))
        assert edit is not None
        assert edit.changes is not None
        assert {uri: len(edits) for uri, edits in edit.changes.items()} == {part: 1, session.uri: 1}
        at = position_of(CAMPAIGN, "part.campaign")
        found = await session.client.text_document_definition_async(types.DefinitionParams(session.document, at))
        assert isinstance(found, list)
        assert [one.uri for one in found if isinstance(one, types.Location)] == [part]

    run(tmp_path, act)


def test_format_and_code_actions(tmp_path: Path) -> None:
    async def act(session: Session) -> None:
        loose = CAMPAIGN.replace("  wheel  = ", " wheel=")
        await session.change(loose)
        options = types.FormattingOptions(2, True)
        edits = await session.client.text_document_formatting_async(
            types.DocumentFormattingParams(session.document, options)
        )
        assert edits is not None
        assert [edit.new_text for edit in edits] == [CAMPAIGN]
        broken = CAMPAIGN.replace("engine = vllm", "engine: vllm")
        (found,) = await session.change(broken)
        context = types.CodeActionContext([found])
        actions = await session.client.text_document_code_action_async(
            types.CodeActionParams(session.document, found.range, context)
        )
        assert actions is not None
        kinds = [action.kind for action in actions if isinstance(action, types.CodeAction)]
        assert kinds == [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]

    run(tmp_path, act)

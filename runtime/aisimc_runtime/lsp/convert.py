"""From what the compiler says to what the protocol says."""

from __future__ import annotations

from lsprotocol import types

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.editor.completion import Proposal
from aisimc_compiler.source import Source
from aisimc_runtime.lsp.documents import uri_of
from aisimc_runtime.lsp.positions import Encoding, position, span_range

_KINDS = {
    "attribute": types.CompletionItemKind.Property,
    "block": types.CompletionItemKind.Struct,
    "word": types.CompletionItemKind.EnumMember,
    "name": types.CompletionItemKind.Reference,
}


def diagnostic(found: Diagnostic, code: str, encoding: Encoding) -> types.Diagnostic:
    """One diagnostic, its notes and help below the message."""
    lines = [found.message, *(f"note: {note}" for note in found.notes)]
    if found.help:
        lines.append(f"help: {found.help}")
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri_of(label.span.source.name), span_range(label.span, encoding)), label.message
        )
        for label in found.secondary
    ]
    return types.Diagnostic(
        span_range(found.span, encoding),
        "\n".join(lines),
        types.DiagnosticSeverity.Error if found.severity == "error" else types.DiagnosticSeverity.Warning,
        code=f"{code} {found.rule}".strip(),
        source="aisimc",
        related_information=related or None,
    )


def completion(
    proposal: Proposal, source: Source, offset: int, snippets: bool, encoding: Encoding
) -> types.CompletionItem:
    """One completion, as a snippet where the client takes them."""
    insert = proposal.insert if snippets else proposal.insert.split("$")[0].rstrip('{[\n" ')
    place = types.Range(position(source, proposal.start, encoding), position(source, offset, encoding))
    return types.CompletionItem(
        proposal.label,
        kind=_KINDS[proposal.kind],
        detail=("required: " if proposal.required and proposal.kind == "attribute" else "") + proposal.detail,
        insert_text_format=types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText,
        sort_text=f"{0 if proposal.required else 1}{proposal.label}",
        text_edit=types.TextEdit(place, insert),
    )


def fix_title(found: Diagnostic) -> str:
    """What a quick fix is called."""
    assert found.replacement is not None
    text = found.replacement.text.strip()
    if found.help and len(found.help) <= 80:
        return found.help[0].upper() + found.help[1:]
    return f"Replace by `{text}`" if text and "\n" not in text else "Mend it"

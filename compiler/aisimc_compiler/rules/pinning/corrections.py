"""Determinism corrections: for both arms, pinned, and needed (`pin.correction`)."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Correction
from aisimc_compiler.rules.digests import blank_value, sha256_fault


def correction(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.correction`: built in by name and needed, or a patch with its checksum."""
    if campaign.determinism is None:
        return
    for entry in campaign.determinism.corrections:
        yield from _correction(campaign, entry)


def _correction(campaign: Campaign, entry: Correction) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    built_in = entry.name.value == closed.BUILT_IN_CORRECTION
    kinds = {revision.kind for revision in campaign.revisions.values()}
    if built_in and (entry.patch or entry.sha256):
        extra = entry.patch or entry.sha256
        assert extra is not None
        yield refuse_value(
            "pin.correction", extra, f"`{entry.name.value}` is built in and takes no patch", label="not a patch"
        )
    elif not built_in and "patch" not in entry.touched:
        yield _not_built_in(entry)
    elif not built_in:
        blank_patch = blank_value("pin.correction", entry.patch, "the correction's patch is empty")
        if blank_patch:
            yield blank_patch
        if entry.patch is not None and "sha256" not in entry.touched:
            yield refuse_value(
                "pin.correction",
                entry.patch,
                "the correction's patch is named without its SHA-256",
                label="a file can be edited",
                help='add `sha256 = "…"`; `aisimc pin` computes it',
            )
        if kinds == {"wheel"}:
            yield refuse_value(
                "pin.correction", entry.name, "a patch cannot be applied to a published wheel", label="nothing is built"
            )
    digest = sha256_fault("pin.correction", entry.sha256, "the patch") if not built_in else None
    if digest:
        yield digest


def _not_built_in(entry: Correction) -> Diagnostic:
    from aisimc_compiler.model.nearest import nearest
    from aisimc_compiler.rules.refusal import did_you_mean, refuse_value

    meant = nearest(entry.name.value, (closed.BUILT_IN_CORRECTION,))
    return refuse_value(
        "pin.correction",
        entry.name,
        f"`{entry.name.value}` is no built-in correction, and names no patch",
        label=f"built in is `{closed.BUILT_IN_CORRECTION}`",
        help=did_you_mean(meant, 'add `patch = "…"` and its `sha256`'),
        replace=meant,
    )


def needless_correction(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.correction`: `stable_request_identity` corrects wheels; what is built here needs no such thing."""
    kinds = {revision.kind for revision in campaign.revisions.values()}
    if campaign.determinism is None or "" in kinds or "wheel" in kinds or not kinds:
        return
    from aisimc_compiler.rules.refusal import refuse_value

    for entry in campaign.determinism.corrections:
        if entry.name.value == closed.BUILT_IN_CORRECTION and not (entry.patch or entry.sha256):
            yield refuse_value(
                "pin.correction",
                entry.name,
                "`stable_request_identity` is needless here: the runner that is built honours `canonical_v1` itself",
                label="corrects wheels",
                help="remove the correction",
            )

"""What the arms are to each other: distinct, and related in a way that is said (`pin.distinct`, `pin.relation`)."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model.campaign import Campaign, Given, Revision
from aisimc_compiler.rules.digests import blank
from aisimc_compiler.rules.pinning.identity import identity, main_value, repository_identity, same_wheel


def distinct(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.distinct`: the arms differ, unless the campaign says that they are one."""
    baseline = campaign.revisions.get("baseline")
    candidate = campaign.revisions.get("candidate")
    if baseline is None or candidate is None or campaign.self_check is None:
        return  # in a fragment, `self_check` is said by the campaign that imports it
    same = one_revision(baseline, candidate)
    if same is None:
        return
    from aisimc_compiler.rules.refusal import refuse_value

    check = campaign.self_check
    if same and not check.value:
        yield refuse_value(
            "pin.distinct",
            main_value(candidate),
            "the candidate is the same revision as the baseline",
            label="the baseline's revision again",
            help="name the revision that is to be qualified, or say `self_check = true` in the campaign",
            secondary=(Label(main_value(baseline).span, "the baseline"),),
        )
    elif not same and check.value:
        yield refuse_value(
            "pin.distinct",
            check,
            "`self_check = true` says that both arms are one revision, and they are two",
            label="not a self check",
            help="remove it, or name one revision in both arms",
            secondary=(
                Label(main_value(baseline).span, "the baseline"),
                Label(main_value(candidate).span, "the candidate"),
            ),
        )


def one_revision(baseline: Revision, candidate: Revision) -> bool | None:
    """Whether the arms are one revision; None where that cannot be told."""
    left, right = identity(baseline), identity(candidate)
    if left is None or right is None:
        return None
    return left == right or same_wheel(left, right)


def relation(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.relation`: ancestry is claimed where git can verify it, or the relation is written down."""
    from aisimc_compiler.rules.refusal import refuse, refuse_name

    baseline = campaign.revisions.get("baseline")
    candidate = campaign.revisions.get("candidate")
    mistaken = campaign.arms_written > len(campaign.revisions)  # an arm was refused: it may be another one
    if baseline is not None and baseline.relation is not None and not mistaken:
        yield refuse_name(
            "pin.relation",
            baseline.relation,
            "the relation is said by the candidate: it is what the candidate is to the baseline",
            label="stands in the baseline",
            help="move it to `revision candidate`",
        )
    if candidate is None:
        return
    if candidate.relation is not None:
        yield from _stated(candidate.relation, candidate, baseline)
    elif "relation" not in candidate.touched and not _of_one(campaign, baseline, candidate):
        misplaced = mistaken or (baseline is not None and "relation" in baseline.touched)
        if not campaign.fragment and not misplaced:
            yield refuse(
                "pin.relation",
                candidate.arm.span,
                "how the candidate is related to the baseline is not said",
                label="`relation` is missing",
                help='add `relation = ancestor` when the baseline is an ancestor in git, else say it: `relation = "…"`',
            )


def _of_one(campaign: Campaign, baseline: Revision | None, candidate: Revision) -> bool:
    """Whether the arms are one revision, as the campaign or their pins say, so that there is no relation to state."""
    if campaign.self_check is None or campaign.self_check.value:
        return True
    return baseline is not None and bool(one_revision(baseline, candidate))


def _stated(given: Given[str], candidate: Revision, baseline: Revision | None) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    if not candidate.relation_is_word:
        if blank(given.value):
            yield refuse_value("pin.relation", given, "the relation is empty", label="says nothing")
        elif given.value.strip().lower() == "ancestor":
            yield refuse_value(
                "pin.relation",
                given,
                "a claimed ancestry is verified in git, and a string is not",
                label="a string is taken as words",
                help="write `ancestor` without quotes for checkouts of one repository; else say it in words",
            )
        return
    if given.value != "ancestor":
        yield refuse_value(
            "pin.relation",
            given,
            f"`{given.value}` is no relation",
            label="takes `ancestor`, or a string in words",
            help="write `ancestor`, or say the relation in double quotes",
        )
    elif candidate.kind and (baseline is None or baseline.kind):
        why = _no_ancestry(candidate, baseline)
        if why:
            yield refuse_value(
                "pin.relation",
                given,
                f"ancestry cannot be verified: {why}",
                label="git cannot say",
                help='say the relation in words: `relation = "…"`',
            )


def _no_ancestry(candidate: Revision, baseline: Revision | None) -> str:
    kinds = {revision.kind for revision in (candidate, baseline) if revision}
    if kinds != {"checkout"}:
        return f"{'wheels record' if 'wheel' in kinds else 'embedded sources record'} none"
    if baseline and baseline.repository and candidate.repository:
        left = repository_identity(baseline.repository.value)
        if left != repository_identity(candidate.repository.value):
            return "the arms come from two repositories"
    return ""

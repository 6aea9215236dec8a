"""`agentsandbox skills proposals`: decide on the changes that agents proposed."""

from __future__ import annotations

from agentsandbox.cli.printing import print_json, print_table, report, visible, words_of
from agentsandbox.errors import SkillError, SkillNotFoundError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from agentsandbox.skills.trust.proposals import Proposal, ProposalStore, SkillVersion


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their arguments."""
    actions = parser.add_subparsers(dest="deed", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="list the undecided proposals")
    listing.add_argument("--all", action="store_true", help="list the decided ones as well")
    show = actions.add_parser("show", help="show a proposal, with invisible characters written out")
    approve = actions.add_parser("approve", help="apply a proposal to its skill, as a new version")
    reject = actions.add_parser("reject", help="reject a proposal")
    history = actions.add_parser("history", help="list the versions of a skill")
    revert = actions.add_parser("revert", help="undo a version and all later ones")
    for action in (listing, show, approve, reject, history, revert):
        action.add_argument("--store", required=True, metavar="DIR", help="the proposals' folder")
    for action in (listing, show, history):
        action.add_argument("--json", action="store_true", help="write JSON")
    for action in (show, approve, reject):
        action.add_argument("id", metavar="ID", help="the proposal")
    for action in (history, revert):
        action.add_argument("skill", metavar="SKILL", help="the skill's name")
    revert.add_argument("number", type=int, metavar="VERSION", help="the version to undo")
    for action in (approve, revert):
        action.add_argument("directory", metavar="DIR", help="the skill, or a folder of skills")
        action.add_argument("--reviewer", metavar="NAME", help="who decides (the user's name)")


def run_proposals(options: argparse.Namespace) -> int:
    """Run one of the actions; return the exit status."""
    from agentsandbox.skills.trust.proposals import ProposalStore

    try:
        _run(ProposalStore(options.store), options)
    except (SkillError, OSError) as error:
        return report([words_of(error)])
    return 0


def _run(store: ProposalStore, options: argparse.Namespace) -> None:
    if options.deed == "list":
        _list(store.entries(None if options.all else "pending"), options.json)
    elif options.deed == "show":
        _show(store.show(options.id), options.json)
    elif options.deed == "reject":
        print(f"rejected {store.reject(options.id).id}")
    elif options.deed == "history":
        _history(store.history(options.skill), options.json)
    else:
        import getpass

        reviewer = options.reviewer or getpass.getuser()
        skill = options.skill if options.deed == "revert" else store.show(options.id).skill
        folder = _folder(options.directory, skill)
        if options.deed == "approve":
            version = store.approve(options.id, folder, reviewer=reviewer)
        else:
            version = store.revert(skill, options.number, folder, reviewer=reviewer)
        print(f"{version.skill}: version {version.version}, {version.before} -> {version.after}")


def _folder(directory: str, skill: str) -> str:
    """Return the folder of that skill."""
    from agentsandbox.cli.skills import load_skills, skill_folders

    for folder in skill_folders(directory):
        loaded, _ = load_skills([folder])
        if loaded and loaded[0].name == skill:
            return folder
    raise SkillNotFoundError(f"{directory}: there is no skill {skill!r}")


def _list(proposals: list[Proposal], as_json: bool) -> None:
    if as_json:
        print_json([_plain(each) for each in proposals])
        return
    firsts = [each.justification.strip().split("\n", 1)[0][:80] for each in proposals]
    rows = [(each.id, each.status, first) for each, first in zip(proposals, firsts, strict=True)]
    print_table(("proposal", "status", "justification"), rows)


def _show(proposal: Proposal, as_json: bool) -> None:
    if as_json:
        print_json(_plain(proposal))
        return
    print(f"{proposal.id} ({proposal.status})\nskill: {proposal.skill}")
    print(f"created: {visible(proposal.created)}\nbase: {visible(proposal.base)}")
    for title, text in (
        ("justification", proposal.justification),
        ("evidence", proposal.evidence),
        ("diff", proposal.diff),
    ):
        if text:
            print(f"\n{title}:\n{visible(text)}")


def _history(versions: list[SkillVersion], as_json: bool) -> None:
    if as_json:
        print_json([_plain(each) for each in versions])
        return
    print_table(
        ("version", "time", "reviewer", "cause"),
        [(str(each.version), each.time, each.reviewer, each.cause) for each in versions],
    )


def _plain(value: Proposal | SkillVersion) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(value)

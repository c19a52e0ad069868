"""Rules for the content view: which view a host's pages are given, and what people keep or drop."""

from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from apps.dashboard.board import Board, link, shown, text_of
from apps.dashboard.forms import own_path
from apps.dashboard.tables import Column, Table
from extract.registry import names
from proxy.views.rules import EffectiveRule, Rule, RuleError

METHOD_NAMES = tuple(names())


def decision_about(rule: EffectiveRule, digest: str) -> str:
    """Return what rules say about a block by name: kept, dropped, or nothing."""
    named = f"block:{digest}"
    return "dropped" if named in rule.drop else "kept" if named in rule.keep else ""


def rules_table(board: Board, request: Request, whole: bool) -> Table:
    """The rules in the order in which they apply."""
    board.rules.refresh()
    rows = [
        {
            "host": rule.host,
            "link": link("/rules", host=rule.host),
            "view": rule.view or None,
            "method": rule.method or None,
            "keep": "\n".join(rule.keep) or None,
            "drop": "\n".join(rule.drop) or None,
        }
        for rule in board.rules.rules.rules
    ]
    columns = (
        Column("host", "Hosts", "url"),
        Column("view", "View"),
        Column("method", "Method"),
        Column("keep", "Keep", "code"),
        Column("drop", "Drop", "code"),
    )
    return shown(
        Table("Rules", columns, rows, "/rules", links={"host": "link"}, n_rows=len(rows), nothing="No rules yet."),
        request,
        "/rules",
    )


def rule_for(board: Board, host: str) -> Rule | None:
    """Return the rule with this pattern, an empty one when there is none, None when there is no pattern."""
    board.rules.refresh()
    return board.rules.rules.by_host.get(host) or Rule(host) if host else None


def rules(board: Board, request: Request) -> Response:
    """Show the rules and an editor, or take what the editor says."""
    if request.method == "POST":
        return _take(board, request, request.scope["form"])
    return _page(board, request, text_of(request, "host"))


def _page(
    board: Board, request: Request, host: str, *, wrong: str = "", given: Mapping[str, str] | None = None
) -> Response:
    try:
        rule = rule_for(board, host) or Rule("*")
    except RuleError as exc:
        rule, wrong = Rule("*"), str(exc)
    form = {
        "host": rule.host if host else "",
        "view": rule.view,
        "method": rule.method,
        "keep": "\n".join(rule.keep),
        "drop": "\n".join(rule.drop),
    } | dict(given or {})
    return board.show(
        request,
        "rules.html",
        400 if wrong and given else 200,
        table_=rules_table(board, request, False),
        rule=form,
        methods=METHOD_NAMES,
        wrong=wrong or board.rules.error,
        file=str(board.rules.path),
    )


def _take(board: Board, request: Request, form: Mapping[str, str]) -> Response:
    fields = {name: form.get(name, "") for name in ("host", "view", "method", "keep", "drop")}
    host = fields["host"].strip()
    try:
        if "delete" in form:
            board.rules.put(Rule(host))
        else:
            board.rules.put(
                Rule(host, fields["view"], fields["method"], _lines(fields["keep"]), _lines(fields["drop"]))
            )
    except RuleError as exc:
        return _page(board, request, "", wrong=str(exc), given=fields)
    return RedirectResponse(own_path(form.get("then", ""), link("/rules")), 303)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def decide(board: Board, request: Request) -> Response:
    """Keep or drop a block on all pages of a host, or leave it to the method again."""
    form = request.scope["form"]
    named, host = f"block:{form.get('block', '')}", form.get("host", "")
    try:
        rule = board.rules.current().by_host.get(host) or Rule(host)
        keep = tuple(part for part in rule.keep if part != named)
        drop = tuple(part for part in rule.drop if part != named)
        if form.get("decision") == "keep":
            keep += (named,)
        elif form.get("decision") == "drop":
            drop += (named,)
        board.rules.put(replace(rule, keep=keep, drop=drop))
    except RuleError as exc:
        return _page(board, request, "", wrong=str(exc), given={"host": host})
    return RedirectResponse(own_path(form.get("then", ""), link("/rules")), 303)

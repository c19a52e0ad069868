"""Text that follows from Settings and the commands: config.yaml, docs/settings.md, docs/commands.md.

`python -m apps.cli.documents` writes the three; a test compares them.
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from apps.cli import COMMANDS, pagemason
from settings import ENVIRONMENT, SPECS, default_of

_CONFIG = """\
# Pagemason's settings, all at their defaults.
#
# Later sources win: the defaults, this file, the environment ({environment}MODE=replay), flags (--mode replay),
# --set. The file is the one that --config or {environment}CONFIG names, else config.yaml in
# $XDG_CONFIG_HOME/pagemason, else ./config.yaml. Sizes may be written as 64 MiB.
"""

_SETTINGS = """\
# Settings

Values come, later ones winning, from the defaults, the configuration file, environment variables, flags and `--set`.

- The file is the one that `--config` or `{environment}CONFIG` names, else `config.yaml` in
  `$XDG_CONFIG_HOME/pagemason`, else `./config.yaml`. `config.yaml` at the top of the source explains every setting and
  can be copied.
- A variable is the name in capitals after `{environment}`: `{environment}LISTEN_PORT=3128`. Lists are written with
  commas, mappings as `HOST=SITE,HOST=SITE`.
- `pagemason run --set KEY=VALUE` takes any setting, and any option of mitmproxy's. A name that both have with
  different meanings is refused: `--set pagemason_mode=replay` means ours. In the file, mitmproxy's options go under
  `mitmproxy:`.
- With `mitmdump -s proxy/addon.py` the settings are options with our prefix: `--set pagemason_mode=replay`.
- Sizes may be written as `64 MiB`. A name that is no setting is an error that names the nearest one.

"""

_COMMANDS = """\
# Commands

Exit codes: 0 done, 1 something was found or failed, 2 wrong usage, 130 and 143 interrupted. Errors are one sentence on
standard error; `{environment}TRACEBACK=1` shows where an unexpected one came from. Long work shows a progress bar on a
terminal.

Every command also takes `--config FILE` and `--store URL`, which are explained under [settings](settings.md).
"""

_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def config_yaml() -> str:
    """Return a configuration file that says every setting's default and explains it."""
    parts = [_CONFIG.format(environment=ENVIRONMENT)]
    for name, spec in SPECS.items():
        about = textwrap.wrap(spec.metadata["help"], 110, initial_indent="# ", subsequent_indent="# ")
        parts.append("\n".join([*about, f"{name}: {_yaml(name, default_of(spec))}", ""]))
    return "\n".join(parts)


def _yaml(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {v}" for k, v in value.items()) + "}"
    if name.endswith("_bytes"):
        return next((f"{value // size} {unit}" for size, unit in _SIZES if value and value % size == 0), str(value))
    return '""' if value == "" else str(value)


def settings_md() -> str:
    """Return docs/settings.md."""
    rows = ["| setting | default | flag | meaning |", "|---|---|---|---|"]
    for name, spec in SPECS.items():
        flag = f"`--{name.replace('_', '-')}`" if spec.metadata["flag"] else ""
        meaning = spec.metadata["help"].replace("|", "\\|").replace("*", "\\*")
        rows.append(f"| `{name}` | `{_yaml(name, default_of(spec))}` | {flag} | {meaning} |")
    return _SETTINGS.format(environment=ENVIRONMENT) + "\n".join(rows) + "\n"


def commands_md() -> str:
    """Return docs/commands.md."""
    context = click.Context(pagemason, info_name="pagemason")
    parts = [_COMMANDS.format(environment=ENVIRONMENT)]
    for name in COMMANDS:
        command = pagemason.get_command(context, name)
        assert command is not None
        parts.extend(_sections(command, click.Context(command, info_name=name, parent=context), name))
    return "\n".join(parts)


def _sections(command: click.Command, context: click.Context, name: str) -> Iterator[str]:
    """Yield what is written about a command, and about those that it is a group of."""
    yield "\n".join([f"## {name}", "", *_usage(command, context), *_options(command, context)])
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _sections(inner, click.Context(inner, info_name=inner.name, parent=context), f"{name} {inner.name}")


def _usage(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"`{context.command_path} {' '.join(command.collect_usage_pieces(context))}`\n"
    for paragraph in re.split(r"\n\s*\n", (command.help or "").strip()):
        text = " ".join(paragraph.split()).replace("*", "\\*")
        yield textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        found = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if found is not None and not {"--help", "--config", "--store"} & set(parameter.opts):
            text = f"- `{found[0]}`: {found[1]}".replace("  [", " [").replace("*", "\\*")
            yield textwrap.fill(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    yield ""


DOCUMENTS = {"config.yaml": config_yaml, "docs/settings.md": settings_md, "docs/commands.md": commands_md}

if __name__ == "__main__":
    for name, text in DOCUMENTS.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text(), "utf-8")

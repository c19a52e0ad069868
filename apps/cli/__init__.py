"""The command line: one module a command, imported when it is asked for."""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import NoReturn

import click

COMMANDS = {
    "run": "apps.cli.run",
    "import": "apps.cli.imports",
    "export": "apps.cli.export",
    "ls": "apps.cli.ls",
    "cat": "apps.cli.cat",
    "show": "apps.cli.show",
    "similar": "apps.cli.similar",
    "diff": "apps.cli.diff",
    "stats": "apps.cli.stats",
    "analyze": "apps.cli.analyze",
    "check": "apps.cli.check",
    "purge": "apps.cli.purge",
    "compact": "apps.cli.compact",
    "gc": "apps.cli.collect",
    "extract": "apps.cli.extract_cmd",
    "batch": "apps.cli.batch",
    "train": "apps.cli.train_cmd",
    "methods": "apps.cli.methods_cmd",
    "experiment": "experiments.command",
    "init": "apps.cli.init",
    "dashboard": "apps.cli.dashboard",
    "doctor": "apps.cli.doctor",
}
"""Where each command is; each module has it as `command`."""


GARBAGE_OBJECTS = 50_000
"""New objects after which Python looks for garbage. Loading modules makes hundreds of thousands, all to stay: looking
at them every 700 takes a tenth of a start."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command


def _tell_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Tell which version this is, and end."""
    if asked and not context.resilient_parsing:
        from apps.cli.version import version

        click.echo(f"pagemason, version {version()}")
        context.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_tell_version, help="Show the version."
)
def pagemason() -> None:
    """A web cache proxy that knows pages are built from blocks.

    It stores each distinct block once and gives every page back byte for byte.
    """


def invoke(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code: 0 done, 1 found or failed, 2 wrong usage.

    Whatever goes wrong is one sentence on standard error; PAGEMASON_TRACEBACK=1 shows where it came from.
    """
    try:
        code = pagemason.main(list(arguments), "pagemason", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as exc:
        print(exc.format_message(), file=sys.stderr)
        return 2
    except click.ClickException as exc:
        return _sentence(exc.format_message(), exc.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _sentence("interrupted", 130)
    except BrokenPipeError:
        # Whoever read our output has gone; what is buffered has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as exc:
        if os.environ.get("PAGEMASON_TRACEBACK"):
            raise
        return _sentence(*_explained(exc))


def _explained(exc: Exception) -> tuple[str, int]:
    from proxy.views.rules import RuleError
    from settings import SettingError
    from store.base import StoreError

    if isinstance(exc, SettingError | RuleError):
        return str(exc), 2
    if isinstance(exc, StoreError):
        return str(exc), 1
    if isinstance(exc, OSError):
        return f"{exc.filename}: {exc.strerror}" if exc.filename else str(exc.strerror or exc), 1
    return f"unexpected {type(exc).__name__}: {exc} (PAGEMASON_TRACEBACK=1 shows more)", 1


def _sentence(text: str, code: int) -> int:
    print("pagemason:", " ".join(text.split()), file=sys.stderr)
    return code


def _open_what_is_closed() -> None:
    """Let streams that the program was started without lead nowhere: else a database is opened under the number of one,
    and what is printed goes into it."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """End as after an error: what is half-written is taken away."""
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command that the process was started with."""
    gc.set_threshold(GARBAGE_OBJECTS)
    _open_what_is_closed()
    signal.signal(signal.SIGTERM, _end)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    code = invoke(sys.argv[1:])
    gc.freeze()  # what is left ends with the process: to look for garbage in it takes a sixth of a start
    sys.exit(code)

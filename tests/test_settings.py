"""Settings come from one declaration and five sources, and bad ones are named."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settings import SPECS, SettingError, Settings, coerce, default_of, load

NOTHING: dict[str, str] = {}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Start without the configuration of whoever runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_later_source_wins_over_an_earlier_one(home: Path) -> None:
    config = home / "own.yaml"
    config.write_text("listen_port: 1\ndashboard_port: 1\nqueue_entries: 1\n")
    environ = {"PAGEMASON_DASHBOARD_PORT": "2", "PAGEMASON_QUEUE_ENTRIES": "2", "PAGEMASON_MODE": "record"}
    flags = {"queue_entries": 3, "mode": "replay", "view": None}
    found = load(config, flags=flags, assignments=["pagemason_mode=offline"], environ=environ)
    assert (found.listen_port, found.dashboard_port, found.queue_entries) == (1, 2, 3)
    assert (found.mode, found.view) == ("offline", "full")


def test_without_a_store_the_data_directory_holds_one(home: Path) -> None:
    assert load(environ=NOTHING).store == f"sqlite:///{home}/data/pagemason/pagemason.db"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_body_bytes", "3 MiB", 3 << 20),
        ("max_body_bytes", "10K", 10 << 10),
        ("serve_private", "Yes", True),
        ("never_cache", "a.test, *.b.test", ("a.test", "*.b.test")),
        ("site_of", "m.a.test=a.test, b.test=a.test", {"m.a.test": "a.test", "b.test": "a.test"}),
        ("heuristic_fraction", "0.25", 0.25),
        ("proxy_mode", "reverse:http://127.0.0.1:8000", "reverse:http://127.0.0.1:8000"),
    ],
)
def test_a_text_spells_a_value(name: str, text: str, value: Any) -> None:
    assert coerce(SPECS[name], text, name) == value


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"flags": {"listen_port": "70000"}}, "--listen-port: '70000' is not a whole number from 0 to 65535"),
        ({"flags": {"mode": "fast"}}, "--mode: 'fast' is not one of cache, record, replay, offline"),
        ({"environ": {"PAGEMASON_SERVE_PRIVATE": "maybe"}}, "PAGEMASON_SERVE_PRIVATE: 'maybe' is neither true nor"),
        ({"environ": {"PAGEMASON_LISTN_PORT": "1"}}, "PAGEMASON_LISTN_PORT: 'listn_port' is no setting; did you mean"),
        ({"assignments": ["queue_size=3"]}, "--set: 'queue_size' is no setting; did you mean queue_bytes?"),
        ({"assignments": ["ssl_insecur=1"]}, "did you mean ssl_insecure?"),
        ({"assignments": ["listen_port"]}, "--set: 'listen_port' is not KEY=VALUE"),
        ({"assignments": ["mode=replay"]}, "--set: 'mode' is an option of mitmproxy too: write pagemason_mode"),
        ({"flags": {"proxy_mode": "sideways"}}, "--proxy-mode: 'sideways' is not regular, reverse:URL"),
        ({"flags": {"site_of": "a.test"}}, "--site-of: 'a.test' is not a mapping"),
    ],
)
def test_a_bad_value_is_named_with_what_was_expected(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as error:
        load(mitmproxy_options={"mode", "ssl_insecure"}, **{"environ": NOTHING, **arguments})
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"moed: cache", "own.yaml: 'moed' is no setting; did you mean mode?"),
        (b"mode: [1", "own.yaml: is not YAML: "),
        (b"- mode", "own.yaml: is not a list of settings"),
        (b"listen_port: .inf", "own.yaml: listen_port: inf is not a whole number"),
        (b"\xff\xfe\x00", "own.yaml: is not YAML"),
        (None, "own.yaml: cannot be read: No such file"),
    ],
)
def test_a_bad_configuration_file_is_named(home: Path, content: bytes | None, sentence: str) -> None:
    if content is not None:
        (home / "own.yaml").write_bytes(content)
    with pytest.raises(SettingError) as error:
        load(home / "own.yaml", environ=NOTHING)
    assert sentence in str(error.value)


def test_a_config_yaml_of_another_program_is_left_alone(home: Path) -> None:
    (home / "config.yaml").write_text("title: my blog\n")
    assert load(environ=NOTHING) == Settings()


def test_a_config_yaml_of_ours_in_the_working_directory_is_read(home: Path) -> None:
    (home / "config.yaml").write_text("mode: replay\n")
    assert load(environ=NOTHING).mode == "replay"


def test_options_of_mitmproxy_are_passed_on(home: Path) -> None:
    (home / "config.yaml").write_text("mitmproxy:\n  ssl_insecure: true\n  http2: false\n")
    found = load(environ=NOTHING, assignments=["http2=true"], mitmproxy_options={"http2"})
    assert found.mitmproxy == {"ssl_insecure": "true", "http2": "true"}


def test_a_kubernetes_service_variable_is_not_a_setting() -> None:
    assert load(environ={"PAGEMASON_SERVICE_HOST": "10.0.0.1", "PAGEMASON_PORT": "tcp://10.0.0.1:80"}) == Settings()


@given(st.sampled_from(sorted(SPECS)), st.text() | st.integers() | st.floats() | st.none() | st.lists(st.text()))
def test_any_value_is_taken_or_refused_with_a_sentence(name: str, value: Any) -> None:
    try:
        taken = coerce(SPECS[name], value, name)
    except SettingError as exc:
        sentence = str(exc)
    else:
        sentence = f"{name}: " if coerce(SPECS[name], taken, name) == taken else "not the same when taken again"
    assert sentence.startswith(f"{name}: ")


def test_defaults_are_valid_and_explained() -> None:
    for name, spec in SPECS.items():
        assert coerce(spec, default_of(spec), name) == default_of(spec)
        assert spec.metadata["help"].endswith(".")

"""What an editor's settings may be."""

from __future__ import annotations

from typing import Any

import pytest

from guardfix.server.server_settings import ServerSettings

GIVEN: list[Any] = [
    pytest.param(None, ServerSettings(), [], id="nothing"),
    pytest.param({}, ServerSettings(), [], id="none"),
    pytest.param({"debounce": 0, "workspace": True}, ServerSettings(0, True), [], id="some"),
    pytest.param({"guardfix": {"codeLens": False}}, ServerSettings(codeLens=False), [], id="under the name"),
    pytest.param({"command": ["guardfix"]}, ServerSettings(), [], id="the client's own"),
    pytest.param({"debounce": -1}, ServerSettings(), ["`guardfix.debounce` can't be -1; it stays 150"], id="too small"),
    pytest.param(
        {"debounce": True, "inlayHints": False},
        ServerSettings(inlayHints=False),
        ["`guardfix.debounce` can't be True; it stays 150"],
        id="another kind",
    ),
    pytest.param(["x"], ServerSettings(), [], id="no table"),
]


@pytest.mark.parametrize(("given", "settings", "wrong"), GIVEN)
def test_settings_of_an_editor_that_set_nothing_before(given: Any, settings: ServerSettings, wrong: list[str]) -> None:
    assert ServerSettings.of(given) == (settings, wrong)


OVER_INITIAL: list[Any] = [
    pytest.param(None, ServerSettings(10, inlayHints=False), [], id="an editor without an answer"),
    pytest.param({"clangd": {"path": "x"}}, ServerSettings(10, inlayHints=False), [], id="another server's"),
    pytest.param({"guardfix": {"debounce": 20}}, ServerSettings(20, inlayHints=False), [], id="one of two"),
    pytest.param({"inlayHints": True}, ServerSettings(10), [], id="the other one"),
    pytest.param(
        {"debounce": "x"},
        ServerSettings(10, inlayHints=False),
        ["`guardfix.debounce` can't be 'x'; it stays 10"],
        id="wrong",
    ),
]


@pytest.mark.parametrize(("given", "settings", "wrong"), OVER_INITIAL)
def test_the_initialization_options_hold_where_the_settings_say_nothing(
    given: Any, settings: ServerSettings, wrong: list[str]
) -> None:
    assert ServerSettings.of(given, ServerSettings(10, inlayHints=False)) == (settings, wrong)

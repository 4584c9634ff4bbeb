"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { serverCommand, startFailure, statusOf, LANGUAGES } = require("../server_options");
const manifest = require("../package.json");

const COMMANDS = [
  ["the default", ["guardfix"], undefined, "guardfix", []],
  ["a module", ["python3", "-m", "guardfix"], "/src", "python3", ["-m", "guardfix"]],
  ["one of the folder", ["${workspaceFolder}/.venv/bin/guardfix"], "/a b", "/a b/.venv/bin/guardfix", []],
  ["nothing", [], "/src", "guardfix", []],
  ["nonsense", "guardfix; rm", "/src", "guardfix", []],
];

for (const [name, configured, folder, command, first] of COMMANDS) {
  test(`the command: ${name}`, () => {
    assert.deepStrictEqual(serverCommand(configured, folder), { command, args: [...first, "server", "--stdio"] });
  });
}

test("a failure says what to do", () => {
  assert.match(startFailure("guardfix", new Error("ENOENT")), /`guardfix`: ENOENT.*pip install 'guardfix\[server\]'/);
});

test("the status bar says what the server does", () => {
  assert.deepStrictEqual(statusOf("running"), {
    text: "$(shield) guardfix",
    tooltip: "The server of guardfix is running. Click to see its log.",
  });
  assert.strictEqual(statusOf("stopped", "not found").tooltip, "not found");
});

test("each language wakes the extension", () => {
  assert.deepStrictEqual(manifest.activationEvents, LANGUAGES.map((language) => `onLanguage:${language}`));
});

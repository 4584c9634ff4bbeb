// The client of guardfix's language server. All that it shows comes from there.
"use strict";

const vscode = require("vscode");
const { LanguageClient, State } = require("vscode-languageclient/node");
const { LANGUAGES, serverCommand, startFailure, statusOf } = require("./server_options");

let client;
let status;

function show(state, problem) {
  const { text, tooltip } = statusOf(state, problem);
  status.text = text;
  status.tooltip = tooltip;
}

async function start() {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const { command, args } = serverCommand(vscode.workspace.getConfiguration("guardfix").get("command"), folder);
  const options = {
    documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
    initializationOptions: vscode.workspace.getConfiguration("guardfix"),
    synchronize: { configurationSection: "guardfix" },
  };
  // `server --stdio` is part of the arguments: the transport adds none of its own.
  const executable = { command, args, options: { cwd: folder } };
  client = new LanguageClient("guardfix", "guardfix", { run: executable, debug: executable }, options);
  client.onDidChangeState(({ newState }) => show(State[newState].toLowerCase()));
  try {
    await client.start();
  } catch (error) {
    show("stopped", startFailure(command, error));
    vscode.window.showErrorMessage(startFailure(command, error));
  }
}

async function stop() {
  const ending = client;
  client = undefined;
  if (ending?.needsStop()) {
    await ending.stop();
  }
}

async function activate(context) {
  status = vscode.window.createStatusBarItem("guardfix", vscode.StatusBarAlignment.Right);
  status.name = "guardfix";
  status.command = "guardfix.showLog";
  show("starting");
  status.show();
  context.subscriptions.push(
    status,
    vscode.commands.registerCommand("guardfix.showLog", () => client?.outputChannel.show()),
    vscode.commands.registerCommand("guardfix.restart", async () => {
      await stop();
      await start();
    }),
    vscode.commands.registerCommand("guardfix.checkWorkspaceNow", () =>
      client?.sendRequest("workspace/executeCommand", { command: "guardfix.checkWorkspace", arguments: [] }),
    ),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("guardfix.command")) {
        await stop();
        await start();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };

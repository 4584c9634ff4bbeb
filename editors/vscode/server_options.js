// How the server is started. It knows nothing of VS Code, so that it can be tested without it.
"use strict";

/** The languages whose texts the server is told of. */
const LANGUAGES = ["cpp", "c", "cuda-cpp", "objective-cpp", "python"];

/**
 * The program and its arguments.
 * @param {unknown} configured the setting `guardfix.command`
 * @param {string | undefined} folder the first workspace folder
 * @returns {{ command: string, args: string[] }}
 */
function serverCommand(configured, folder) {
  const words = Array.isArray(configured) ? configured.filter((word) => typeof word === "string" && word) : [];
  const [command, ...args] = (words.length ? words : ["guardfix"]).map((word) =>
    folder === undefined ? word : word.split("${workspaceFolder}").join(folder),
  );
  return { command, args: [...args, "server", "--stdio"] };
}

/** What is said when the server could not be started. */
function startFailure(command, error) {
  const reason = error && error.message ? error.message : String(error);
  return (
    `guardfix could not be started with \`${command}\`: ${reason}. ` +
    "Install it with `pip install 'guardfix[server]'`, or say where it is in the setting `guardfix.command`."
  );
}

/** What the status bar shows of the server: `starting`, `running` or `stopped`, and why if it could not be started. */
function statusOf(state, problem) {
  const icon = { starting: "$(sync~spin)", running: "$(shield)", stopped: "$(warning)" }[state];
  return { text: `${icon} guardfix`, tooltip: problem ?? `The server of guardfix is ${state}. Click to see its log.` };
}

module.exports = { LANGUAGES, serverCommand, startFailure, statusOf };

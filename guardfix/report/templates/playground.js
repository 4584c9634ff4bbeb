"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const examples = JSON.parse(find("data").textContent);
  const [text, language, unsafe, answer, state] = ["text", "language", "unsafe", "answer", "state"].map(find);
  let asked = 0;
  let fixed = null;
  let waiting = 0;

  async function check() {
    clearTimeout(waiting);
    const mine = ++asked;
    answer.classList.add("old");
    state.textContent = "checking…";
    let said;
    try {
      const response = await fetch("check", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ text: text.value, language: language.value, unsafe: unsafe.checked }),
      });
      said = await response.json();
    } catch {
      said = { error: "guardfix serve doesn't answer; is it still running?" };
    }
    if (mine !== asked) return; // a later text is on its way
    answer.classList.remove("old");
    if (said.html) answer.innerHTML = said.html; // made, and escaped, by the server
    else {
      const failed = document.createElement("p");
      failed.className = "failed";
      failed.textContent = said.error;
      answer.replaceChildren(failed);
    }
    fixed = said.applied ? said.fixed : null;
    find("take").disabled = find("copy").disabled = fixed === null;
    state.textContent = said.error ? "" : `${said.findings.length} finding${said.findings.length === 1 ? "" : "s"}`;
  }

  const soon = () => { clearTimeout(waiting); waiting = setTimeout(check, 300); };
  text.addEventListener("input", soon);
  language.addEventListener("change", check);
  unsafe.addEventListener("change", check);
  document.querySelector(".editor").addEventListener("submit", (event) => { event.preventDefault(); check(); });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); check(); }
  });
  find("example").addEventListener("change", (event) => {
    const example = examples[event.target.value];
    if (!example) return;
    text.value = example.text;
    language.value = example.language;
    check();
  });
  find("take").addEventListener("click", () => { text.value = fixed; check(); });
  find("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(fixed);
    state.textContent = "Copied.";
  });
  check();
})();

"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const examples = JSON.parse(find("data").textContent);
  const [text, language, unsafe, answer, state] = ["text", "language", "unsafe", "answer", "state"].map(find);
  let asked = 0;
  let fixed = null;
  let waiting = 0;

  const lead = (row) => answer.querySelector(`[id^="line-${row}-"]`)?.scrollIntoView({ block: "start" });
  // Where the bundle of the editor is not there, the text area has line numbers and marks.
  const editor = globalThis.codeEditor?.(text, lead);
  const numbers = find("numbers");
  numbers.hidden = Boolean(editor);
  let marks = new Map();
  function number() {
    if (editor) return;
    const count = text.value.split("\n").length;
    numbers.replaceChildren(...Array.from({ length: count }, (_, at) => {
      const line = document.createElement("div");
      const one = marks.get(at + 1);
      line.textContent = String(at + 1);
      if (one) {
        line.className = `marked ${one.severity}`;
        line.title = `${one.rule}: ${one.message}`;
        line.addEventListener("click", () => lead(at + 1));
      }
      return line;
    }));
    numbers.scrollTop = text.scrollTop;
  }
  text.addEventListener("scroll", () => { numbers.scrollTop = text.scrollTop; });
  text.addEventListener("input", number);
  new ResizeObserver(() => { numbers.style.height = `${text.offsetHeight}px`; }).observe(text);

  function write(value) {
    text.value = value;
    editor?.show(value);
  }

  // The address holds the text, as long as it is short enough for one.
  const LONGEST = 8000;
  function keepAddress() {
    const kept = new URLSearchParams({ code: text.value, language: language.value, unsafe: unsafe.checked ? "1" : "" }).toString();
    history.replaceState(null, "", kept.length <= LONGEST ? `#${kept}` : location.pathname);
    find("share").disabled = kept.length > LONGEST;
  }
  const said = new URLSearchParams(location.hash.slice(1));
  if (said.get("code") !== null) {
    write(said.get("code"));
    language.value = said.get("language") || "";
    unsafe.checked = said.get("unsafe") === "1";
  }

  async function check() {
    clearTimeout(waiting);
    keepAddress();
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
    marks = new Map((said.findings || []).map((one) => [one.row, one]));
    number();
    editor?.colorAs(said.language);
    editor?.mark(said.findings || []);
    state.textContent = said.error ? "" : `${said.findings.length} finding${said.findings.length === 1 ? "" : "s"}`;
  }

  const soon = () => { clearTimeout(waiting); waiting = setTimeout(check, 300); };
  text.addEventListener("input", soon);
  language.addEventListener("change", check);
  unsafe.addEventListener("change", check);
  document.querySelector(".editor").addEventListener("submit", (event) => { event.preventDefault(); check(); });
  document.querySelector(".numbered").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); check(); }
  });
  find("example").addEventListener("change", (event) => {
    const example = examples[event.target.value];
    if (!example) return;
    write(example.text);
    language.value = example.language;
    check();
  });
  find("take").addEventListener("click", () => { write(fixed); check(); });
  find("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(fixed);
    state.textContent = "Copied.";
  });
  // The address has this server's secret: what can be passed on is the part behind it.
  find("share").addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.hash);
    state.textContent = "Copied: add it to the address of any playground.";
  });
  number();
  check();
})();

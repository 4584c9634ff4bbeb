"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const data = JSON.parse(find("data").textContent);
  const findings = data.findings;
  const KEYS = ["rule", "folder", "context", "confidence", "fix", "verdict"];

  // Elements.
  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  function highlighted([text, parts]) {
    const pieces = [];
    let at = 0;
    for (const part of parts ? parts.split(",") : []) {
      const length = parseInt(part, 10);
      const kind = part.slice(String(length).length);
      const piece = text.slice(at, at + length);
      pieces.push(kind ? make("span", { class: kind }, piece) : piece);
      at += length;
    }
    pieces.push(text.slice(at));
    return pieces;
  }

  // Messages write code in backticks.
  const spoken = (text) => text.split(/`([^`]+)`/).map((part, number) => (number % 2 ? make("code", {}, part) : part));

  const safeAddress = (address) => (/^\s*(javascript|data|vbscript):/i.test(address) ? null : address);
  const link = (address, text) => make("a", { href: safeAddress(address) }, text);

  function codeOf(one) {
    if (!one.code.length) return null;
    const [first, lines] = one.code;
    const body = make("tbody");
    lines.forEach((line, number) => {
      const row = first + number;
      const here = row >= one.mark[0] && row <= one.mark[2];
      body.append(make("tr", { class: here ? "here" : null },
        make("td", { class: "gutter" }, String(row)), make("td", {}, ...highlighted(line))));
    });
    return make("div", { class: "code", tabindex: "0", role: "group", "aria-label": "Code" }, make("table", { role: "presentation" }, body));
  }

  // What is said of a place, with its line.
  function reasonOf(reason) {
    return [...spoken(reason.text), " (", link(reason.href, reason.place), ")",
      reason.code.length ? make("code", { class: "line" }, ...highlighted(reason.code)) : null].filter(Boolean);
  }

  function evidenceOf(one) {
    if (!one.context) return [];
    const to = one.replacement ? [" → ", make("code", {}, one.replacement)] : [];
    const parts = [make("h2", {}, "Decision"),
      make("p", {}, make("strong", {}, one.context), ...to, ` (${one.confidence} confidence)`)];
    if (!one.evidence.length) {
      parts.push(make("p", {}, "Nothing nearby says what the guard is for."));
      return parts;
    }
    parts.push(make("ul", { class: "evidence" }, ...one.evidence.map((reason) => make("li", {}, ...reasonOf(reason)))));
    return parts;
  }

  function stepsOf(one) {
    if (!one.steps.length) return [];
    const steps = one.steps.map((step) => (step.number
      ? make("li", { value: step.number }, ...reasonOf(step)) : make("li", { class: "gap" }, step.text)));
    return [make("h2", {}, "How it comes about"), make("ol", { class: "evidence" }, ...steps)];
  }

  function columnsOf(one) {
    if (one.fix === "none") return [];
    const titles = { safe: "Safe fix", unsafe: "Unsafe fix", display: "Suggestion" };
    const parts = [make("h2", {}, titles[one.fix]), make("p", {}, ...spoken(one.fixMessage))];
    if (!one.columns.length) return parts;
    const side = (row, text, kind, same) => [
      make("td", { class: "gutter" }, row === null ? "" : String(row)),
      make("td", { class: text === null ? "empty" : same ? `same ${kind === "added" ? "after" : ""}` : kind }, text === null ? "" : text),
    ];
    const bodies = one.columns.map((rows) => make("tbody", {}, ...rows.map(([oldRow, before, newRow, after]) =>
      make("tr", {}, ...side(oldRow, before, "removed", before === after), ...side(newRow, after, "added", before === after)))));
    const sides = make("colgroup", {}, make("col", { class: "gutter" }), make("col"), make("col", { class: "gutter" }), make("col"));
    const head = make("thead", {}, make("tr", {}, make("th", { colspan: "2", scope: "col" }, "before"), make("th", { colspan: "2", scope: "col" }, "after")));
    parts.push(make("div", { class: "columns", tabindex: "0", role: "group", "aria-label": "The fix, before and after" }, make("table", {}, sides, head, ...bodies)));
    return parts;
  }

  function verdictOf(one) {
    const said = one.verified;
    if (!said) return [];
    const parts = [make("h2", {}, "Verified by running"),
      make("p", {}, make("span", { class: `verdict v-${said.verdict.replaceAll(" ", "-")}` }, said.verdict), ` ${said.program}: `, ...spoken(said.reason)),
      said.advice ? make("p", {}, "What to do: ", ...spoken(said.advice)) : null];
    if (!said.trace.length) return parts.filter(Boolean);
    const signs = { same: "", marks: "≈", parted: "≠" };
    const side = (step) => make("td", { class: step ? null : "none" },
      ...(step ? [step[0] ? make("span", { class: "within" }, step[0]) : null, ...spoken(step[1])].filter(Boolean) : ["no such step"]));
    const rows = said.trace.map(([number, agreement, before, after]) => make("tr", { class: agreement },
      make("th", { scope: "row" }, `${number} ${signs[agreement] || ""}`), side(before), side(after)));
    const head = make("thead", {}, make("tr", {}, ...["step", "before", "after"].map((text) => make("th", { scope: "col" }, text))));
    parts.push(make("div", { class: "excerpt", tabindex: "0", role: "group", "aria-label": "Steps before and after" }, make("table", {}, head, make("tbody", {}, ...rows))));
    return parts.filter(Boolean);
  }

  const picked = new Map(); // number of the finding -> purpose

  function pickOf(one, number) {
    if (!one.intent) return null;
    const what = { inference: "a model is run", kernel: "an autograd kernel", below_autograd: "below autograd", remove: "no guard needed", preserve: "keep what it does" };
    const labels = data.purposes.map((purpose) => {
      const input = make("input", { type: "radio", name: `pick-${number}`, value: purpose });
      input.checked = picked.get(number) === purpose;
      input.addEventListener("change", () => { picked.set(number, purpose); showDecisions(); });
      return make("label", { title: what[purpose] || purpose }, input, purpose);
    });
    return make("fieldset", { class: "pick" }, make("legend", {}, `What are the guards in ${one.intent} for?`), ...labels);
  }

  function bodyOf(number) {
    const one = findings[number];
    const where = make("p", {}, link(one.href, `${one.path}:${one.row}:${one.column}`), " · ", one.url ? link(one.url, `${one.rule} ${one.name}`) : `${one.rule} ${one.name}`);
    return make("div", { class: "body", id: `body-${number}` }, where,
      ...[codeOf(one)].filter(Boolean), ...evidenceOf(one), ...stepsOf(one), ...columnsOf(one), ...verdictOf(one), ...[pickOf(one, number)].filter(Boolean));
  }

  function articleOf(number, place) {
    const one = findings[number];
    const open = opened.has(number);
    const badges = [make("span", { class: `badge ${one.severity}` }, one.rule)];
    const head = make("button", { type: "button", class: "head", "aria-expanded": String(open), "aria-controls": open ? `body-${number}` : null },
      make("span", { class: "arrow", "aria-hidden": "true" }),
      make("span", { class: "lines" },
        make("span", { class: "message" }, ...badges, ...spoken(one.message)),
        make("span", { class: "place" }, `${one.path}:${one.row}`,
          ...(one.context ? [" · ", make("span", { class: one.confidence }, `${one.context}, ${one.confidence}`)] : []),
          one.fix === "none" ? " · no fix" : ` · ${one.fix === "display" ? "suggestion" : `${one.fix} fix`}`,
          ...(one.verdict ? [` · verify: ${one.verdict}`] : []))));
    head.addEventListener("click", () => toggle(number));
    const article = make("article", { class: "finding", "aria-posinset": String(place + 1), "aria-setsize": String(visible.length), "aria-label": `${one.rule} ${one.path}:${one.row}` }, head);
    article.dataset.number = number;
    if (open) article.append(bodyOf(number));
    return article;
  }

  // The list: only what is in sight is in the document.
  const list = find("list");
  const AROUND = 12;
  let visible = findings.map((_, number) => number);
  const opened = new Set();
  const heights = new Map(); // number -> height of an opened finding
  let closedHeight = 63;
  let range = null;
  let printing = false;

  function offsets() {
    // The places of opened findings among the visible ones, with what they take more than a closed one.
    const more = [];
    if (opened.size) {
      visible.forEach((number, place) => {
        if (opened.has(number)) more.push([place, (heights.get(number) || closedHeight) - closedHeight]);
      });
    }
    return more;
  }

  function topOf(place, more) {
    let top = place * closedHeight;
    for (const [at, extra] of more) {
      if (at >= place) break;
      top += extra;
    }
    return top;
  }

  function placeAt(height, more) {
    let low = 0;
    let high = visible.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (topOf(middle + 1, more) <= height) low = middle + 1; else high = middle;
    }
    return low;
  }

  function draw(force) {
    const more = offsets();
    const above = list.getBoundingClientRect().top;
    const first = printing ? 0 : Math.max(0, placeAt(-above, more) - AROUND);
    const last = printing ? visible.length : Math.min(visible.length, placeAt(innerHeight - above, more) + AROUND);
    if (!force && range && range[0] === first && range[1] === last) return;
    const focused = document.activeElement?.closest?.(".finding")?.dataset.number;
    const known = new Map();
    if (!force) for (const child of list.children) known.set(Number(child.dataset.number), child);
    const wanted = visible.slice(first, last).map((number, index) => known.get(number) || articleOf(number, first + index));
    list.style.paddingTop = `${topOf(first, more)}px`;
    list.style.paddingBottom = `${Math.max(0, topOf(visible.length, more) - topOf(last, more))}px`;
    list.replaceChildren(...wanted);
    range = [first, last];
    let grown = false;
    for (const child of list.children) {
      const number = Number(child.dataset.number);
      if (opened.has(number)) {
        const height = child.getBoundingClientRect().height;
        if (Math.abs((heights.get(number) || 0) - height) > 1) { heights.set(number, height); grown = true; }
      }
    }
    if (focused !== undefined && document.activeElement === document.body) {
      list.querySelector(`[data-number="${focused}"] > .head`)?.focus({ preventScroll: true });
    }
    if (grown) {
      const again = offsets();
      list.style.paddingBottom = `${Math.max(0, topOf(visible.length, again) - topOf(last, again))}px`;
    }
  }

  function measure() {
    const closed = [...list.children].find((child) => !opened.has(Number(child.dataset.number)));
    if (closed) closedHeight = closed.getBoundingClientRect().height || closedHeight;
  }

  function toggle(number) {
    if (opened.has(number)) opened.delete(number); else opened.add(number);
    draw(true);
    list.querySelector(`[data-number="${number}"] > .head`)?.focus({ preventScroll: true });
  }

  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(false); });
  }, { passive: true });
  addEventListener("resize", () => { heights.clear(); draw(true); measure(); draw(true); });

  // Filters.
  const search = find("search");
  const selects = Object.fromEntries(KEYS.map((key) => [key, find(`filter-${key}`)]));
  let texts = null;
  const textOf = (one) => [one.rule, one.name, one.path, one.message, one.replacement, one.fixMessage,
    ...(one.code.length ? one.code[1].map(([text]) => text) : []), ...one.evidence.map((reason) => reason.text), ...one.steps.map((step) => step.text)].join("\n").toLowerCase();

  for (const key of KEYS) {
    const counts = new Map();
    for (const one of findings) counts.set(one[key], (counts.get(one[key]) || 0) + 1);
    const order = [...counts].filter(([value]) => value).sort((a, b) => (key === "rule" || key === "folder" ? (a[0] < b[0] ? -1 : 1) : b[1] - a[1]));
    selects[key].append(...order.map(([value, count]) => make("option", { value }, `${value} (${count})`)));
    selects[key].addEventListener("change", filter);
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length && !texts) texts = findings.map(textOf);
    visible = [];
    findings.forEach((one, number) => {
      if (KEYS.every((key) => !selects[key].value || one[key] === selects[key].value)
        && words.every((word) => texts[number].includes(word))) visible.push(number);
    });
    const total = `${findings.length} finding${findings.length === 1 ? "" : "s"}`;
    find("shown").textContent = visible.length === findings.length ? total : `${visible.length} of ${total}`;
    find("nothing").hidden = visible.length > 0 || findings.length === 0;
    draw(true);
  }

  let typing = 0;
  search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(filter, 90); });
  function clear() {
    search.value = "";
    for (const key of KEYS) selects[key].value = "";
    filter();
  }
  find("clear").addEventListener("click", clear);
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());

  for (const table of document.querySelectorAll("table[data-filter]")) {
    for (const cell of table.querySelectorAll("td[data-value]")) {
      const button = make("button", { type: "button" }, cell.textContent);
      button.addEventListener("click", () => {
        const select = selects[table.dataset.filter];
        select.value = select.value === cell.dataset.value ? "" : cell.dataset.value;
        filter();
      });
      cell.replaceChildren(button);
    }
  }

  // Decisions.
  const quoted = (text) => JSON.stringify(text);
  function showDecisions() {
    const files = new Map();
    for (const [number, purpose] of picked) {
      const name = findings[number].intent;
      if (!files.has(name)) files.set(name, new Set());
      files.get(name).add(purpose);
    }
    const names = [...files.keys()].sort();
    const clashing = names.filter((name) => files.get(name).size > 1);
    const lines = names.filter((name) => files.get(name).size === 1).map((name) => `${quoted(name)} = ${quoted([...files.get(name)][0])}`);
    find("intent").textContent = ["[tool.guardfix.intent]", ...lines].join("\n") + "\n";
    find("decided").textContent = `${lines.length} file${lines.length === 1 ? "" : "s"} decided.`;
    find("conflicts").textContent = clashing.length ? `Different answers for ${clashing.join(", ")}: write a comment like // guardfix: kernel at each guard there.` : "";
    find("copied").textContent = "";
    find("decisions").hidden = picked.size === 0;
  }

  async function copy() {
    const text = find("intent").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const selection = getSelection();
      selection.selectAllChildren(find("intent"));
      document.execCommand("copy");
      selection.removeAllRanges();
    }
    find("copied").textContent = "Copied.";
  }
  find("copy").addEventListener("click", copy);
  find("forget").addEventListener("click", () => { picked.clear(); showDecisions(); draw(true); });

  // Keys.
  const keys = find("keys");
  find("help").addEventListener("click", () => keys.showModal());

  function move(step) {
    const current = document.activeElement?.closest?.(".finding");
    let place = current ? visible.indexOf(Number(current.dataset.number)) + step : placeAt(-list.getBoundingClientRect().top + 80, offsets());
    place = Math.max(0, Math.min(visible.length - 1, place));
    const number = visible[place];
    if (number === undefined) return;
    const bar = document.querySelector(".filters");
    const covered = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
    const top = list.getBoundingClientRect().top + topOf(place, offsets());
    if (top < covered) scrollBy(0, top - covered - 8);
    else if (top + closedHeight > innerHeight - 20) scrollBy(0, top + closedHeight - innerHeight + 60);
    draw(false);
    list.querySelector(`[data-number="${number}"] > .head`)?.focus({ preventScroll: true });
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "");
    if (event.key === "Escape") {
      if (inField) document.activeElement.blur(); else clear();
    } else if (inField) {
      return;
    } else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "/") search.focus();
    else if (event.key === "?") keys.showModal();
    else return;
    event.preventDefault();
  });

  // In print, every finding that is shown is on paper, opened when there are few.
  const openedByReader = new Set();
  addEventListener("beforeprint", () => {
    printing = true;
    for (const number of opened) openedByReader.add(number);
    if (visible.length <= 200) for (const number of visible) opened.add(number);
    draw(true);
  });
  addEventListener("afterprint", () => {
    printing = false;
    opened.clear();
    for (const number of openedByReader) opened.add(number);
    openedByReader.clear();
    draw(true);
  });

  if (innerWidth < 760) for (const one of [...document.querySelectorAll(".counts")].slice(1)) one.open = false;
  filter();
  measure();
  if (findings.length === 1) opened.add(0);
  draw(true);
})();

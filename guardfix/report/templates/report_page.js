"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const data = JSON.parse(find("data").textContent);
  const findings = data.findings;
  const KEYS = ["rule", "context", "confidence", "verdict"];
  const wide = matchMedia("(min-width: 1000px)");

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
    const title = make("p", { class: "title" }, ...spoken(one.message));
    return make("div", { class: "body", id: wide.matches && !printing ? null : `body-${number}` }, ...(wide.matches && !printing ? [title] : []), where,
      ...[codeOf(one)].filter(Boolean), ...columnsOf(one), ...evidenceOf(one), ...stepsOf(one), ...verdictOf(one), ...[pickOf(one, number)].filter(Boolean));
  }

  const lineOf = (one) => one.code[1][one.mark[0] - one.code[0]][0].trim();

  function articleOf(number, place) {
    const one = findings[number];
    const open = isOpen(number);
    const badges = [make("span", { class: `badge ${one.severity}` }, one.rule)];
    const head = make("button", { type: "button", class: "head", "aria-expanded": wide.matches && !printing ? null : String(open), "aria-controls": open ? `body-${number}` : null },
      make("span", { class: "arrow", "aria-hidden": "true" }),
      make("span", { class: "lines" },
        make("span", { class: "message" }, ...badges, ...(wide.matches && !printing && one.code.length ? [make("code", {}, lineOf(one))] : spoken(one.message))),
        make("span", { class: "place" }, `${one.path}:${one.row}`,
          ...(one.context ? [" · ", make("span", { class: one.confidence }, `${one.context}, ${one.confidence}`)] : []),
          one.fix === "none" ? " · no fix" : ` · ${one.fix === "display" ? "suggestion" : `${one.fix} fix`}`,
          ...(one.verdict ? [` · verify: ${one.verdict}`] : []))));
    head.addEventListener("click", () => { moved = true; if (wide.matches) select(number); else toggle(number); });
    const article = make("article", { class: "finding", "aria-posinset": String(place), "aria-setsize": String(visible.length - headings), "aria-current": wide.matches && number === selected ? "true" : null, "aria-label": `${one.rule} ${one.path}:${one.row}` }, head);
    article.dataset.number = number;
    if (open) article.append(bodyOf(number));
    return article;
  }

  // The findings of a group stand together, below a line that decides them all at once.
  const groups = [];
  for (const [number, one] of findings.entries()) {
    const last = groups[groups.length - 1];
    const key = [one.part, one.rule, one.group].join("\n");
    if (last?.key === key) last.numbers.push(number); else groups.push({ key, numbers: [number] });
    one.groupNumber = groups.length - 1;
  }
  const isGroup = (number) => number < 0;
  const groupOf = (number) => groups[-1 - number];

  function groupLine(number) {
    const one = findings[groupOf(number).numbers[0]];
    const among = visible.filter((other) => other >= 0 && findings[other].groupNumber === one.groupNumber);
    const line = make("div", { class: "group" }, make("p", {}, make("b", {}, `${one.rule} ${one.name}`),
      one.group ? make("span", {}, ": ", ...spoken(one.group)) : null, make("span", { class: "faint" }, ` · ${among.length}`)));
    const open = among.filter((other) => findings[other].intent);
    if (open.length > 1) {
      const pick = make("select", { "aria-label": `Decide all ${open.length}` }, make("option", { value: "" }, `decide all ${open.length}…`),
        ...data.purposes.map((purpose) => make("option", { value: purpose }, purpose)));
      pick.addEventListener("change", () => { for (const other of open) if (pick.value) picked.set(other, pick.value); showDecisions(); draw(true); });
      line.append(pick);
    }
    line.dataset.number = number;
    return line;
  }

  // On a wide page one finding is shown beside the list.
  let selected = null;
  function select(number, { draws = true } = {}) {
    selected = number;
    find("detail").replaceChildren(...(number === null || !wide.matches ? [] : [bodyOf(number)]));
    find("detail").scrollTop = 0;
    keepAddress();
    if (!draws) return;
    draw(true);
    list.querySelector(`[data-number="${number}"] > .head`)?.focus({ preventScroll: true });
  }

  // The list: only what is in sight is in the document.
  const list = find("list");
  const AROUND = 12;
  let visible = [];
  const opened = new Set();
  const heights = new Map(); // number -> height of an opened finding
  let closedHeight = 63;
  let groupHeight = 45;
  const isOpen = (number) => (printing || !wide.matches) && opened.has(number);
  let headings = 0; // lines of groups among what is visible
  let range = null;
  let printing = false;

  let knownOffsets = null; // until a filter, or what is open, changes

  function offsets() {
    // The places of groups and opened findings among the visible ones, with what they take more than a closed one.
    if (knownOffsets) return knownOffsets;
    const more = [];
    visible.forEach((number, place) => {
      if (isGroup(number)) more.push([place, groupHeight - closedHeight]);
      else if (isOpen(number)) more.push([place, (heights.get(number) || closedHeight) - closedHeight]);
    });
    knownOffsets = more;
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
    if (force) knownOffsets = null;
    const more = offsets();
    const above = list.getBoundingClientRect().top;
    const first = printing ? 0 : Math.max(0, placeAt(-above, more) - AROUND);
    const last = printing ? visible.length : Math.min(visible.length, placeAt(innerHeight - above, more) + AROUND);
    if (!force && range && range[0] === first && range[1] === last) return;
    const focused = document.activeElement?.closest?.(".finding")?.dataset.number;
    const known = new Map();
    if (!force) for (const child of list.children) known.set(Number(child.dataset.number), child);
    let place = first - visible.slice(0, first).filter(isGroup).length; // among the findings
    headings = visible.filter(isGroup).length;
    const wanted = visible.slice(first, last).map((number) => {
      if (!isGroup(number)) place += 1;
      return known.get(number) || (isGroup(number) ? groupLine(number) : articleOf(number, place));
    });
    list.style.paddingTop = `${topOf(first, more)}px`;
    list.style.paddingBottom = `${Math.max(0, topOf(visible.length, more) - topOf(last, more))}px`;
    list.replaceChildren(...wanted);
    range = [first, last];
    let grown = false;
    for (const child of list.children) {
      const number = Number(child.dataset.number);
      if (isOpen(number)) {
        const height = child.getBoundingClientRect().height;
        if (Math.abs((heights.get(number) || 0) - height) > 1) { heights.set(number, height); grown = true; }
      }
    }
    if (focused !== undefined && document.activeElement === document.body) {
      list.querySelector(`[data-number="${focused}"] > .head`)?.focus({ preventScroll: true });
    }
    if (grown) {
      knownOffsets = null;
      const again = offsets();
      list.style.paddingBottom = `${Math.max(0, topOf(visible.length, again) - topOf(last, again))}px`;
    }
  }

  function measure() {
    const closed = [...list.children].find((child) => child.matches(".finding") && !isOpen(Number(child.dataset.number)));
    if (closed) closedHeight = closed.getBoundingClientRect().height || closedHeight;
    groupHeight = list.querySelector(".group")?.getBoundingClientRect().height || groupHeight;
  }

  function toggle(number) {
    if (opened.has(number)) opened.delete(number); else { opened.add(number); selected = number; keepAddress(); }
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
  let part = "";
  let folder = "";
  let moved = false; // the reader chose a finding
  const textOf = (one) => [one.rule, one.name, one.path, one.message, one.replacement, one.fixMessage,
    ...(one.code.length ? one.code[1].map(([text]) => text) : []), ...one.evidence.map((reason) => reason.text), ...one.steps.map((step) => step.text)].join("\n").toLowerCase();

  const CONFIDENCES = ["high", "medium", "low"];
  for (const key of KEYS) {
    const counts = new Map();
    for (const one of findings) counts.set(one[key], (counts.get(one[key]) || 0) + 1);
    const order = [...counts].filter(([value]) => value).sort((a, b) => (key === "rule" ? (a[0] < b[0] ? -1 : 1)
      : key === "confidence" ? CONFIDENCES.indexOf(a[0]) - CONFIDENCES.indexOf(b[0]) : b[1] - a[1]));
    selects[key].closest("label").hidden = !order.length;
    selects[key].append(...order.map(([value, count]) => make("option", { value }, `${value} (${count})`)));
    selects[key].addEventListener("change", filter);
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length && !texts) texts = findings.map(textOf);
    visible = [];
    let shown = 0;
    findings.forEach((one, number) => {
      if ((part && one.part !== part) || !(one.path === folder || one.path.startsWith(folder === "" ? "" : `${folder}/`))
        || !KEYS.every((key) => !selects[key].value || one[key] === selects[key].value)
        || !words.every((word) => texts[number].includes(word))) return;
      const group = -1 - one.groupNumber;
      if (!shown || findings[visible[visible.length - 1]].groupNumber !== one.groupNumber) visible.push(group);
      visible.push(number);
      shown += 1;
    });
    const total = `${findings.length} finding${findings.length === 1 ? "" : "s"}`;
    find("shown").textContent = shown === findings.length ? total : `${shown} of ${total}`;
    find("nothing").hidden = shown > 0 || findings.length === 0;
    for (const button of document.querySelectorAll("button[data-part]")) button.setAttribute("aria-pressed", String(button.dataset.part === part));
    for (const piece of document.querySelectorAll(".bar [data-part]")) piece.classList.toggle("off", part !== "" && piece.dataset.part !== part);
    for (const button of document.querySelectorAll(".tree button")) button.setAttribute("aria-pressed", String(folder !== "" && button.dataset.path === folder));
    if (!visible.includes(selected)) select(shown ? visible[1] : null, { draws: false });
    else keepAddress();
    draw(true);
  }

  // The address keeps the filters and the finding, so that it can be passed on.
  function keepAddress() {
    const one = selected === null ? null : findings[selected];
    const said = { part, folder, q: search.value, ...Object.fromEntries(KEYS.map((key) => [key, selects[key].value])),
      at: one && moved ? `${one.path}:${one.row}:${one.rule}` : "" };
    const kept = new URLSearchParams(Object.entries(said).filter(([, value]) => value)).toString();
    if (kept !== location.hash.slice(1)) history.replaceState(null, "", kept ? `#${kept}` : location.pathname + location.search);
  }

  function readAddress() {
    const said = new URLSearchParams(location.hash.slice(1));
    part = said.get("part") || "";
    folder = said.get("folder") || "";
    search.value = said.get("q") || "";
    for (const key of KEYS) selects[key].value = said.get(key) || "";
    const at = said.get("at");
    const number = at ? findings.findIndex((one) => `${one.path}:${one.row}:${one.rule}` === at) : -1;
    moved = number >= 0;
    if (number >= 0) { selected = number; opened.add(number); }
  }

  let typing = 0;
  search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(filter, 90); });
  function clear() {
    part = folder = search.value = "";
    for (const key of KEYS) selects[key].value = "";
    filter();
  }
  find("clear").addEventListener("click", clear);
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());

  for (const piece of document.querySelectorAll("[data-part]")) {
    piece.addEventListener("click", () => { part = part === piece.dataset.part ? "" : piece.dataset.part; filter(); });
  }

  // Files, as a tree; a folder with nothing but one folder in it is one line with that.
  function branch(paths, above) {
    const below = new Map();
    for (const path of paths) {
      const name = path.slice(above.length).split("/", 1)[0];
      if (!below.has(name)) below.set(name, []);
      below.get(name).push(path);
    }
    return [...below].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([name, inside]) => {
      let own = above + name;
      const button = (shown) => {
        const made = make("button", { type: "button", "aria-pressed": "false", "data-path": own, title: shown }, make("span", {}, shown), make("i", {}, ` ${inside.length}`));
        made.addEventListener("click", () => { folder = folder === own ? "" : own; filter(); });
        return made;
      };
      if (inside[0] === own) return make("div", { class: "leaf" }, button(name));
      let shown = name;
      for (;;) {
        const next = new Set(inside.map((path) => path.slice(own.length + 1).split("/", 1)[0]));
        if (next.size !== 1 || inside[0] === `${own}/${[...next][0]}`) break;
        own += `/${[...next][0]}`;
        shown += `/${[...next][0]}`;
      }
      const children = make("div", { class: "inside", hidden: "" });
      const fold = make("button", { type: "button", class: "fold", "aria-expanded": "false", "aria-label": `Files in ${own}` }, "▸");
      const unfold = () => {
        children.hidden = !children.hidden;
        fold.setAttribute("aria-expanded", String(!children.hidden));
        fold.textContent = children.hidden ? "▸" : "▾";
        if (!children.hasChildNodes()) children.append(...branch(inside, `${own}/`));
      };
      fold.addEventListener("click", unfold);
      if (below.size === 1) unfold();
      return make("div", {}, make("div", { class: "node" }, fold, button(shown)), children);
    });
  }
  find("tree").append(...branch(findings.map((one) => one.path), ""));

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

  async function copy(text, element) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const selection = getSelection();
      selection.selectAllChildren(element);
      document.execCommand("copy");
      selection.removeAllRanges();
    }
  }
  find("copy").addEventListener("click", async () => { await copy(find("intent").textContent, find("intent")); find("copied").textContent = "Copied."; });
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => { await copy(button.dataset.copy, button.previousElementSibling); button.textContent = "Copied"; });
  }
  find("forget").addEventListener("click", () => { picked.clear(); showDecisions(); draw(true); });

  // Keys.
  const keys = find("keys");
  find("help").addEventListener("click", () => keys.showModal());

  function move(step) {
    const focused = document.activeElement?.closest?.(".finding");
    const current = focused ? Number(focused.dataset.number) : wide.matches && moved ? selected : null;
    let place = current !== null ? visible.indexOf(current) + step : placeAt(-list.getBoundingClientRect().top + 80, offsets());
    if (isGroup(visible[place])) place += current !== null && step < 0 ? -1 : 1;
    place = Math.max(1, Math.min(visible.length - 1, place));
    const number = visible[place];
    if (number === undefined) return;
    moved = true;
    const top = list.getBoundingClientRect().top + topOf(place, offsets());
    if (top < 0) scrollBy(0, top - 60);
    else if (top + closedHeight > innerHeight - 20) scrollBy(0, top + closedHeight - innerHeight + 60);
    if (wide.matches) { select(number); return; }
    draw(false);
    list.querySelector(`[data-number="${number}"] > .head`)?.focus({ preventScroll: true });
  }

  const onList = () => document.activeElement?.closest?.(".finding") || document.activeElement === document.body;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "");
    if (event.key === "Escape") {
      if (inField) document.activeElement.blur(); else clear();
    } else if (inField) {
      return;
    } else if (event.key === "j" || (event.key === "ArrowDown" && onList())) move(1);
    else if (event.key === "k" || (event.key === "ArrowUp" && onList())) move(-1);
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
    if (visible.length <= 250) for (const number of visible) opened.add(number);
    draw(true);
  });
  addEventListener("afterprint", () => {
    printing = false;
    opened.clear();
    for (const number of openedByReader) opened.add(number);
    openedByReader.clear();
    draw(true);
  });

  wide.addEventListener("change", () => select(selected));
  addEventListener("hashchange", () => { if (location.hash.includes("=") || !location.hash) { readAddress(); filter(); } });
  find("files").open = matchMedia("(min-width: 1250px)").matches;
  readAddress();
  filter();
  measure();
  if (!wide.matches && visible.length > 1) opened.add(selected);
  select(selected, { draws: false });
  draw(true);
})();

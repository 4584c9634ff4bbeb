"use strict";
(() => {
  const differs = (step) => step.matches(".marks, .parted");
  const programs = [...document.querySelectorAll(".program")];

  // One program: its steps, the one that is looked at, and its places in the source and on the timeline.
  function viewer(program) {
    const steps = [...program.querySelectorAll(".step")];
    if (!steps.length) return null;
    const one = (name) => program.querySelector(name);
    const [search, only, pane, source] = [".search input", ".only-differences", ".steps", ".source"].map(one);
    const currents = [...program.querySelectorAll(".timeline .current")];
    const rows = program.querySelectorAll(".trace tbody > .step, .trace tbody > .left-out:not(.thread)").length;
    const texts = new Map();
    const textOf = (step) => {
      if (!texts.has(step)) texts.set(step, step.textContent.toLowerCase());
      return texts.get(step);
    };
    let current = null;
    const visible = () => steps.filter((step) => !step.hidden);

    function reveal(within, row) {
      // On a narrow page the steps scroll with it.
      if (within.scrollHeight <= within.clientHeight + 1 || getComputedStyle(within).overflowY === "clip") return within === pane ? row.scrollIntoView({ block: "nearest" }) : undefined;
      const [outer, inner] = [within, row].map((element) => element.getBoundingClientRect());
      const margin = Math.min(60, outer.height / 5);
      if (inner.top < outer.top + margin || inner.bottom > outer.bottom - margin) within.scrollTop += inner.top - outer.top - outer.height / 3;
    }

    function select(step, { focus = true } = {}) {
      current?.removeAttribute("aria-current");
      current = step;
      step.setAttribute("aria-current", "step");
      if (focus) { step.focus({ preventScroll: true }); reveal(pane, step); }
      else if (getComputedStyle(pane).overflowY !== "clip") pane.scrollTop += step.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
      source?.querySelector(".here")?.classList.remove("here");
      const line = step.dataset.line && source?.querySelector(`[data-line="${step.dataset.line}"]`);
      if (line) { line.classList.add("here"); reveal(source, line); }
      for (const mark of currents) mark.setAttribute("x", `${(100 * step.dataset.at) / rows}%`);
    }

    function move(by, wanted) {
      const among = visible();
      const from = among.indexOf(current);
      const start = from >= 0 ? from : by > 0 ? -1 : among.length;
      for (let place = start + by; place >= 0 && place < among.length; place += by) {
        if (wanted(among[place])) { select(among[place]); return; }
      }
    }

    function filter() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const step of steps) step.hidden = (only.checked && !differs(step)) || !words.every((word) => textOf(step).includes(word));
      const filtered = only.checked || words.length > 0;
      for (const row of program.querySelectorAll(".left-out")) row.hidden = filtered;
      pane.classList.toggle("filtered", filtered);
      const shown = visible().length;
      const counted = `${steps.length} step${steps.length === 1 ? "" : "s"}`;
      one(".shown").textContent = filtered ? `${shown} of ${counted}` : `${counted}, ${steps.filter(differs).length} differ`;
      one(".nothing").hidden = shown > 0;
    }

    function draw(step) {
      const drawn = [...step.querySelectorAll(".drawn")];
      const open = drawn.some((graph) => !graph.open);
      for (const graph of drawn) graph.open = open;
    }

    let typing = 0;
    search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(filter, 90); });
    only.addEventListener("change", filter);
    one(".filters").addEventListener("submit", (event) => event.preventDefault());
    one(".next").addEventListener("click", () => move(1, differs));
    one(".previous").addEventListener("click", () => move(-1, differs));
    for (const step of steps) step.addEventListener("click", (event) => { if (!event.target.closest("summary, .drawing")) select(step); });
    source?.addEventListener("click", (event) => {
      const line = event.target.closest(".stepped")?.dataset.line;
      const step = line && visible().find((candidate) => candidate.dataset.line === line);
      if (step) select(step);
    });
    for (const drawn of program.querySelectorAll(".timeline > svg")) {
      drawn.addEventListener("click", (event) => {
        const box = drawn.getBoundingClientRect();
        const at = Math.floor(((event.clientX - box.left) / box.width) * rows);
        select(visible().find((step) => Number(step.dataset.at) >= at) || visible().at(-1) || current);
      });
    }
    only.checked = innerWidth < 900 && steps.some(differs); // the parting is on the first screen of a phone
    filter();
    const first = () => select(one(".first-parting") || steps.find(differs) || steps.find((step) => step.querySelector(".band")) || steps[0], { focus: false });
    if (program.open) first();
    program.addEventListener("toggle", () => { if (program.open && !current) first(); });
    return { move, filter, draw, search, only, current: () => current };
  }

  const viewers = new Map(programs.map((program) => [program, viewer(program)]));
  const active = () => viewers.get(document.activeElement?.closest?.(".program")) || programs.filter((program) => program.open).map((program) => viewers.get(program)).find(Boolean);

  function openNamed() {
    const named = programs.find((program) => `#${program.id}` === location.hash);
    if (named) { named.open = true; named.scrollIntoView(); }
  }
  addEventListener("hashchange", openNamed);
  openNamed();

  const any = () => true;
  const keys = document.getElementById("keys");
  document.getElementById("help").addEventListener("click", () => keys.showModal());
  addEventListener("keydown", (event) => {
    const shown = active();
    if (!shown || event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const focused = document.activeElement;
    const inField = focused?.matches?.("input[type=search]");
    if (event.key === "Escape") {
      if (inField) focused.blur();
      else { shown.search.value = ""; shown.only.checked = false; shown.filter(); }
    } else if (inField) return;
    else if (event.key === "j" || event.key === "ArrowDown") shown.move(1, any);
    else if (event.key === "k" || event.key === "ArrowUp") shown.move(-1, any);
    else if (event.key === "n") shown.move(1, differs);
    else if (event.key === "p") shown.move(-1, differs);
    else if (event.key === "d") { shown.only.checked = !shown.only.checked; shown.filter(); }
    else if (event.key === "Enter" && focused?.classList.contains("step")) shown.draw(focused);
    else if (event.key === "/") shown.search.focus();
    else if (event.key === "?") keys.showModal();
    else return;
    event.preventDefault();
  });
})();

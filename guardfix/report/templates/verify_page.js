"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const steps = [...document.querySelectorAll(".step")];
  const differing = (step) => !step.classList.contains("same");
  const texts = new Map();
  const textOf = (step) => {
    if (!texts.has(step)) texts.set(step, step.textContent.toLowerCase());
    return texts.get(step);
  };

  const search = find("search");
  const only = find("only");
  const visible = () => steps.filter((step) => !step.hidden);

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const step of steps) {
      step.hidden = (only.checked && !differing(step)) || !words.every((word) => textOf(step).includes(word));
    }
    const filtered = only.checked || words.length > 0;
    for (const row of document.querySelectorAll(".left-out")) row.hidden = filtered;
    for (const table of document.querySelectorAll(".steps")) table.classList.toggle("filtered", filtered);
    const shown = visible().length;
    const counted = `${steps.length} step${steps.length === 1 ? "" : "s"}`;
    find("shown").textContent = filtered ? `${shown} of ${counted}` : `${counted}, ${steps.filter(differing).length} differ`;
    find("nothing").hidden = shown > 0 || steps.length === 0;
  }

  let typing = 0;
  search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(filter, 90); });
  only.addEventListener("change", filter);
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());

  // Steps, by keys.
  function inSight() {
    const among = visible();
    return among.find((step) => step.getBoundingClientRect().bottom > 120) || among[among.length - 1];
  }

  function move(by, wanted) {
    const among = visible().filter(wanted);
    if (!among.length) return;
    const current = document.activeElement?.closest?.(".step");
    const from = current || inSight();
    let place = among.indexOf(from);
    if (place >= 0) place += current ? by : 0;
    else {
      const behind = among.findIndex((step) => from.compareDocumentPosition(step) & Node.DOCUMENT_POSITION_FOLLOWING);
      place = by > 0 ? (behind < 0 ? among.length - 1 : behind) : (behind < 0 ? among.length : behind) - 1;
    }
    const step = among[Math.max(0, Math.min(among.length - 1, place))];
    step.focus({ preventScroll: true });
    step.scrollIntoView({ block: "nearest" });
  }
  const any = () => true;
  find("next").addEventListener("click", () => move(1, differing));
  find("previous").addEventListener("click", () => move(-1, differing));

  function draw(step) {
    const drawn = [...step.querySelectorAll(".drawn")];
    const open = drawn.some((one) => !one.open);
    for (const one of drawn) one.open = open;
  }

  const keys = find("keys");
  find("help").addEventListener("click", () => keys.showModal());
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const focused = document.activeElement;
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(focused?.tagName || "");
    if (event.key === "Escape") {
      if (inField) focused.blur();
      else { search.value = ""; only.checked = false; filter(); }
    } else if (inField) return;
    else if (event.key === "j") move(1, any);
    else if (event.key === "k") move(-1, any);
    else if (event.key === "n") move(1, differing);
    else if (event.key === "p") move(-1, differing);
    else if (event.key === "d") { only.checked = !only.checked; filter(); }
    else if (event.key === "Enter" && focused?.classList.contains("step")) draw(focused);
    else if (event.key === "/") search.focus();
    else if (event.key === "?") keys.showModal();
    else return;
    event.preventDefault();
  });

  filter();
})();

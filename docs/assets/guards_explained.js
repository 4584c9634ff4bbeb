// "Guards inside each other": all answers were computed when the site was built; this only looks them up.
(() => {
  "use strict";
  const ANSWERS = [
    ["grad mode", "on", "off"],
    ["inference mode", "on", "off"],
    ["operations pass the Autograd keys", "yes", "no"],
    ["operations pass ADInplaceOrView", "yes", "no"],
    ["an operation on a tensor that requires gradients is", "recorded", "not recorded"],
    ["a view of a tensor is", "tracked", "not tracked"],
    ["a change in place is", "counted", "not counted"],
    ["new tensors are", "inference tensors", "normal tensors"],
  ];
  const PLACES = ["outermost", "inside it", "innermost"];

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function start() {
    const place = document.getElementById("guards");
    const source = document.getElementById("guards-data");
    if (!place || !source || !place.hidden) return;
    const data = JSON.parse(source.textContent);
    const names = new Map(data.guards.map(([key, cpp, python]) => [key, [cpp, python]]));
    const pickers = make("div", { class: "pickers" });
    const selects = PLACES.map((title) => {
      const select = make("select", {}, make("option", { value: "" }, "none"),
        ...data.guards.map(([key, cpp]) => make("option", { value: key }, cpp)));
      select.addEventListener("change", draw);
      pickers.append(make("label", {}, title, select));
      return select;
    });
    const shown = make("div", { "aria-live": "polite" });
    place.append(pickers, shown);
    place.hidden = false;

    function draw() {
      const keys = selects.map((select) => select.value).filter(Boolean);
      const answers = data.nestings[keys.join("")];
      const rows = ANSWERS.map(([subject, yes, no], number) => {
        const is = answers[number] === "1";
        return make("tr", {}, make("th", { scope: "row" }, subject), make("td", is ? { class: "yes" } : {}, is ? yes : no));
      });
      let inner = make("table", { class: "answers" }, make("tbody", {}, ...rows));
      const theirs = data.pytorch.nestings[keys.join("")];
      const other = theirs ? ANSWERS.filter((_, number) => theirs[number] !== answers[number]).map(([subject]) => subject) : [];
      const said = !theirs ? "What PyTorch does here was not recorded." : other.length
        ? `PyTorch ${data.pytorch.version} differs: ${other.join(", ")}.` : `PyTorch ${data.pytorch.version} gives the same answers.`;
      for (let depth = keys.length; depth > 0; depth -= 1) {
        const [cpp, python] = names.get(keys[depth - 1]);
        const head = [make("code", {}, cpp.includes(" ") ? `${cpp};` : `${cpp} guard;`)];
        if (python) head.push(" / ", make("code", {}, `with ${python}:`));
        inner = make("div", { class: `scope scope-${depth}` }, ...head, inner);
      }
      shown.replaceChildren(inner, make("p", { class: "pytorch" }, said));
    }
    selects[0].value = "n";
    draw();
  }

  // Pages are exchanged without being loaded anew.
  if (typeof document$ !== "undefined") document$.subscribe(start); else addEventListener("DOMContentLoaded", start);
})();

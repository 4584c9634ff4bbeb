"use strict";
(() => {
  // The server says when something has changed; the page is loaded again, with its filters and its place.
  const KEPT = "guardfix-live";
  const FIELDS = ["search", "filter-rule", "filter-folder", "filter-context", "filter-confidence", "filter-fix", "filter-verdict"];
  const find = (id) => document.getElementById(id);
  const kept = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  sessionStorage.removeItem(KEPT);
  if (kept && kept.fields) {
    for (const name of FIELDS) if (find(name)) find(name).value = kept.fields[name] || "";
    find("search").dispatchEvent(new Event("input"));
    setTimeout(() => scrollTo(0, kept.place), 150);
  }
  const changes = new EventSource("changes");
  changes.addEventListener("message", () => {
    const fields = Object.fromEntries(FIELDS.map((name) => [name, find(name) ? find(name).value : ""]));
    sessionStorage.setItem(KEPT, JSON.stringify({ fields, place: scrollY }));
    location.reload();
  });
  addEventListener("pagehide", () => changes.close());
})();

// What scrolls can be reached by keyboard: the theme makes tables scroll, and code.
(() => {
  "use strict";
  function reachable() {
    for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
      wrap.tabIndex = 0;
      wrap.setAttribute("role", "group");
      wrap.setAttribute("aria-label", "Table");
    }
    for (const code of document.querySelectorAll("pre > code")) code.tabIndex = 0;
    // One landmark for each piece of code, so they need different names.
    document.querySelectorAll(".md-code__nav").forEach((nav, number) => nav.setAttribute("aria-label", `Code ${number + 1}`));
  }
  // The theme wraps tables after it has exchanged the page.
  if (typeof document$ !== "undefined") document$.subscribe(() => setTimeout(reachable)); else addEventListener("DOMContentLoaded", reachable);
})();

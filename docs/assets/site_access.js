// What scrolls can be reached by keyboard: the theme makes tables scroll, and code.
(() => {
  "use strict";
  // The theme takes code out of the tab order on touch screens and when it changes its width: it goes back.
  const kept = new MutationObserver((seen) => { for (const { target } of seen) if (target.tabIndex < 0) target.tabIndex = 0; });
  function reachable() {
    for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
      wrap.tabIndex = 0;
      wrap.setAttribute("role", "group");
      wrap.setAttribute("aria-label", "Table");
    }
    for (const code of document.querySelectorAll("pre > code")) {
      code.tabIndex = 0;
      kept.observe(code, { attributeFilter: ["tabindex"] });
    }
    // One landmark for each piece of code, so they need different names.
    document.querySelectorAll(".md-code__nav").forEach((nav, number) => nav.setAttribute("aria-label", `Code ${number + 1}`));
  }
  // The theme wraps tables after it has exchanged the page.
  if (typeof document$ !== "undefined") document$.subscribe(() => setTimeout(reachable)); else addEventListener("DOMContentLoaded", reachable);
})();

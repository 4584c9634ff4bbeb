"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  // Light and dark: what the system says, unless the reader says otherwise.
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("guardfix-theme"); } catch { /* a file may have no storage */ }
  const applyTheme = () => { root.dataset.theme = chosen || (preferred.matches ? "dark" : "light"); };
  applyTheme();
  preferred.addEventListener("change", applyTheme);
  document.getElementById("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("guardfix-theme", chosen); } catch { /* then for this visit alone */ }
    applyTheme();
  });
})();

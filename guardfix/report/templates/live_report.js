"use strict";
(() => {
  // The server says when something has changed; the page is loaded again. Its address keeps the filters.
  const KEPT = "guardfix-live";
  const place = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  if (place !== null) setTimeout(() => scrollTo(0, Number(place)), 150);
  const changes = new EventSource("changes");
  changes.addEventListener("message", () => {
    sessionStorage.setItem(KEPT, String(scrollY));
    location.reload();
  });
  addEventListener("pagehide", () => changes.close());
})();

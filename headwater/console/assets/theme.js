// Runs before anything is drawn, so that nobody sees the wrong colours first.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("headwater-theme");
  } catch {
    // A browser that keeps nothing follows the system.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();

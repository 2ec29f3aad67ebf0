"use strict";
(() => {
  const root = document.documentElement;
  const dark = () => getComputedStyle(root).colorScheme === "dark" ||
    (getComputedStyle(root).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.getElementById("theme").addEventListener("click", () => { root.style.colorScheme = dark() ? "light" : "dark"; });

  const search = document.getElementById("search");
  if (!search) return;
  const family = document.getElementById("family"), shown = document.getElementById("shown"), open = document.getElementById("open");
  const pairs = [...document.querySelectorAll(".pair")];
  const texts = pairs.map((pair) => pair.textContent.toLowerCase());

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    pairs.forEach((pair, i) => {
      const hit = (!family.value || pair.dataset.family === family.value) && words.every((word) => texts[i].includes(word));
      pair.hidden = !hit;
      count += hit;
    });
    shown.textContent = `${count} of ${pairs.length}`;
  };
  search.addEventListener("input", filter);
  family.addEventListener("change", filter);
  open.addEventListener("click", () => {
    const all = open.textContent === "Open all";
    pairs.forEach((pair) => { pair.open = all && !pair.hidden; });
    open.textContent = all ? "Close all" : "Open all";
  });
  if (location.hash.length > 1) {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.classList.contains("pair")) { target.open = true; target.scrollIntoView(); }
  }
  filter();
})();

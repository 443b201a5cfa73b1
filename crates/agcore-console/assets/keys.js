// The keyboard: entries with j and k, questions with a and d, pages with g, and a list of all keys.

const items = () => [...document.querySelectorAll("[data-item]")].filter((item) => item.offsetParent !== null);
const current = () => document.querySelector("[data-item].current");
const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]");
const dialog = document.getElementById("keys");

function move(step) {
  const all = items();
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
  current()?.classList.remove("current");
  next.classList.add("current");
  const focused = next.matches("[tabindex]") ? next : next.querySelector("[data-open]") ?? next;
  focused.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

const question_of = () => (current()?.matches(".question") ? current() : document.activeElement?.closest(".question"));

function press(key) {
  const question = question_of();
  question?.querySelector(`[data-key="${key}"]`)?.click();
}

const PAGES = { c: "/console/chat", i: "/console/inbox", r: "/console/runs", s: "/console/cost" };
let isGoing = false;

const ACTIONS = {
  j: () => move(1),
  k: () => move(-1),
  a: () => press("a"),
  d: () => press("d"),
  e: () => {
    const edit = question_of()?.querySelector("details.edit");
    if (!edit) return;
    edit.open = true;
    edit.querySelector("textarea").focus();
  },
  x: () => question_of()?.querySelector("[name=selected]")?.click(),
  "/": () => document.querySelector("[data-focus]")?.focus(),
  "?": () => dialog?.showModal(),
  Escape: () => document.querySelector("[data-close]")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("[data-submit]")) {
    event.preventDefault();
    return event.target.form.requestSubmit();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !dialog || dialog.open) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (isGoing) {
    isGoing = false;
    if (PAGES[event.key]) return location.assign(PAGES[event.key]);
  }
  if (event.key === "g") isGoing = true;
  const act = ACTIONS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

for (const button of document.querySelectorAll("[data-keys-help]")) {
  button.hidden = false;
  button.addEventListener("click", () => dialog?.showModal());
}

// One box selects all that are shown.
const show_all = () => { for (const label of document.querySelectorAll("[data-select-all]")) label.hidden = false; };
document.addEventListener("agcore:changed", show_all);
document.addEventListener("change", ({ target }) => {
  if (!target.closest("[data-select-all]")) return;
  for (const box of target.form.elements) if (box.name === "selected") box.checked = target.checked;
});
show_all();

// A menu closes when something else is clicked, or with Escape.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const menu = document.querySelector("details.menu[open]");
  if (event.key !== "Escape" || !menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

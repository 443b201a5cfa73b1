// Keeps an open page up to date: one stream of fragments, and parts of pages that are fetched.
// Everything that it puts into the page was made by the server, which escapes what others have written.

const RETRIES = 12;
const BACKGROUND = 60_000;
const policy = globalThis.trustedTypes?.createPolicy("agcore-fragments", { createHTML: (html) => html });

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content.firstElementChild;
}

// What the user has typed, opened or focused in an element that is replaced.
function remember(element) {
  const fields = [...element.querySelectorAll("input[id], textarea[id]")].map((field) => [field.id, field.value, field.checked]);
  const open = [...element.querySelectorAll("details[open]")].map((details) => path(details, element));
  const focused = element.contains(document.activeElement) ? document.activeElement : undefined;
  // What has the focus belongs to an entry: a key must not reach another one that takes its place.
  const owner = focused?.closest("[data-item][id]")?.id;
  const place = focused && { id: focused.id, href: focused.getAttribute("href"), owner, path: path(focused, document.getElementById(owner) ?? element), at: focused.selectionStart };
  const current = element.querySelector("[data-item].current")?.id;
  return { fields, open, place, current };
}

function path(node, root) {
  const steps = [];
  for (let one = node; one !== root; one = one.parentElement) steps.unshift([...one.parentElement.children].indexOf(one));
  return steps;
}

const follow = (root, steps) => steps.reduce((node, step) => node?.children[step], root);

function restore(element, { fields, open, place, current }) {
  for (const [id, value, checked] of fields) {
    const field = document.getElementById(id);
    if (!field || !element.contains(field)) continue;
    // The value of a box is the question that it selects.
    if (field.type === "checkbox") field.checked = checked;
    else field.value = value;
  }
  for (const steps of open) {
    const details = follow(element, steps);
    if (details?.tagName === "DETAILS") details.open = true;
  }
  const marked = current && document.getElementById(current);
  if (marked) marked.classList.add("current");
  if (!place) return;
  const root = place.owner ? document.getElementById(place.owner) : element;
  if (!root) return;
  const by = place.id ? document.getElementById(place.id) : place.href && element.querySelector(`[href="${CSS.escape(place.href)}"]`);
  const focused = by || follow(root, place.path);
  focused?.focus({ preventScroll: true });
  if (place.at !== undefined && place.at !== null && focused?.setSelectionRange) focused.setSelectionRange(place.at, place.at);
}

const isAtEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 80;

function replace(html) {
  const next = parse(html);
  if (!next?.id) return;
  const known = document.getElementById(next.id);
  const stay = isAtEnd() && document.querySelector("#entries");
  if (known) {
    const state = remember(known);
    known.replaceWith(next);
    restore(next, state);
  } else {
    document.getElementById(next.dataset.into)?.append(next);
  }
  if (stay) scrollTo({ top: document.documentElement.scrollHeight });
  if (next.id === "question-count") {
    const count = next.hidden ? "" : `(${next.textContent}) `;
    document.title = count + document.title.replace(/^\(\d+\+?\) /, "");
  }
  document.dispatchEvent(new CustomEvent("agcore:changed", { detail: next }));
}

function append({ id, text }) {
  const stay = isAtEnd();
  document.getElementById(id)?.append(text);
  if (stay) scrollTo({ top: document.documentElement.scrollHeight });
}

function show(state, text) {
  const element = document.getElementById("connection");
  if (!element) return;
  element.dataset.state = state;
  element.textContent = text;
}

const words = document.body.dataset;

// Follows the stream of the page. The browser sends the id of the last fragment itself when it reconnects; if it gives up, the
// stream is opened again after it.
function follow_stream(url) {
  let tries = 0, last = "", isOver = false, source;
  const reopen = () => { if (!isOver && (!source || source.readyState === EventSource.CLOSED)) source = open(); };
  function open() {
    const address = new URL(url, location.href);
    if (last) address.searchParams.set("last", last);
    const source = new EventSource(address);
    const on = (name, act) => source.addEventListener(name, (event) => {
      last = event.lastEventId || last;
      act(event.data);
    });
    source.onopen = () => { tries = 0; show("live", words.connected); };
    on("element", replace);
    on("text", (data) => append(JSON.parse(data)));
    on("remove", (id) => document.getElementById(id)?.remove());
    on("end", () => { isOver = true; source.close(); show("ended", words.ended); });
    source.onerror = () => {
      tries += 1;
      if (tries > RETRIES) {
        source.close();
        return show("lost", words.disconnected);
      }
      show("waiting", words.reconnecting.replace("{n}", tries).replace("{all}", RETRIES));
      if (source.readyState === EventSource.CLOSED) setTimeout(reopen, Math.min(500 * tries, 5000));
    };
    addEventListener("pagehide", () => source.close(), { once: true });
    return source;
  }
  // Browsers open few connections to a server: a page that has been in the background for a while gives its own back.
  let timer;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => source.close(), BACKGROUND);
    else reopen();
  });
  reopen();
}

// Links that change only a part of the page: the part is taken from the page that they lead to.
async function swap(link) {
  const response = await fetch(link.href, { headers: { accept: "text/html" }, credentials: "same-origin" });
  if (!response.ok || response.redirected) return location.assign(link.href);
  const text = await response.text();
  const page = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
  const next = page.getElementById(link.dataset.swap);
  const known = document.getElementById(link.dataset.swap);
  if (!next || !known) return location.assign(link.href);
  history.replaceState(null, "", link.href);
  known.replaceWith(document.adoptNode(next));
  for (const other of document.querySelectorAll(`[data-swap="${link.dataset.swap}"][aria-current]`)) other.removeAttribute("aria-current");
  const isClose = "close" in link.dataset;
  if (!isClose) link.setAttribute("aria-current", "true");
  next.focus({ preventScroll: matchMedia("(min-width: 70rem)").matches });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  swap(link).catch(() => location.assign(link.href));
});

if (words.live) follow_stream(words.live);
if (document.querySelector("#entries .entry")) scrollTo({ top: document.documentElement.scrollHeight });

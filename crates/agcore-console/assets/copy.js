// Buttons that copy a text. Without a clipboard, as on a page without TLS on another machine, they stay hidden.

function prepare(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    const label = button.textContent;
    button.onclick = async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = document.body.dataset.copied;
      setTimeout(() => { button.textContent = label; }, 1500);
    };
  }
}

prepare(document);
document.addEventListener("agcore:changed", (event) => prepare(event.detail));

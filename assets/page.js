// A click on a sentence swaps the Why panel in place; without script the same buttons load the page again with the sentence selected.
const answer = document.querySelector('.answer');
const buttons = () => [...document.querySelectorAll('button.claim')];

async function select(button, focusWhy) {
  const path = location.pathname;
  const response = await fetch(`${path}/why?claim=${encodeURIComponent(button.dataset.claim)}`, {
    headers: { accept: 'text/html' },
  });
  const holder = document.createElement('template');
  holder.innerHTML = await response.text();
  const next = holder.content.firstElementChild;
  const why = document.getElementById('why');
  if (next === null || why === null) return;
  why.replaceWith(next);
  for (const other of buttons()) other.setAttribute('aria-pressed', String(other === button));
  history.replaceState(null, '', `${path}?claim=${encodeURIComponent(button.value)}`);
  if (focusWhy || matchMedia('(max-width: 59.99rem)').matches) {
    next.focus();
    next.scrollIntoView({ block: 'nearest' });
  }
}

answer?.addEventListener('click', (event) => {
  const button = event.target.closest('button.claim');
  if (button === null) return;
  event.preventDefault();
  void select(button, false);
});

document.addEventListener('click', (event) => {
  const link = event.target.closest('[data-copy]');
  if (link === null) return;
  event.preventDefault();
  void navigator.clipboard?.writeText(link.href);
});

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea')) return;
  const all = buttons();
  const at = all.indexOf(document.activeElement);
  const pressed = all.find((button) => button.getAttribute('aria-pressed') === 'true');
  if (event.key === 'j') all[Math.min(all.length - 1, at + 1)]?.focus();
  else if (event.key === 'k') all[Math.max(0, at - 1)]?.focus();
  else if (event.key === 'w' && (at >= 0 || pressed)) void select(all[at] ?? pressed, true);
  else if (event.key === 'c') document.querySelector('[data-copy]')?.click();
  else if (event.key === 'Escape') pressed?.focus();
});

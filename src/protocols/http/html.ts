/** HTML by template: every interpolated value is escaped unless it is markup made here. */

/** Markup that was built by `html` and needs no further escaping. */
export interface Markup {
  readonly markup: string;
}

type Part = string | number | Markup | readonly Part[] | undefined;

export function html(parts: TemplateStringsArray, ...values: readonly Part[]): Markup {
  return { markup: parts.map((text, index) => text + written(values[index])).join('') };
}

function written(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  if ('markup' in part) return part.markup;
  return part.map(written).join('');
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** An icon of the sheet that stands at the top of the page. */
export function icon(name: string): Markup {
  return html`<svg class="i" aria-hidden="true"><use href="#${name}" /></svg>`;
}

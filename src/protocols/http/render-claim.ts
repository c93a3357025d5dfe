/** A sentence with its values underlined: solid where code wrote it from evidence, dashed where it was derived. ui/UI.md principle 3. */
import type { ClaimView } from '#contracts/run-view.ts';
import { html, type Markup } from './html.ts';

/** Values longer than this may break across lines. */
const UNBROKEN_CHARS_MAX = 40;

export function renderSentence(claim: ClaimView): Markup {
  const parts = claim.template.split(/(\{[a-zA-Z0-9]+\})/).map((part): Markup => {
    const name = /^\{([a-zA-Z0-9]+)\}$/.exec(part)?.[1];
    const slot = name === undefined || !Object.hasOwn(claim.slots, name) ? undefined : claim.slots[name];
    if (slot === undefined) return html`${part}`;
    const derived = 'formula' in slot ? ' drv' : '';
    const long = slot.value.length > UNBROKEN_CHARS_MAX ? ' long' : '';
    return html`<bdi class="slot${derived}${long}">${slot.value}</bdi>`;
  });
  return html`${parts}`;
}

/** The records under a sentence, each once. */
export function sourcesOf(claim: ClaimView): string {
  return [
    ...new Set(
      claim.evidence.map(({ ref, observedIn }) => (observedIn === null ? ref : `${ref} (from ${observedIn.runId})`)),
    ),
  ].join(', ');
}

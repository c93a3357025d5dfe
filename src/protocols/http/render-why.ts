/** The Why panel: the chain from a sentence to the lease behind it, a verdict per link. ui/UI.md "Why". */
import type { ClaimView, RunView, WhyLink, WhyView } from '#contracts/run-view.ts';
import { html, icon, type Markup } from './html.ts';
import { renderSentence } from './render-claim.ts';

const KIND: Readonly<Record<WhyLink['kind'], string>> = {
  claim: 'Sentence',
  evidence: 'Evidence',
  record: 'Artifact',
  tool_call: 'Tool call',
  worker: 'Worker',
  task: 'A2A task',
  step: 'Step',
  lease: 'Lease',
  approval: 'Approval',
  prohibition: 'Prohibition',
  lease_registry: 'Lease registry',
  effect_ledger: 'Effect ledger',
  earlier_run: 'Earlier run',
};

export interface WhyParts {
  readonly run: RunView;
  readonly selected: ClaimView;
  readonly why: WhyView;
}

export function renderWhy({ run, selected, why }: WhyParts): Markup {
  const others = run.claims.filter(
    (claim) =>
      claim.claimId !== selected.claimId &&
      claim.evidence.some((item) => selected.evidence.some((own) => own.ref === item.ref)),
  );
  return html`<aside class="why" id="why" aria-labelledby="why-title" tabindex="-1">
    <header>
      <h2 id="why-title" class="lab">Why can we say this?</h2>
      <blockquote class="say">${renderSentence(selected)}</blockquote>
      ${verdict(why)} <span class="quiet">from the log</span>
    </header>
    ${why.branches.map(
      (branch) =>
        html`<ol class="chain" aria-label="${branch.anchor}">
          ${branch.links.map(renderLink)}
        </ol>`,
    )}
    <footer>
      <p class="quiet">
        ${others.length === 0 ? 'No other sentence rests on this record.' : `Also resting on this record: ${others.length} ${others.length === 1 ? 'sentence' : 'sentences'}.`}
      </p>
      <div class="acts">
        <a class="btn" href="/runs/${run.runId}?claim=${selected.key}" data-copy>${icon('copy')} Copy link</a>
      </div>
    </footer>
  </aside>`;
}

function verdict(why: WhyView): Markup {
  return why.holds
    ? html`<span class="st ok">${icon('ok')} Holds: ${why.linkCount} of ${why.linkCount} links verified</span>`
    : why.brokenCount === 0
      ? html`<span class="st idle"
          >${icon('expired')} Erased: ${why.erasedCount} of ${why.linkCount} links are not kept any more</span
        >`
      : html`<span class="st bad"
          >${icon('failed')} Broken: ${why.brokenCount} of ${why.linkCount} links do not hold</span
        >`;
}

function renderLink(link: WhyLink): Markup {
  const [name, tone] = look(link.verdict);
  return html`<li class="link">
    <span class="${tone}">${icon(name)}</span>
    <div>
      <p class="kind">${KIND[link.kind]}</p>
      <p class="what rec"><b>${link.ref}</b></p>
      <p class="note">${link.note}</p>
      ${details(link)}
    </div>
    <span class="verdict ${tone}">${link.verdict}</span>
  </li>`;
}

function details(link: WhyLink): Markup | undefined {
  const rows = Object.entries(link.detail);
  if (rows.length === 0) return undefined;
  return html`<details class="more">
    <summary>Record</summary>
    <dl>
      ${rows.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd class="rec">${value}</dd>
          </div>`,
      )}
    </dl>
  </details>`;
}

function look(word: WhyLink['verdict']): readonly [icon: string, tone: string] {
  if (word === 'Broken') return ['failed', 'bad'];
  if (word === 'Erased') return ['expired', 'idle'];
  if (word === 'Not needed') return ['nodata', 'idle'];
  if (word === 'not checked') return ['pending', 'idle'];
  return ['ok', 'ok'];
}

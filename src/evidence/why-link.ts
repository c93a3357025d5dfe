import type { WhyLink } from '#contracts/run-view.ts';

type Kind = WhyLink['kind'];
type Detail = Readonly<Record<string, string | undefined>>;

/** A link whose check gave `verdict`. Details that are not known are left out. */
export function link(
  kind: Kind,
  ref: string,
  said: { readonly note: string; readonly verdict: WhyLink['verdict']; readonly detail?: Detail },
): WhyLink {
  const detail: Record<string, string> = {};
  for (const [name, value] of Object.entries(said.detail ?? {})) if (value !== undefined) detail[name] = value;
  return { kind, ref, note: said.note, verdict: said.verdict, detail };
}

/** A link that does not hold; the note says why. */
export function broken(kind: Kind, ref: string, said: { readonly why: string; readonly detail?: Detail }): WhyLink {
  return link(kind, ref, {
    note: said.why,
    verdict: 'Broken',
    ...(said.detail === undefined ? {} : { detail: said.detail }),
  });
}

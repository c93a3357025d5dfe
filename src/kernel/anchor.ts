/** The kind of record an anchor names: the part before its first colon, `claim` of `claim:C-102`. */
export function anchorType(anchor: string): string {
  return anchor.slice(0, anchor.indexOf(':'));
}

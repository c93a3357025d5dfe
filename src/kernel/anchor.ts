/** The two parts of an anchor such as `claim:C-102`. */

/** The kind of record: the part before the first colon, `claim`. */
export function anchorType(anchor: string): string {
  return anchor.slice(0, anchor.indexOf(':'));
}

/** The record's id: all after the first colon, `C-102`. */
export function anchorId(anchor: string): string {
  return anchor.slice(anchor.indexOf(':') + 1);
}

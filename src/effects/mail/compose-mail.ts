/** A plain text message as the bytes that go over the wire. The same input gives the same bytes, so they can be compared afterwards. */
import MailComposer from 'nodemailer/lib/mail-composer';

export interface MailText {
  readonly from: string;
  /** An address from a configured directory; never from a text. */
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  /** With its angle brackets. */
  readonly messageId: string;
  /** RFC 3339. */
  readonly date: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Ends in CRLF, as a mail server delivers it. */
export async function composeMail(text: MailText): Promise<Uint8Array> {
  const composer = new MailComposer({
    from: text.from,
    to: { name: '', address: text.to },
    subject: text.subject,
    text: text.body,
    messageId: text.messageId,
    date: new Date(text.date),
    headers: { ...text.headers },
    textEncoding: 'base64',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const built = await composer.compile().build();
  return built.subarray(-2).toString('latin1') === '\r\n' ? built : Buffer.concat([built, Buffer.from('\r\n')]);
}

/** The address inside `CaseOps <notices@insurer.example>`, or the whole when there are no brackets. */
export function addressIn(from: string): string {
  return /<([^<>\s]+)>\s*$/.exec(from)?.[1] ?? from.trim();
}

/** An answer has more bytes than its reader accepts. */
export class AnswerTooLarge extends Error {}

/** The text of an HTTP answer, which is given up at the byte after `limitBytes`; throws AnswerTooLarge. */
export async function readAnswerText(response: Response, limitBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw new AnswerTooLarge(`the answer has more than ${limitBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

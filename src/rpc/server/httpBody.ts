import type { IncomingMessage } from "node:http";

/**
 * Gathers the body of a request as text and hands it to `done`, or undefined when it has more bytes than the limit:
 * then nothing more is kept, and what still arrives is thrown away. A request that breaks off is never done.
 */
export function readBody(
  request: IncomingMessage,
  limitBytes: number,
  done: (body: string | undefined) => void,
): void {
  if (Number(request.headers["content-length"]) > limitBytes) {
    done(undefined);
    return;
  }
  let chunks: Buffer[] = [];
  let length = 0;
  request.on("data", (chunk: Buffer) => {
    const wasTooLong = length > limitBytes;
    length += chunk.length;
    if (length <= limitBytes) {
      chunks.push(chunk);
    } else if (!wasTooLong) {
      chunks = [];
      done(undefined);
    }
  });
  request.on("end", () => {
    if (length > limitBytes) return;
    const [first] = chunks;
    done(
      (chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length)).toString("utf8"),
    );
  });
}

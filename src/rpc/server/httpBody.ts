import type { IncomingMessage } from "node:http";

/**
 * Collects the body of a request and passes it to `done` as text, or undefined when it has more bytes than the limit; the
 * rest of such a body is discarded. `done` is never called for a request that breaks off.
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

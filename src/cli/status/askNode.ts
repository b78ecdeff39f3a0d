import { connect } from "node:net";
import type { StatusReport } from "../../node/status/statusReport.ts";
import { openAddress } from "../../node/status/statusSocket.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";

/** Time limit of an answer. A healthy node answers at once; one that is blocked for longer does not recover by waiting. */
const ANSWER_LIMIT_MS = 10_000;
/** Size limit of an answer: a report with a hundred peers has some 50 KB. */
const ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Queries the node that uses the data folder. `notRunning` means that none listens there; `noAnswer` that one does, but this
 * user may not query it, or it does not answer in time.
 */
export async function askNode(dataPath: string): Promise<Result<StatusReport, "notRunning" | "noAnswer">> {
  let address: ReturnType<typeof openAddress>;
  try {
    address = openAddress(dataPath);
  } catch (error) {
    return fail("local", "notRunning", `No node runs in ${dataPath}: ${messageOf(error)}.`);
  }
  if (address === undefined)
    return fail("local", "noAnswer", `The path of ${dataPath} is too long to ask its node.`);
  try {
    return ok(JSON.parse(await readAll(address.path)) as StatusReport);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ECONNREFUSED")
      return fail("local", "notRunning", `No node runs in ${dataPath}, or it is still starting.`);
    if (code === "EACCES")
      return fail(
        "local",
        "noAnswer",
        `Only the user that the node in ${dataPath} runs as, and root, may ask it.`,
      );
    return fail("local", "noAnswer", `The node in ${dataPath} does not answer: ${messageOf(error)}.`);
  } finally {
    address.close();
  }
}

function readAll(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const pieces: Buffer[] = [];
    let bytes = 0;
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy(new Error("it took longer than 10 s")));
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > ANSWER_BYTES) socket.destroy(new Error("its answer does not end"));
    });
    socket.once("error", reject);
    socket.once("end", () => {
      socket.destroy();
      resolve(Buffer.concat(pieces).toString());
    });
  });
}

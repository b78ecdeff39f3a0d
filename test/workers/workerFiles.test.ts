import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSourceFiles } from "../../scripts/structure/sourceFiles.ts";
import { root } from "../docs/documents.ts";

describe("files", () => {
  it("do not wait for anything while they are evaluated: a thread that is terminated meanwhile aborts the process (Node.js 24)", () => {
    const waiting = readSourceFiles(join(root, "src")).flatMap(({ path, text }) =>
      text
        .split("\n")
        .filter((line) => /^(?=[^\s/*]).*\bawait\b/.test(line) && !/\b(async|function)\b/.test(line))
        .map((line) => `${path}: ${line}`),
    );
    expect(waiting).toEqual([
      // A thread that opens its database or loads its code first is terminated only after it said that it is ready.
      'callers/threads/rpcWorker.ts: const { openCallerThread } = await import("./callerThread.ts");',
      ...["calls/callWorker.ts", "calls/traceWorker.ts", "logs/logSearchWorker.ts"].map(
        (path) =>
          `${path}: const database = await openLevelDatabase({ path: databasePath, readOnlyThread: true });`,
      ),
      // All that use it load it first.
      "primitives/secp256k1.ts: export const curve: Curve = loadNativeCurve() ?? (await loadNobleCurve());",
      // The main thread is never terminated.
      "program.ts: const exitCode = await (await loadProgram())(process.argv.slice(2), {",
    ]);
  });
});

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { withTimeLimit } from "../../src/primitives/timeLimit.ts";

/** Resolves never, and rejects with the signal's reason. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

describe("work with a time limit", () => {
  it("ends with its own result, at the limit, or with the reason of the stop", async () => {
    const stop = new AbortController();
    expect(await withTimeLimit(60_000, stop.signal, async () => 7)).toBe(7);
    await expect(withTimeLimit(5, stop.signal, untilAborted)).rejects.toMatchObject({
      name: "TimeoutError",
      message: "There was no answer within 5 ms",
    });
    const stopped = withTimeLimit(60_000, stop.signal, untilAborted);
    stop.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
    await expect(withTimeLimit(60_000, stop.signal, untilAborted)).rejects.toThrow("enough");
  });

  it("leaves nothing at a signal that lives on", async () => {
    setFlagsFromString("--expose_gc");
    const collect = runInNewContext("gc") as () => void;
    const { signal } = new AbortController();
    const ask = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          withTimeLimit(60_000, signal, async (own) => own.addEventListener("abort", () => undefined)),
        ),
      );
    await ask(1_000);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let turn = 0; turn < 20; turn++) await ask(1_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect();
    // AbortSignal.any leaves some 40 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * 1024 * 1024);
  });
});

import { describe, expect, it } from "vitest";
import { SharedRuns } from "../../src/chain/executedBlocks.ts";
import type { StopSignal } from "../../src/execution/yieldPolicy.ts";

const HASH = Uint8Array.of(1);
const HEAD = {};

/** Runs that the test ends explicitly. */
function manualRuns() {
  const runs = new SharedRuns<string>();
  const started: { readonly signal: StopSignal; end(result: string | undefined): void }[] = [];
  const join = (signal: StopSignal, base: object = HEAD) =>
    runs.join(
      { hash: HASH, base, signal },
      (combined) => new Promise((end) => started.push({ signal: combined, end })),
    );
  return { started, join };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("executions with several callers", () => {
  it("run once, and stop only when all callers abort", async () => {
    const { started, join } = manualRuns();
    const [first, second] = [new AbortController(), new AbortController()];
    const results = [join(first.signal), join(second.signal)];
    await settle();
    expect(started).toHaveLength(1);
    first.abort();
    expect(started[0]?.signal.aborted).toBe(false);
    second.abort();
    expect(started[0]?.signal.aborted).toBe(true);
    started[0]?.end(undefined);
    expect(await Promise.all(results)).toEqual([undefined, undefined]);
  });

  it("are started again for a caller that joins after the others aborted", async () => {
    const { started, join } = manualRuns();
    const first = new AbortController();
    const abandoned = join(first.signal);
    await settle();
    first.abort();
    const wanted = join({ aborted: false });
    started[0]?.end(undefined);
    await settle();
    expect(started).toHaveLength(2);
    started[1]?.end("executed");
    expect(await Promise.all([abandoned, wanted])).toEqual([undefined, "executed"]);
  });

  it("are not shared between heads, nor after their end, and fail for all callers", async () => {
    const { started, join } = manualRuns();
    const never = { aborted: false };
    const results = [join(never), join(never, {})];
    await settle();
    expect(started).toHaveLength(2);
    for (const run of started) run.end("executed");
    expect(await Promise.all(results)).toEqual(["executed", "executed"]);
    void join(never);
    await settle();
    expect(started).toHaveLength(3);
    const runs = new SharedRuns<string>();
    const fail = () => Promise.reject(new Error("the disk"));
    const failing = [1, 2].map(() => runs.join({ hash: HASH, base: HEAD, signal: never }, fail));
    for (const each of failing) await expect(each).rejects.toThrow("the disk");
  });
});

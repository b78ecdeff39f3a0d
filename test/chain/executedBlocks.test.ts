import { describe, expect, it } from "vitest";
import { createSharedRuns } from "../../src/chain/executedBlocks.ts";
import type { StopSignal } from "../../src/execution/yieldPolicy.ts";

const HASH = Uint8Array.of(1);
const HEAD = {};

/** Runs that a test ends by hand. */
function runsByHand() {
  const runs = createSharedRuns<string>();
  const begun: { readonly signal: StopSignal; end(result: string | undefined): void }[] = [];
  const join = (signal: StopSignal, base: object = HEAD) =>
    runs.join(
      { hash: HASH, base, signal },
      (joint) => new Promise((end) => begun.push({ signal: joint, end })),
    );
  return { begun, join };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("executions that several wait for", () => {
  it("are one, which nobody stops but all together", async () => {
    const { begun, join } = runsByHand();
    const [first, second] = [new AbortController(), new AbortController()];
    const results = [join(first.signal), join(second.signal)];
    await settle();
    expect(begun).toHaveLength(1);
    first.abort();
    expect(begun[0]?.signal.aborted).toBe(false);
    second.abort();
    expect(begun[0]?.signal.aborted).toBe(true);
    begun[0]?.end(undefined);
    expect(await Promise.all(results)).toEqual([undefined, undefined]);
  });

  it("are begun anew by who came when the others had given up already", async () => {
    const { begun, join } = runsByHand();
    const first = new AbortController();
    const given = join(first.signal);
    await settle();
    first.abort();
    const wanted = join({ aborted: false });
    begun[0]?.end(undefined);
    await settle();
    expect(begun).toHaveLength(2);
    begun[1]?.end("executed");
    expect(await Promise.all([given, wanted])).toEqual([undefined, "executed"]);
  });

  it("are not shared between heads, nor after their end, and fail for all who wait", async () => {
    const { begun, join } = runsByHand();
    const never = { aborted: false };
    const results = [join(never), join(never, {})];
    await settle();
    expect(begun).toHaveLength(2);
    for (const run of begun) run.end("executed");
    expect(await Promise.all(results)).toEqual(["executed", "executed"]);
    void join(never);
    await settle();
    expect(begun).toHaveLength(3);
    const runs = createSharedRuns<string>();
    const fail = () => Promise.reject(new Error("the disk"));
    const failing = [1, 2].map(() => runs.join({ hash: HASH, base: HEAD, signal: never }, fail));
    for (const each of failing) await expect(each).rejects.toThrow("the disk");
  });
});

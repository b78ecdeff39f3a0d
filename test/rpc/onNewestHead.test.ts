import { describe, expect, it } from "vitest";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { NewestHead, onNewestHead } from "../../src/rpc/onNewestHead.ts";
import { aCaller } from "../builders/aCaller.ts";
import { aChainSpec, anRpcBackend } from "../builders/anRpcBackend.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { chainOf } from "../builders/recordedChain.ts";

/** Answers of a thread whose view of the chain moves when the test says so. */
function aThread() {
  const view = { isCurrent: false, refreshes: 0, refresh: () => view.isCurrent || view.refreshes++ < 0 };
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const backend = anRpcBackend({ chain, spec: aChainSpec(chain, { chainId: 7n, fork: "london" }) });
  const context = { ...aCaller, backend, modules: new Set<never>(), methods: [] };
  const methods = new Map(onNewestHead(METHODS, new NewestHead(view)).map((method) => [method.name, method]));
  return { view, ask: async (name: string) => methods.get(name)?.run([], context) };
}

describe("a method on a thread whose view has not moved to the newest head", () => {
  it("waits for it where it reads the chain", async () => {
    const { view, ask } = aThread();
    let answer: unknown;
    const asked = ask("eth_blockNumber").then((known) => {
      answer = known;
    });
    await expect.poll(() => view.refreshes).toBeGreaterThan(5);
    expect(answer).toBeUndefined();
    view.isCurrent = true;
    await asked;
    expect(answer).toBe("0x0");
  });

  it("answers at once where it asks the core alone, so that an operator sees and stops a node that is stuck", async () => {
    const { view, ask } = aThread();
    expect(await ask("ibft_status")).toMatchObject({ mode: "following" });
    expect(await ask("txpool_status")).toEqual({ pending: "0x0", queued: "0x0" });
    expect(await ask("miner_stop")).toBe(true);
    expect(await ask("eth_syncing")).toBe(false);
    expect(await ask("eth_chainId")).toBe("0x7");
    expect(view.refreshes).toBe(0);
  });
});

import { describe, expect, it } from "vitest";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { type MethodPlace, placeOf } from "../../../src/rpc/threads/callerSide/threadMethods.ts";

function namesAt(place: MethodPlace): readonly string[] {
  return METHODS.filter((method) => placeOf(method) === place).map(({ name }) => name);
}

describe("when threads answer callers, the main thread", () => {
  it("runs the methods about pool, filters, peers, consensus, the operator and what changes the chain, and no others", () => {
    const subjects =
      /^(admin|miner|net|perm|txpool)_|_(new|get|uninstall).*Filter|_.*Vote(s?)$|_standardTrace/;
    const others = namesAt("main thread").filter((name) => !subjects.test(name));
    expect(others).toEqual([
      "debug_getBadBlocks",
      "debug_metrics",
      "debug_replayBlock",
      "debug_resyncWorldState",
      "debug_setHead",
      "eth_coinbase",
      "eth_mining",
      "eth_protocolVersion",
      "eth_syncing",
      "ibft_status",
      "explorer_getNodeStatus",
      "explorer_getArrivals",
    ]);
  });

  it("is asked by five more for what is in no block", () => {
    expect(namesAt("thread and pool")).toEqual([
      "eth_fillTransaction",
      "eth_getRawTransactionByHash",
      "eth_getTransactionByHash",
      "eth_getTransactionCount",
      "txpool_nodeStatistics",
    ]);
  });

  it("runs none that reads the chain, calls or traces", () => {
    const names = namesAt("thread");
    for (const { name, ports = [] } of METHODS) {
      const isRead =
        /^(eth_(call|estimate|create|simulate|get(Balance|Block|Code|Logs|Proof|Storage))|trace_)/.test(name);
      if (isRead || ports.includes("stateQueries")) expect(names).toContain(name);
    }
    expect(names.filter((name) => name.startsWith("debug_trace"))).toHaveLength(5);
  });
});

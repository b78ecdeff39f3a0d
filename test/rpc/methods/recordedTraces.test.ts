import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import type { CoreParts } from "../../../src/rpc/core/coreParts.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChain } from "../../builders/aChain.ts";
import { anRpcBackend } from "../../builders/anRpcBackend.ts";
import { recordedBlocks } from "../../builders/recordedChain.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { itIfThorough } from "../../thorough.ts";
import { describeWithVectors, vectorPath } from "../../vectors.ts";
import { withoutBesuBugs } from "./besuTraceBugs.ts";

/**
 * Compares traces recorded from a live Besu node with ours, made on the real chain with the same blocks imported with full
 * validation. Compared as text, except for Besu's bugs, which are listed one by one. Only part of the long run; daily runs
 * cover the recorded requests (recordedAnswers.test.ts).
 */

interface RecordedTrace {
  readonly label?: string;
  readonly block: number;
  readonly index?: number;
  readonly request: { readonly method: string; readonly params: readonly unknown[] };
  readonly result: unknown;
}

const TRACED = [
  "debug_traceBlockByNumber",
  "debug_traceTransaction",
  "trace_block",
  "trace_replayBlockTransactions",
  "trace_transaction",
] as const;

type Network = "net1" | "net2";

/**
 * Blocks and transactions that Besu traces wrongly as a whole (architecture.md#rulings): transactions after others in
 * their block, traced as if they were the first, and those that read COINBASE when a beneficiary is set.
 */
const MISTRACED: Readonly<Record<Network, ReadonlySet<string>>> = {
  net1: new Set([
    "debug_traceTransaction burst-3",
    "debug_traceTransaction store-info",
    "debug_traceBlockByNumber 217",
    "trace_block 217",
    "trace_replayBlockTransactions 217",
    "trace_transaction store-info",
  ]),
  net2: new Set(["debug_traceTransaction burst-3"]),
};

describeWithVectors("traces recorded from a live network", () => {
  describe.each(["net1", "net2"] as const)("%s", (network) => {
    let ask: (request: RecordedTrace["request"]) => Promise<string>;

    beforeAll(async () => {
      ask = await openNetwork(network);
    });

    itIfThorough.each(TRACED)("%s", async (method) => {
      const traces = readTraces(network, method);
      expect(traces.length).toBeGreaterThan(50);
      for (const { label, block, request, result } of traces) {
        if (MISTRACED[network].has(`${method} ${label ?? block}`)) continue;
        const ours = (JSON.parse(await ask(request)) as { result: unknown }).result;
        const [shown, expected] = withoutBesuBugs(ours, result);
        expect(shown, `${label ?? ""} in block ${block}`).toBe(expected);
      }
    });
  });

  describe.each(["net1", "net2"] as const)("trace files of %s", (network) => {
    const folder = ["besu-ibft", network, "standard-trace-files"];
    const files = readdirSync(vectorPath(...folder));

    itIfThorough.each(files)("%s", async (file) => {
      const written = new Map<string, string>();
      const ask = await openNetwork(network, async (name, pieces) => {
        written.set(name, joinPieces(pieces));
        return name;
      });
      const blockStart = file.slice("block_".length, "block_".length + 10);
      const traced = readTraces(network, "trace_block").map(
        ({ result }) => result as { blockHash: string }[],
      );
      const hash = traced.find(([first]) => first?.blockHash.startsWith(blockStart))?.[0]?.blockHash;
      // Files with memory were recorded without options: Besu writes memory by default, we do not.
      const options = file.includes("disableMemory") ? [] : [{ disableMemory: false }];
      const request = { method: "debug_standardTraceBlockToFile", params: [hash, ...options] };
      const { result } = JSON.parse(await ask(request)) as { result: string[] };
      expect(result).toHaveLength(1);
      expect(result[0]?.startsWith(file.split(".")[0] ?? "")).toBe(true);
      const withoutTime = (text: string | undefined): string | undefined => text?.replace(/"time":\d+/, "");
      const recorded = readFileSync(vectorPath(...folder, file), "utf8");
      expect(withoutTime(written.get(result[0] ?? ""))).toBe(withoutTime(recorded));
    });
  });

  itIfThorough("run the earlier transactions of a block first", async () => {
    const ask = await openNetwork("net1");
    const all = readTraces("net1", "debug_traceBlockByNumber").find(({ block }) => block === 293);
    const traces = expectDefined(all, "the traces of a block with many calls").result as readonly object[];
    const single = readTraces("net1", "debug_traceTransaction").filter(({ block }) => block === 293);
    expect(single.length).toBe(traces.length);
    for (const { request, index = 0 } of single) {
      const params = [request.params[0], { disableMemory: true }];
      const { result } = JSON.parse(await ask({ ...request, params })) as { result: unknown };
      expect(result).toEqual(traces[index]);
    }
  });
});

async function openNetwork(
  network: Network,
  writeTrace: CoreParts["writeTrace"] = () => Promise.resolve(undefined),
): Promise<(request: RecordedTrace["request"]) => Promise<string>> {
  const folder = ["besu-ibft", network];
  const { chain, spec } = await aChain({
    genesis: readFileSync(vectorPath(...folder, "genesis.json"), "utf8"),
  });
  for (const { header, transactions, ommers } of recordedBlocks(folder).slice(1)) {
    const imported = await chain.importBlock({ header, transactions, ommers });
    if (!imported.ok) throw new Error(imported.error.message);
  }
  const backend = anRpcBackend({ chain, spec, tracer: tracerOf(chain, spec), writeTrace });
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(["DEBUG", "TRACE"] as const) },
    { backend, logger: silentLogger },
  );
  return async (request) => {
    const message = { jsonrpc: "2.0", id: 1, ...request };
    return expectDefined(
      await dispatcher.answerRequest(message, JSON.stringify(message), aCaller),
      "the reply",
    ).text;
  };
}

function readTraces(network: string, method: string): RecordedTrace[] {
  const bytes = gunzipSync(readFileSync(vectorPath("besu-ibft", network, "traces", `${method}.jsonl.gz`)));
  return bytes
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RecordedTrace);
}

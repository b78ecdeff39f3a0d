import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChainSpec, anRpcBackend } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { chainOf } from "../../builders/recordedChain.ts";

const chain = chainOf([aStoredBlock({ number: 0 })]);

/** The answer, and the change that the node received. */
async function ask(params: readonly unknown[]): Promise<{ answer: unknown; changed: unknown }> {
  let changed: unknown;
  const backend = anRpcBackend({
    chain,
    spec: aChainSpec(chain, { chainId: 1337n, fork: "london" }),
    changeLogLevel: (level, modules) => {
      changed = { level, modules };
    },
  });
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(["ADMIN"] as const) },
    { backend, logger: silentLogger },
  );
  const request = { jsonrpc: "2.0", id: 1, method: "admin_changeLogLevel", params };
  const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
  const { result, error } = JSON.parse(reply?.text ?? "{}") as { result?: unknown; error?: { code: number } };
  return { answer: result ?? error?.code, changed };
}

describe("admin_changeLogLevel", () => {
  it.each([
    [["DEBUG"], { level: "DEBUG", modules: undefined }],
    [["OFF", ["rpc", "chain"]], { level: "OFF", modules: ["chain", "rpc"] }],
    [["TRACE", ["org.hyperledger.besu.consensus.ibft"]], { level: "TRACE", modules: ["consensus"] }],
    [["TRACE", ["io.vertx"]], { level: "TRACE", modules: [] }],
  ])("%j succeeds", async (params, changed) => {
    expect(await ask(params)).toEqual({ answer: "Success", changed });
  });

  it.each([[[]], [["debug"]], [["LOUD"]], [["INFO", "rpc"]], [["INFO", [1]]]])(
    "%j is refused",
    async (params) => {
      expect(await ask(params)).toEqual({ answer: -32602, changed: undefined });
    },
  );
});

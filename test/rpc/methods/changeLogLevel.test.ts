import { describe, expect, it } from "vitest";
import type { LogLevel, LogModule } from "../../../src/observability/levels.ts";
import { adminChangeLogLevel } from "../../../src/rpc/methods/admin/changeLogLevel.ts";
import { aCore } from "../../builders/anRpcBackend.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";
import { requesterFor } from "../requester.ts";

/** The answer, and the change that the node received. */
async function ask(params: readonly unknown[]): Promise<{ answer: unknown; changed: unknown }> {
  let changed: unknown;
  const { node } = aCore({
    changeLogLevel: (level: LogLevel, modules?: readonly LogModule[]) => {
      changed = { level, modules };
    },
  });
  const ask = requesterFor([adminChangeLogLevel], { node });
  return { answer: await ask("admin_changeLogLevel", ...params), changed };
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
      expect(await ask(params)).toEqual({
        answer: INVALID_PARAMS,
        changed: undefined,
      });
    },
  );
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { concatBytes, type Hex, toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { generator } from "../../storage/random.ts";
import {
  type NodeProcess,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { prepareNetwork } from "../harness/validatorNetwork.ts";

/** Kills in the middle of a rewind. None in the daily run, where test/chain/history.test.ts covers this. */
const REWINDS = Number(process.env["IBEX_REWINDS"] ?? 0);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);

const LENGTH = 300;

async function headOf(node: NodeProcess): Promise<number> {
  return Number(await node.rpc<Hex>("eth_blockNumber"));
}

describe("debug_setHead", () => {
  it.runIf(REWINDS > 0)(
    `leaves a consistent chain after a kill -9 at any point, ${REWINDS} times (IBEX_SEED=${SEED})`,
    async () => {
      const random = generator(SEED);
      const dataPath = temporaryFolder();
      const genesis = `--genesis-file=${DEV_GENESIS_FILE}`;
      const bodies = Array.from({ length: LENGTH }, (_, nonce) => [aTransaction({ nonce: BigInt(nonce) })]);
      writeFileSync(join(dataPath, "blocks"), concatBytes(...(await sealedDevBlocks(bodies)).slice(1)));
      // Not a validator's key, so that this node only follows.
      writeFileSync(join(dataPath, "key"), toHex(account(7).privateKey), { mode: 0o600 });
      const run = (...args: string[]) => runProgram([`--data-path=${dataPath}`, genesis, ...args]).exit;
      const start = () =>
        startNodeProcess({
          dataPath,
          options: [genesis, "--p2p-enabled=false", "--rpc-http-enabled", "--rpc-http-api=ETH,DEBUG,MINER"],
        });
      for (let kill = 0; kill < REWINDS; kill++) {
        expect(await run("blocks", "import", join(dataPath, "blocks"))).toBe(0);
        const node = await start();
        expect(await headOf(node)).toBe(LENGTH);
        const rewinding = node.rpc("debug_setHead", ["0x1"]).catch(() => undefined);
        const killAtMs = Date.now() + random.below(120);
        while (Date.now() < killAtMs) await headOf(node).catch(() => undefined);
        await node.kill();
        await rewinding;
      }
      const node = await start();
      const head = await headOf(node);
      expect(head).toBeGreaterThanOrEqual(1);
      const nonce = await node.rpc<Hex>("eth_getTransactionCount", [toHex(account(0).address), "latest"]);
      expect(Number(nonce)).toBe(head);
      expect(await node.rpc("debug_setHead", ["0x1"])).toBe("Success");
      expect(await headOf(node)).toBe(1);
      expect(await node.rpc("debug_replayBlock", ["0x1"])).toBe("Success");
      expect(await node.rpc("debug_resyncWorldState")).toBe("Success");
      await expect(node.rpc("debug_setHead", ["0x2"])).rejects.toMatchObject({ code: -39001 });
      expect(await node.stop()).toBe(0);
      expect(await run("database", "check")).toBe(0);
    },
    TEST_HANG_MS + REWINDS * 10_000,
  );

  it.runIf(REWINDS > 0)(
    "is refused by an active validator; a stopped one follows until it reaches its last vote again",
    async () => {
      const network = await prepareNetwork({ validators: 3 });
      const [node, other] = await network.startAll();
      if (node === undefined || other === undefined) throw new Error("there are three");
      try {
        await until(async () => ((await headOf(node)) >= 6 ? true : undefined), "six blocks");
        await expect(node.rpc("debug_setHead", ["0x2"])).rejects.toMatchObject({
          code: -32000,
          message: expect.stringContaining("miner_stop") as string,
        });
        expect(await node.rpc("miner_stop")).toBe(true);
        const stopped = async () =>
          (await node.rpc<{ round: unknown }>("ibft_status")).round === null ? true : undefined;
        await until(stopped, "a validator that has stopped");
        expect(await node.rpc("debug_setHead", ["0x2"])).toBe("Success");
        expect(await node.rpc("miner_start")).toBe(true);
        const isBack = async () =>
          Math.min(await headOf(node), await headOf(other)) >= 10 ? true : undefined;
        await until(isBack, "the chain of the others, and more");
        const votes = async () =>
          (await node.rpc<{ mode: string }>("ibft_status")).mode === "validating" ? true : undefined;
        await until(votes, "an active validator");
        const [ours, theirs] = await Promise.all(
          [node, other].map((each) => each.rpc<{ hash: Hex }>("eth_getBlockByNumber", ["0x6", false])),
        );
        expect(ours?.hash).toBe(theirs?.hash);
      } finally {
        await network.stopAll();
      }
    },
  );
});

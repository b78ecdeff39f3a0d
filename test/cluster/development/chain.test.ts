import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { generator } from "../../storage/random.ts";
import { itIfThorough } from "../../thorough.ts";
import { type NodeProcess, runProgram, startNodeProcess, temporaryFolder } from "../harness/nodeProcess.ts";

/** A few in the daily run; a dozen in the long run (`npm run test:long`). */
const KILLS = Number(process.env["IBEX_KILLS"] ?? 2);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);

/** Everything that changes the course of the chain, again and again, until the node is gone. */
async function changeCourse(node: NodeProcess): Promise<void> {
  try {
    for (let turn = 1; ; turn++) {
      const id = await node.rpc("evm_snapshot");
      await node.rpc("evm_setBlockGasLimit", [30_000_000 + turn]);
      await node.rpc("hardhat_mine", [turn % 2 === 0 ? "0x5" : "0xc8", "0x3c"]);
      await node.rpc("anvil_loadState", [await node.rpc("anvil_dumpState")]);
      await node.rpc("evm_increaseTime", [turn]);
      if (turn % 3 !== 0) await node.rpc("evm_revert", [id]);
    }
  } catch {
    // The node was killed.
  }
}

async function check(dataPath: string): Promise<string> {
  const checked = runProgram([`--data-path=${dataPath}`, "database", "check"]);
  expect(await checked.exit, checked.output()).toBe(0);
  return checked.output();
}

describe("a chain of the development network", () => {
  itIfThorough(
    `opens again and is sound after a kill -9 at any moment, ${KILLS} times (IBEX_SEED=${SEED})`,
    async () => {
      const random = generator(SEED);
      const dataPath = temporaryFolder();
      for (let kill = 0; kill < KILLS; kill++) {
        const node = await startNodeProcess({ dataPath, options: ["--rpc-threads=1"] });
        const course = changeCourse(node);
        // The first kill comes about when the mark and the first block are written.
        const atMs = Date.now() + random.below(kill === 0 ? 60 : 600);
        while (Date.now() < atMs) await node.rpc("eth_blockNumber").catch(() => undefined);
        await node.kill();
        await course;
        const isMarked = existsSync(join(dataPath, "development.json"));
        expect((await check(dataPath)).includes("with the comforts of the development network")).toBe(
          isMarked,
        );
      }
      const node = await startNodeProcess({ dataPath, options: ["--rpc-threads=1"] });
      const height = Number(await node.rpc("eth_blockNumber"));
      await node.rpc("evm_setAutomine", [false]);
      await node.rpc("evm_setBlockGasLimit", [31_000_000]);
      await node.rpc("evm_mine");
      expect(Number(await node.rpc("eth_blockNumber"))).toBeGreaterThanOrEqual(height + 2);
      await node.rpc("hardhat_mine", ["0x14"]);
      await node.rpc("anvil_loadState", [await node.rpc("anvil_dumpState")]);
      const acknowledged = await node.rpc("eth_getBlockByNumber", ["latest", false]);
      await node.kill();
      const again = await startNodeProcess({ dataPath, options: ["--rpc-threads=1"] });
      expect(await again.rpc("eth_getBlockByNumber", ["latest", false])).toEqual(acknowledged);
      expect(await again.stop()).toBe(0);
      expect(await check(dataPath)).toMatch(/ [1-9][0-9]* of its blocks are altered ones/);
    },
    KILLS * TEST_HANG_MS,
  );

  it(
    "is refused by every command that would pass it on, and by a node of another network",
    async () => {
      const dataPath = temporaryFolder();
      const node = await startNodeProcess({ dataPath, options: ["--rpc-threads=1"] });
      await node.rpc("evm_mine");
      expect(await node.stop()).toBe(0);
      const to = join(temporaryFolder(), "written");
      const genesis = `--genesis-file=${DEV_GENESIS_FILE}`;
      const refused = await Promise.all(
        [
          ["blocks", "export", `--to=${to}`],
          [genesis, "blocks", "import", `--from=${to}`],
          [genesis, "snapshot", "export", `--to=${to}`],
          [genesis, "snapshot", "import", `--from=${to}`, `--block-hash=0x${"11".repeat(32)}`],
          ["backup", `--to=${to}`],
          ["backup", "restore", `--from=${to}`],
          ["validator", "hand-over", `--to=${to}`],
          ["validator", "take-over", `--from=${to}`],
          [genesis],
        ].map(async (args) => {
          const run = runProgram([`--data-path=${dataPath}`, ...args]);
          return { args, code: await run.exit, output: run.output() };
        }),
      );
      for (const { args, code, output } of refused) {
        expect(code, args.join(" ")).toBe(2);
        expect(output, args.join(" ")).toContain("the comforts of the development network");
        expect(output, args.join(" ")).toContain("--data-path");
      }
      expect(existsSync(to)).toBe(false);
    },
    TEST_HANG_MS,
  );
});

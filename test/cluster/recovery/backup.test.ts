import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { DEV_ACCOUNTS } from "../../../src/config/devNetwork.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { generator } from "../../storage/random.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  type NodeProcess,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);
const ROUNDS = 8;
const TRANSFERS_A_ROUND = 400;
const SENDER = hexToBytes(DEV_ACCOUNTS[0]?.privateKey ?? "0x");

itIfThorough(
  `backups of a node under load restore to its chain, also after kills of the backup (IBEX_SEED=${SEED})`,
  async () => {
    const random = generator(SEED);
    const folder = temporaryFolder();
    const at = (name: string): string => join(folder, name);
    mkdirSync(at("data"));
    const node = await startNodeProcess({ dataPath: at("data") });
    onTestFinished(node.kill);
    const ibex = async (data: string, ...args: readonly string[]) => {
      const program = runProgram([`--data-path=${at(data)}`, ...args]);
      return { exitCode: await program.exit, output: program.output() };
    };
    const backUp = ["backup", `--to=${at("backups")}`, "--keep=3"];
    let nonce = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const sending = sendTransfers(node, nonce);
      nonce += TRANSFERS_A_ROUND;
      const killed = runProgram([`--data-path=${at("data")}`, ...backUp]);
      setTimeout(() => killed.child.kill("SIGKILL"), 100 + random.below(900));
      await killed.exit;
      expect(await ibex("data", ...backUp)).toMatchObject({ exitCode: 0 });
      await sending;
    }
    expect(readdirSync(at("data")).filter((name) => name.endsWith("unfinished"))).toEqual([]);
    const backups = readdirSync(at("backups"));
    expect(backups.length).toBe(3);

    for (const backup of backups) {
      const data = `restored-${backup}`;
      const restored = await ibex(data, "backup", "restore", `--from=${at(join("backups", backup))}`);
      expect(restored).toMatchObject({ exitCode: 0 });
      const [, head = "", hash = ""] = /head number: (\d+)\nhead hash: (0x\w+)/.exec(restored.output) ?? [];
      const block = await node.rpc<{ hash: string }>("eth_getBlockByNumber", [
        `0x${Number(head).toString(16)}`,
        false,
      ]);
      expect(block.hash).toBe(hash);
      expect(await ibex(data, "database", "check")).toMatchObject({
        exitCode: 0,
        output: expect.stringContaining("The database is sound."),
      });
    }

    // The newest one serves as a node, which goes on where the backup ends.
    await node.stop();
    const newest = await startNodeProcess({ dataPath: at(`restored-${backups.sort().at(-1)}`) });
    onTestFinished(newest.kill);
    const height = Number(await newest.rpc<string>("eth_blockNumber"));
    await until(
      async () => Number(await newest.rpc<string>("eth_blockNumber")) > height || undefined,
      "a further block",
    );
  },
);

async function sendTransfers(node: NodeProcess, firstNonce: number): Promise<void> {
  for (let index = 0; index < TRANSFERS_A_ROUND; index++) {
    const { raw } = aTransaction({
      nonce: BigInt(firstNonce + index),
      to: accountFromSeed(firstNonce + index).address,
      privateKey: SENDER,
    });
    await node.rpc("eth_sendRawTransaction", [toHex(raw)]);
  }
}

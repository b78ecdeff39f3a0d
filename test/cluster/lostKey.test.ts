import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY_FILE } from "../../src/config/devNetwork.ts";
import { concatBytes } from "../../src/primitives/hex.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { sealedDevBlocks } from "../builders/sealedChain.ts";
import { IN_REAL_TIME } from "../realTime.ts";
import { itIfThorough } from "../thorough.ts";
import {
  logOf,
  type NodeProcess,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "./nodeProcess.ts";

const NETWORK = [`--genesis-file=${DEV_GENESIS_FILE}`, "--p2p-port=0", "--rpc-http-enabled"];

async function refusedStart(dataPath: string): Promise<string> {
  const program = runProgram([...NETWORK, `--data-path=${dataPath}`]);
  expect(await program.exit).toBe(2);
  return program.output();
}

describe("the node's key", IN_REAL_TIME, () => {
  it("is told when it is made, and never made anew beside what a node did with another", async () => {
    const node = await startNodeProcess({ options: NETWORK });
    const { dataPath } = node;
    const keyFile = join(dataPath, "key");
    const address = await node.rpc("eth_coinbase");
    expect(toldKeys(node)).toMatchObject([{ level: "INFO", address, path: keyFile }]);
    expect(await node.stop()).toBe(0);

    renameSync(keyFile, join(dataPath, "moved"));
    const withVotes = await refusedStart(dataPath);
    expect(withVotes).toContain(
      `The node key file ${keyFile} is missing, but ${join(dataPath, "votes.log")} is there: `,
    );
    rmSync(join(dataPath, "votes.log"));
    rmSync(join(dataPath, "votes.log.mark"));
    expect(await refusedStart(dataPath)).toContain(`${join(dataPath, "chain")} is there: `);
    expect(existsSync(keyFile)).toBe(false);

    renameSync(join(dataPath, "moved"), keyFile);
    const again = await startNodeProcess({ dataPath, options: NETWORK });
    expect(await again.rpc("eth_coinbase")).toBe(address);
    expect(toldKeys(again)).toEqual([]);
    expect(await again.stop()).toBe(0);

    // A folder that is to be another node's: with the command that the refusal names.
    rmSync(keyFile);
    const made = runProgram([`--data-path=${dataPath}`, "public-key", "export-address"]);
    expect(await made.exit).toBe(0);
    const other = await startNodeProcess({ dataPath, options: NETWORK });
    expect(made.output()).toContain(await other.rpc<string>("eth_coinbase"));
    expect(await other.stop()).toBe(0);
  }, 60_000);

  itIfThorough(
    "is made by an import into an empty folder, which the node then goes on with",
    async () => {
      const dataPath = temporaryFolder();
      const file = join(temporaryFolder(), "blocks");
      writeFileSync(file, concatBytes(...(await sealedDevBlocks([[aTransaction({ nonce: 0n })]])).slice(1)));
      const imported = runProgram([
        ...NETWORK.slice(0, 1),
        `--data-path=${dataPath}`,
        "blocks",
        "import",
        file,
      ]);
      expect(await imported.exit).toBe(0);
      expect(imported.output()).toContain("made a new node key");
      const node = await startNodeProcess({ dataPath, options: NETWORK });
      expect(await node.rpc("eth_blockNumber")).toBe("0x1");
      expect(toldKeys(node)).toEqual([]);
      expect(await node.stop()).toBe(0);
    },
    60_000,
  );
});

/**
 * The printed cure: what it says to delete goes, what it says to keep stays, and the validator goes on as the one that it
 * was with what its peers have.
 */
describe("the cure for a damaged database", IN_REAL_TIME, () => {
  itIfThorough(
    "leaves a validator its key and its votes",
    async () => {
      const validatorOptions = [...NETWORK, "--p2p-host=127.0.0.1"];
      const dataPath = temporaryFolder();
      copyFileSync(DEV_VALIDATOR_KEY_FILE, join(dataPath, "key"));
      const start = (options: readonly string[] = []) =>
        startNodeProcess({ dataPath, options: [...validatorOptions, ...options] });
      const validator = await start();
      const follower = await startNodeProcess({
        options: [...NETWORK, `--bootnodes=${await enodeOf(validator)}`],
      });
      await heightOf(follower, 3);
      expect(await validator.stop()).toBe(0);

      for (const name of readdirSync(join(dataPath, "chain")).filter((each) => each.startsWith("MANIFEST")))
        writeFileSync(join(dataPath, "chain", name), "damaged");
      const damaged = runProgram([...NETWORK, `--data-path=${dataPath}`]);
      expect(await damaged.exit).toBe(74);
      const names = /or delete (chain\/), (caches\/) and (head\.log) there/.exec(damaged.output())?.slice(1);
      expect(names).toHaveLength(3);
      for (const name of names ?? []) rmSync(join(dataPath, name), { recursive: true, force: true });

      const before = await follower.rpc<{ number: string; hash: string }>("eth_getBlockByNumber", [
        "latest",
        false,
      ]);
      const cured = await start([`--bootnodes=${await enodeOf(follower)}`]);
      await heightOf(cured, Number(before.number) + 2);
      expect(await cured.rpc("eth_getBlockByNumber", [before.number, false])).toEqual(before);
      expect(await cured.rpc("eth_mining")).toBe(true);
      for (const node of [cured, follower]) expect(await node.stop()).toBe(0);
    },
    60_000,
  );
});

async function enodeOf(node: NodeProcess): Promise<string> {
  return (await node.rpc<string>("net_enode")).replace("?discport=0", "");
}

async function heightOf(node: NodeProcess, height: number): Promise<void> {
  await until(
    async () => (Number(await node.rpc("eth_blockNumber")) >= height ? true : undefined),
    20_000,
    `block ${height}`,
  );
}

function toldKeys(node: NodeProcess) {
  return logOf(node).filter(({ message }) => message.startsWith("made a new node key"));
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { asAddress } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { concatBytes, type Hex, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account, accountFromSeed } from "../../builders/testAccounts.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { generator } from "../../storage/random.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  logOf,
  type NodeProcess,
  pause,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);
const KILLS = Number(process.env["IBEX_REMOVAL_KILLS"] ?? 5);
const KEPT = 128;
/** Blocks of the first import, and of both. */
const [FIRST, ALL] = [420, 560];
const TRANSFERS = 5;
const GENESIS = `--genesis-file=${DEV_GENESIS_FILE}`;
const UNAVAILABLE = { code: -32000, message: "World state unavailable" };

const random = generator(SEED);

/** Code that stores the number of the block in a slot of that number modulo 16, and clears the one after it. */
const COUNTER = hexToBytes("0x43600f431655600060014301600f1655");
/** Returns COUNTER. */
const CREATION = concatBytes(
  hexToBytes(`0x60${COUNTER.length.toString(16)}600c60003960${COUNTER.length.toString(16)}6000f3`),
  COUNTER,
);

itIfThorough(
  `a node with --state-history answers for the states that it keeps as an archive does, through ${KILLS} kills (IBEX_SEED=${SEED})`,
  async () => {
    const blocks = await someBlocks();
    const [archive, pruned] = [aFolder(), aFolder()];
    for (const dataPath of [archive, pruned]) await importBlocks(dataPath, blocks.slice(1, FIRST + 1));
    const reference = await startNode(archive, []);
    onTestFinished(() => reference.kill());
    const [receipt] = await reference.rpc<{ contractAddress: Hex }[]>("eth_getBlockReceipts", ["0x1"]);
    const contract = expectDefined(receipt, "the receipt of the creation").contractAddress;
    for (let kill = 0; kill < KILLS; kill++) {
      const node = await startNode(pruned, [`--state-history=${KEPT}`]);
      await pause(random.below(400));
      await node.kill();
    }
    const node = await removed(pruned, FIRST - KEPT);
    await expectHistory(node, reference, { start: FIRST - KEPT, head: FIRST, contract });
    expect(await node.stop()).toBe(0);
    await reference.stop();

    // A later round has a base to move.
    for (const dataPath of [archive, pruned]) await importBlocks(dataPath, blocks.slice(FIRST + 1));
    const again = await removed(pruned, ALL - KEPT);
    const grown = await startNode(archive, []);
    onTestFinished(() => grown.kill());
    await expectHistory(again, grown, { start: ALL - KEPT, head: ALL, contract });
    await expect(again.rpc("debug_setHead", [toQuantity(ALL - KEPT - 1)])).rejects.toMatchObject({
      message: expect.stringContaining(`states begin with that of block ${ALL - KEPT}`) as string,
    });
    expect(await again.rpc("debug_setHead", [toQuantity(ALL - KEPT)])).toBe("Success");
    expect(await again.rpc("debug_resyncWorldState")).toBe("Success");
    expect(await again.stop()).toBe(0);
    const check = runProgram(["--data-path", pruned, GENESIS, "database", "check"]);
    expect(await check.exit, check.output()).toBe(0);

    // Without the option nothing more is removed, and the start is said.
    const kept = await startNode(pruned, []);
    await until(
      async () => logOf(kept).find(({ message }) => message.startsWith("all states are kept from now on")),
      "the line about the start",
    );
    expect(await kept.rpc("eth_getBalance", [contract, "0x1"])).toBeNull();
    expect(await kept.stop()).toBe(0);
  },
  TEST_HANG_MS + KILLS * 30_000,
);

function aFolder(): string {
  const dataPath = temporaryFolder();
  // Not a validator's key, so that this node only follows.
  writeFileSync(join(dataPath, "key"), toHex(account(7).privateKey), { mode: 0o600 });
  return dataPath;
}

function startNode(dataPath: string, options: readonly string[]): Promise<NodeProcess> {
  const fixed = [
    "--p2p-enabled=false",
    "--rpc-http-enabled",
    "--rpc-http-api=ETH,DEBUG,MINER",
    "--logging=DEBUG",
  ];
  return startNodeProcess({ dataPath, options: [GENESIS, ...fixed, ...options] });
}

async function importBlocks(dataPath: string, blocks: readonly Uint8Array[]): Promise<void> {
  const file = join(dataPath, "blocks");
  writeFileSync(file, concatBytes(...blocks));
  const run = runProgram([`--data-path=${dataPath}`, GENESIS, "blocks", "import", file]);
  expect(await run.exit, run.output()).toBe(0);
}

/** Transfers to new accounts, and calls of a contract that writes and clears slots. */
async function someBlocks(): Promise<readonly Uint8Array[]> {
  let nonce = 0n;
  const creation = aTransaction({ nonce: nonce++, to: undefined, value: 0n, data: CREATION });
  // The contract that account 0 creates with its first transaction.
  const contract = asAddress(hexToBytes("0x5fbdb2315678afecb367f032d93f642f64180aa3"));
  const bodies = Array.from({ length: ALL }, (_, index) => {
    if (index === 0) return [creation];
    const calls = index % 3 === 0 ? [aTransaction({ nonce: nonce++, to: contract, value: 0n })] : [];
    const transfers = Array.from({ length: TRANSFERS }, () =>
      aTransaction({ nonce: nonce++, to: accountFromSeed(1 + random.below(100)).address, value: 7n }),
    );
    return [...calls, ...transfers];
  });
  return sealedDevBlocks(bodies);
}

/** Starts a node after another one has removed its old states: threads that answer see what is stored when they begin. */
async function removed(dataPath: string, start: number): Promise<NodeProcess> {
  const options = [`--state-history=${KEPT}`];
  const removing = await startNode(dataPath, options);
  await until(
    async () =>
      logOf(removing).find(
        ({ message, start: at }) => message === "old states have been removed" && at === start,
      ),
    `the removal of the states before ${start}`,
  );
  expect(await removing.stop()).toBe(0);
  return startNode(dataPath, options);
}

interface Expected {
  readonly start: number;
  readonly head: number;
  readonly contract: Hex;
}

/** The node answers for states from the start on as the archive does, refuses older ones, and has all blocks. */
async function expectHistory(node: NodeProcess, archive: NodeProcess, { start, head, contract }: Expected) {
  const both = async (method: string, params: readonly unknown[]) => {
    const [found, expected] = await Promise.all([node.rpc(method, params), archive.rpc(method, params)]);
    expect(found, `${method} ${JSON.stringify(params)}`).toEqual(expected);
  };
  const slots = Array.from({ length: 17 }, (_, slot) => toQuantity(slot));
  for (const number of [start, start + 1, start + 40, head - 1, head]) {
    const at = toQuantity(number);
    await both("eth_getProof", [contract, slots.map((slot) => word(slot)), at]);
    for (let index = 0; index < 100; index++)
      await both("eth_getBalance", [toHex(accountFromSeed(index + 1).address), at]);
    await both("eth_call", [{ to: contract }, at]);
    if (number > start) await both("debug_traceBlockByNumber", [at]);
  }
  const old = toQuantity(start - 1);
  // As a node that was made from a snapshot answers.
  expect(await node.rpc("eth_getBalance", [contract, old])).toBeNull();
  expect(await node.rpc("eth_getStorageAt", [contract, "0x0", old])).toBeNull();
  await expect(node.rpc("eth_call", [{ to: contract }, old])).rejects.toMatchObject({ code: -32603 });
  await expect(node.rpc("eth_getProof", [contract, [], old])).rejects.toMatchObject({
    message: "Account not found",
  });
  for (const [method, params] of [
    ["eth_getTransactionCount", [contract, old]],
    ["debug_traceBlockByNumber", [toQuantity(start)]],
  ] as const)
    await expect(node.rpc(method, params), method).rejects.toMatchObject(UNAVAILABLE);
  for (const number of [0, 1, start - 1, start]) {
    await both("eth_getBlockByNumber", [toQuantity(number), true]);
    await both("eth_getBlockReceipts", [toQuantity(number)]);
  }
}

/** A quantity as a word of 32 bytes. */
function word(quantity: Hex): Hex {
  return `0x${quantity.slice(2).padStart(64, "0")}`;
}

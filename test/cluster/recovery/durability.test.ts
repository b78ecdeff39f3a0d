import { verifyMerkleProof } from "@ethereumjs/mpt";
import { type Hex, hexToBytes, keccak256 } from "viem";
import { describe, expect, it } from "vitest";
import WebSocket from "ws";
import { toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { generator } from "../../storage/random.ts";
import {
  type NodeProcess,
  pause,
  RpcFailure,
  rpc,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

/** A few in the daily run; a hundred in the long run (`npm run test:long`). */
const KILLS = Number(process.env["IBEX_KILLS"] ?? 1);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);
const BATCH = 50;

interface Known {
  /** Newest block of which a subscriber was notified. */
  announced: { number: bigint; hash: Hex } | undefined;
  /** Transactions whose receipt was returned, with the hash of its block. */
  readonly receipts: Map<Hex, Hex>;
}

describe("kill -9", () => {
  it(
    `loses nothing that was announced or answered, ${KILLS} times under load (IBEX_SEED=${SEED})`,
    async () => {
      const random = generator(SEED);
      const dataPath = temporaryFolder();
      const known: Known = { announced: undefined, receipts: new Map() };
      let nextNonce = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        const node = await startNodeProcess({ dataPath });
        await expectNothingLost(node, known);
        const watching = watchHeads(node, known);
        nextNonce = await nonceOf(node);
        const killAtMs = Date.now() + 150 + random.below(1800);
        // The last kill waits for a receipt, without which nothing could be lost.
        const isTooEarly = (): boolean => kill === KILLS - 1 && known.receipts.size === 0;
        while (Date.now() < killAtMs || isTooEarly()) {
          const hashes = await sendBatch(node, nextNonce);
          // A block that was voted for before the kill is proposed again after it, with its transactions.
          nextNonce = hashes === undefined ? await nonceOf(node) : nextNonce + BATCH;
          await rememberReceipts(node, known, hashes ?? []);
        }
        await node.kill();
        watching.close();
      }
      const node = await startNodeProcess({ dataPath });
      await expectNothingLost(node, known);
      expect(known.receipts.size).toBeGreaterThan(0);
      await until(
        async () => ((await head(node)).number > (known.announced?.number ?? 0n) ? true : undefined),
        "a new block",
      );
      expect(await node.stop()).toBe(0);
    },
    TEST_HANG_MS + KILLS * 15_000,
  );
});

const sender = { privateKey: account(0).privateKey, address: toHex(account(0).address) };

async function expectNothingLost(node: NodeProcess, known: Known): Promise<void> {
  const { announced } = known;
  if (announced !== undefined) {
    expect((await head(node)).number).toBeGreaterThanOrEqual(announced.number);
    const block = await node.rpc<{ hash: Hex } | null>("eth_getBlockByNumber", [
      `0x${announced.number.toString(16)}`,
      false,
    ]);
    expect(block?.hash).toBe(announced.hash);
  }
  for (const [hash, blockHash] of known.receipts) {
    const receipt = await node.rpc<{ blockHash: Hex } | null>("eth_getTransactionReceipt", [hash]);
    expect(receipt?.blockHash).toBe(blockHash);
  }
  await expectRootToVerify(node);
}

/** The state that answers requests must match the state root of the newest header. */
async function expectRootToVerify(node: NodeProcess): Promise<void> {
  const { number, stateRoot } = await head(node);
  const proof = await node.rpc<{ accountProof: Hex[]; balance: Hex }>("eth_getProof", [
    sender.address,
    [],
    `0x${number.toString(16)}`,
  ]);
  const leaf = await verifyMerkleProof(
    hexToBytes(keccak256(sender.address)),
    proof.accountProof.map((item) => hexToBytes(item)),
    { root: hexToBytes(stateRoot) },
  );
  expect(leaf).not.toBeNull();
  const balance = await node.rpc<Hex>("eth_getBalance", [sender.address, `0x${number.toString(16)}`]);
  expect(balance).toBe(proof.balance);
}

async function head(node: NodeProcess): Promise<{ number: bigint; stateRoot: Hex }> {
  const block = await node.rpc<{ number: Hex; stateRoot: Hex }>("eth_getBlockByNumber", ["latest", false]);
  return { number: BigInt(block.number), stateRoot: block.stateRoot };
}

async function nonceOf(node: NodeProcess): Promise<number> {
  return Number(await node.rpc<Hex>("eth_getTransactionCount", [sender.address, "latest"]));
}

async function refusalOf(node: NodeProcess, raw: Uint8Array): Promise<string | undefined> {
  try {
    await rpc(node.httpUrl, "eth_sendRawTransaction", [toHex(raw)]);
    return undefined;
  } catch (error) {
    if (error instanceof RpcFailure) return error.message;
    throw error;
  }
}

/** Returns the hashes; undefined when the nonces were used in the meantime. */
async function sendBatch(node: NodeProcess, firstNonce: number): Promise<readonly Hex[] | undefined> {
  const transactions = Array.from({ length: BATCH }, (_, index) =>
    aTransaction({ chainId: 1337n, nonce: BigInt(firstNonce + index), privateKey: sender.privateKey }),
  );
  const refusals = await Promise.all(transactions.map(({ raw }) => refusalOf(node, raw)));
  if (refusals.includes("Nonce too low")) return undefined;
  // Some may be known already, from a batch in which another nonce was used.
  for (const refusal of refusals) expect([undefined, "Known transaction"]).toContain(refusal);
  return transactions.map(({ hash }) => toHex(hash));
}

async function rememberReceipts(node: NodeProcess, known: Known, hashes: readonly Hex[]): Promise<void> {
  await pause(20);
  for (const hash of hashes.filter((_, index) => index % 10 === 0)) {
    const receipt = await node.rpc<{ blockHash: Hex } | null>("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) known.receipts.set(hash, receipt.blockHash);
  }
}

function watchHeads(node: NodeProcess, known: Known): WebSocket {
  const socket = new WebSocket(node.wsUrl);
  socket.on("open", () =>
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] })),
  );
  socket.on("message", (message) => {
    const { params } = JSON.parse(message.toString()) as { params?: { result: { number: Hex; hash: Hex } } };
    if (params !== undefined)
      known.announced = { number: BigInt(params.result.number), hash: params.result.hash };
  });
  socket.on("error", () => undefined);
  return socket;
}

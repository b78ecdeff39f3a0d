import { expect } from "vitest";
import { type Hex, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { decodeHeader, type Header } from "../../../src/types/header.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { agreedBlocks, heightOf, reach, surprises } from "../harness/chainReading.ts";
import { cpuSeconds } from "../harness/cpuSeconds.ts";
import { endlessProposalBy } from "../harness/hostileMessages.ts";
import { callAsHostile } from "../harness/hostilePeer.ts";
import { logOf, type NodeProcess, pause, until } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";
import { CHAIN_ID, prepareNetwork } from "../harness/validatorNetwork.ts";

/*
 * Endless code against four validators in processes of their own: in their pools, and in the proposals of one of them.
 * test/chain/timing/slowTransactions.test.ts and stoppedValidation.test.ts cover this in the daily run.
 */

/** An endless transaction without a fee, which anyone can send where gas is free. */
function endlessBy(seed: number): SentTransaction {
  return aTransaction({
    chainId: CHAIN_ID,
    to: undefined,
    data: hexToBytes("0x5b600056"),
    gasLimit: 10n ** 12n,
    gasPrice: 0n,
    value: 0n,
    privateKey: accountFromSeed(seed).privateKey,
  });
}

async function timestampsOf(node: NodeProcess, first: number, last: number): Promise<number[]> {
  const times: number[] = [];
  for (let number = first; number <= last; number++) {
    const block = await node.rpc<{ timestamp: Hex }>("eth_getBlockByNumber", [
      `0x${number.toString(16)}`,
      false,
    ]);
    times.push(Number(block.timestamp));
  }
  return times;
}

itIfThorough(
  "endless transactions in the pools of four validators delay no block, and are logged, tried again, and dropped",
  async () => {
    const network = await prepareNetwork({
      validators: 4,
      options: ["--logging=INFO", "--logging-format=json"],
    });
    try {
      const nodes = await network.startAll();
      await reach(nodes, 2);
      const [first] = nodes;
      if (first === undefined) throw new Error("four nodes");
      const endless = Array.from({ length: ENDLESS }, (_, n) => endlessBy(n + 100));
      const payments = Array.from({ length: 30 }, (_, n) =>
        aTransaction({
          chainId: CHAIN_ID,
          gasPrice: 0n,
          value: 0n,
          privateKey: accountFromSeed(n + 200).privateKey,
        }),
      );
      const since = await heightOf(first);
      const own = new OwnTime(...nodes);
      for (const { raw } of endless) await first.rpc("eth_sendRawTransaction", [toHex(raw)]);
      for (const { raw } of payments) {
        await first.rpc("eth_sendRawTransaction", [toHex(raw)]);
        await pause(300);
      }
      await until(async () => {
        const receipts = await Promise.all(
          payments.map(({ hash }) => first.rpc("eth_getTransactionReceipt", [toHex(hash)])),
        );
        return receipts.every((receipt) => receipt !== null) || undefined;
      }, "the payments");
      const height = await heightOf(first);
      const blocks = await agreedBlocks(first, since + 1, height);
      const waitedSeconds = own.waitedMs / 1000;
      const roundsLost = blocks.reduce((sum, { round }) => sum + round, 0);
      expect(roundsLost * ROUND_SECONDS).toBeLessThanOrEqual(waitedSeconds);
      const times = await timestampsOf(first, since + 1, height);
      expect(times.at(-1)).toBeLessThanOrEqual((times[0] ?? 0) + times.length + 1 + waitedSeconds);
      const [watched] = endless;
      const hash = toHex(watched?.hash ?? new Uint8Array());
      for (const node of nodes) {
        const warnings = await until(async () => {
          const lines = logOf(node).filter((line) => line["hash"] === hash && line.level === "WARN");
          return lines.some(({ message }) => message.includes("dropped")) ? lines : undefined;
        }, "the end of an endless transaction");
        expect(warnings[0]?.message).toContain("set aside");
        const last = warnings.at(-1);
        expect(last).toMatchObject({ sender: toHex(accountFromSeed(100).address) });
        // Four tries, each of which counts as four when the machine is busy with other processes.
        expect(last?.["tries"]).toBeGreaterThanOrEqual(4);
        expect(last?.["tries"]).toBeLessThanOrEqual(16);
      }
    } finally {
      await network.stopAll();
    }
  },
);

itIfThorough(
  "a validator that proposes endless blocks costs only the rounds in which it is the proposer",
  async () => {
    const network = await prepareNetwork({
      validators: 4,
      options: ["--logging=INFO", "--logging-format=json"],
    });
    const honest = network.members.slice(0, 3);
    const faulty = network.members[3];
    if (faulty === undefined) throw new Error("four members");
    try {
      const nodes = await Promise.all(honest.map((member) => network.start(member)));
      await reach(nodes, 2);
      const [first] = nodes;
      if (first === undefined) throw new Error("three nodes");
      const own = { privateKey: faulty.key.privateKey, nodeId: curve.publicKey(faulty.key.privateKey) };
      const peers = honest.map(({ key, peerPort }) =>
        callAsHostile({ nodeId: curve.publicKey(key.privateKey), host: "127.0.0.1", tcpPort: peerPort }, own),
      );
      await Promise.all(peers.map(({ isGreeted }) => isGreeted));
      const before = await heightOf(first);
      const ownTime = new OwnTime(...nodes);
      const proposed = new Set<bigint>();
      while (proposed.size < PROPOSED || (await heightOf(first)) < before + 4 * PROPOSED) {
        const head = await headOf(first);
        if (
          !proposed.has(head.number) &&
          toHex(head.coinbase) === toHex(honest[2]?.key.address ?? own.nodeId)
        ) {
          proposed.add(head.number);
          for (const peer of peers) peer.send(...endlessProposalBy(own, head));
        }
        await pause(20);
      }
      for (const peer of peers) peer.socket.destroy();
      const blocks = await agreedBlocks(first, before, await heightOf(first));
      const late = surprises(blocks, [toHex(faulty.key.address)]);
      expect(
        late.length * ROUND_SECONDS,
        JSON.stringify(late.map(({ number }) => number)),
      ).toBeLessThanOrEqual(ownTime.waitedMs / 1000);
      for (const node of nodes)
        expect(logOf(node).map(({ message }) => message)).toContainEqual(
          expect.stringContaining("could not be validated before its round was over"),
        );
      await until(async () => {
        const cpuBefore = nodes.map(cpuSeconds);
        await pause(5_000);
        return nodes.every((node, index) => cpuSeconds(node) - (cpuBefore[index] ?? 0) < 2) || undefined;
      }, "nodes that execute nothing more");
    } finally {
      await network.stopAll();
    }
  },
);

async function headOf(node: NodeProcess): Promise<Header> {
  const raw = await node.rpc<Hex>("debug_getRawHeader", ["latest"]);
  const header = decodeHeader(hexToBytes(raw));
  if (!header.ok) throw new Error(header.error.message);
  return header.value;
}

/** Several for one block; each proposer tries one of them again in a block, four times in all. */
const ENDLESS = 3;
/** Of the networks here. */
const ROUND_SECONDS = 2;
/** Endless blocks of the faulty validator, which is the proposer of every fourth block. */
const PROPOSED = 3;

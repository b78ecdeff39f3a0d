import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeMessage, encodeMessage } from "../../../src/network/eth/messageCodec.ts";
import { CODES, type EthMessage, kindsOf } from "../../../src/network/eth/messages.ts";
import type { Hello } from "../../../src/network/rlpx/hello.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { hashOfHeader } from "../../../src/types/blockHash.ts";
import { rootOfList } from "../../../src/types/listRoot.ts";
import { encodeReceipt } from "../../../src/types/receipt.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { newIdentity } from "../harness/hostileMessages.ts";
import { callAsHostile, ETH, type HostilePeer } from "../harness/hostilePeer.ts";
import { logOf, type NodeProcess, until } from "../harness/nodeProcess.ts";
import { CHAIN_ID, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/*
 * A validator, and peers that offer what a Besu node with --sync-mode=FAST offers: eth/66 is the highest version shared,
 * and with IBF/1 its messages begin at the same id as those of eth/68.
 */

const FAST_CAPABILITIES: Hello["capabilities"] = [
  ...[63, 64, 65, 66].map((version) => ({ name: "eth", version })),
  { name: "IBF", version: 1 },
  { name: "snap", version: 1 },
];

interface OlderPeer extends HostilePeer {
  /** The next message of the kind, from the first on that was not returned yet. */
  next<Kind extends EthMessage["kind"]>(kind: Kind): Promise<Extract<EthMessage, { kind: Kind }>>;
}

let network: ValidatorNetwork;
let node: NodeProcess;
let call: (capabilities: Hello["capabilities"]) => OlderPeer;

beforeAll(async () => {
  network = await prepareNetwork({ validators: 1 });
  [node] = (await network.startAll()) as [NodeProcess];
  const [member] = network.members;
  if (member === undefined) throw new Error("there is one node");
  const nodeId = curve.publicKey(member.key.privateKey);
  call = (capabilities) =>
    connectOlder({ nodeId, host: "127.0.0.1", tcpPort: member.peerPort }, capabilities);
});

afterAll(() => network.stopAll());

describe("a peer that offers eth/66 and older", () => {
  it("exchanges transactions by their hashes, and fetches headers, bodies and receipts", async () => {
    const peers = [call(FAST_CAPABILITIES), call(FAST_CAPABILITIES)] as const;
    for (const peer of peers) {
      expect(await peer.isGreeted).toBe(true);
      expect((await peer.next("status")).status.protocolVersion).toBe(66);
    }
    const [sender, receiver] = peers;

    const transaction = aTransaction({ chainId: CHAIN_ID });
    sender.say({ kind: "bareTransactionHashes", hashes: [transaction.hash] });
    const asked = await sender.next("getPooledTransactions");
    expect(asked.hashes).toEqual([transaction.hash]);
    const { requestId } = asked;
    sender.say({ kind: "pooledTransactions", requestId, transactions: [transaction] });
    expect((await receiver.next("bareTransactionHashes")).hashes).toEqual([transaction.hash]);
    const receipt = await until(
      async () =>
        (await node.rpc<{ blockNumber: string; gasUsed: string } | null>("eth_getTransactionReceipt", [
          toHex(transaction.hash),
        ])) ?? undefined,
      "the block of the transaction",
    );

    const start = { number: BigInt(receipt.blockNumber) };
    receiver.say({
      kind: "getBlockHeaders",
      requestId: 5n,
      query: { start, max: 1, skip: 0, isReverse: false },
    });
    const { requestId: echoed, headers } = await receiver.next("blockHeaders");
    expect(echoed).toBe(5n);
    const [header] = headers;
    const hash = header && hashOfHeader(header);
    if (header === undefined || !hash?.ok) throw new Error("a header expected");
    receiver.say({ kind: "getBlockBodies", requestId: 6n, hashes: [hash.value] });
    const [body] = (await receiver.next("blockBodies")).bodies;
    expect(body?.transactions.map((one) => toHex(one.hash))).toEqual([toHex(transaction.hash)]);
    receiver.say({ kind: "getReceipts", requestId: 7n, hashes: [hash.value] });
    const [receipts = []] = (await receiver.next("receipts")).receipts;
    expect(toHex(rootOfList(receipts.map(encodeReceipt)))).toBe(toHex(header.receiptsRoot));

    receiver.say({ kind: "getNodeData", requestId: 8n, hashes: [header.stateRoot] });
    expect(await receiver.next("nodeData")).toEqual({ kind: "nodeData", requestId: 8n, nodes: [] });
    expect(peers.map(({ isGone }) => isGone())).toEqual([false, false]);
    for (const { socket } of peers) socket.destroy();
  });
});

describe("a peer that shares no version of eth", () => {
  it("is named in the log, once", async () => {
    const capabilities = FAST_CAPABILITIES.filter(({ name, version }) => name !== "eth" || version < 66);
    const peer = call(capabilities);
    expect(await peer.isOpen).toBe(true);
    await expect
      .poll(() => logOf(node).filter(({ message }) => message.includes("shares no version of eth")))
      .toMatchObject([{ offered: "63, 64, 65", supported: "66, 67, 68" }]);
    peer.socket.destroy();
  });
});

function connectOlder(
  address: Parameters<typeof callAsHostile>[0],
  capabilities: Hello["capabilities"],
): OlderPeer {
  const kinds = kindsOf(66);
  const received: EthMessage[] = [];
  const peer = callAsHostile(address, newIdentity(), {
    hello: { capabilities },
    onEth(code, payload) {
      const kind = kinds[code];
      if (kind === undefined) throw new Error(`eth/66 has no message ${code}`);
      const message = decodeMessage(kind, payload);
      if (!message.ok) throw new Error(message.error.message);
      received.push(message.value);
    },
  });
  return {
    ...peer,
    say: (message) => peer.send(ETH + CODES[message.kind], encodeMessage(message)),
    async next<Kind extends EthMessage["kind"]>(kind: Kind) {
      const isOfKind = (message: EthMessage): message is Extract<EthMessage, { kind: Kind }> =>
        message.kind === kind;
      return until(async () => {
        const found = received.find(isOfKind);
        if (found !== undefined) received.splice(0, received.indexOf(found) + 1);
        return found;
      }, kind);
    },
  };
}

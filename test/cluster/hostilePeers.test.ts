import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeMessage as encodeIbft } from "../../src/ibft/codec.ts";
import { MESSAGE_CODES, signPayload } from "../../src/ibft/payloadCodec.ts";
import type { NodeAddress } from "../../src/network/dialer.ts";
import { CODES, type Status } from "../../src/network/eth/message.ts";
import { encodeHello } from "../../src/network/rlpx/hello.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { concatBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { encodeRlpIndex, encodeRlpList, encodeRlpString } from "../../src/primitives/rlp.ts";
import { curve, sign } from "../../src/primitives/secp256k1.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";
import { type Identity, identity } from "../network/identities.ts";
import { callAsStranger, strangersHello } from "../network/stranger.ts";
import { callAsHostile, type Disguise, ETH, type HostilePeer, IBF } from "./hostilePeer.ts";
import { liveMemoryOf, MEASURABLE } from "./liveMemory.ts";
import { type NodeProcess, pause, until } from "./nodeProcess.ts";
import { prepareNetwork, type ValidatorNetwork } from "./validatorNetwork.ts";

/*
 * Two validators, both needed for every block, and strangers that attack the first of them over TCP. Whatever these do,
 * blocks come each second in round 0, the other validator stays connected, and memory stays where it was.
 */

const MIB = 1024 ** 2;
const HTTP = Buffer.from("GET / HTTP/1.1\r\n\r\n");

let network: ValidatorNetwork;
let node: NodeProcess;
let target: NodeAddress;
let targetKey: Identity;
let friendKey: Identity;
let nextStranger = 1;

beforeAll(async () => {
  network = await prepareNetwork({
    validators: 2,
    options: ["--metrics-enabled", "--metrics-port=0", "--rpc-http-api=ETH,NET,IBFT"],
    ...MEASURABLE,
  });
  await network.startAll();
  const [member, friend] = network.members;
  if (member?.node === undefined || friend === undefined) throw new Error("there are two nodes");
  node = member.node;
  const identityOf = (privateKey: Uint8Array): Identity => ({
    privateKey,
    nodeId: curve.publicKey(privateKey),
  });
  targetKey = identityOf(member.key.privateKey);
  friendKey = identityOf(friend.key.privateKey);
  target = { nodeId: targetKey.nodeId, host: "127.0.0.1", tcpPort: member.peerPort };
  await until(async () => ((await headNumber()) >= 2 ? true : undefined), 30_000, "two blocks");
}, 60_000);

afterAll(() => network.stopAll());

const newStranger = (): Identity => identity(10_000 + nextStranger++);

interface Offence {
  readonly disguise?: Disguise;
  /** Done as soon as the node listens: once Status was exchanged, or once Hello was. */
  readonly when: "greeted" | "open";
  readonly act: (peer: HostilePeer) => Promise<void> | void;
  readonly told: string;
}

const OFFENCES: Readonly<Record<string, Offence>> = {
  "shares no protocol": {
    disguise: { hello: { capabilities: [{ name: "les", version: 4 }] } },
    when: "open",
    act: () => undefined,
    told: "uselessPeer",
  },
  "speaks another version of eth": {
    disguise: { hello: { capabilities: [{ name: "eth", version: 61 }] } },
    when: "open",
    act: () => undefined,
    told: "uselessPeer",
  },
  "asks before it introduces itself": {
    disguise: { status: () => undefined },
    when: "open",
    act: (peer) => peer.say(headersFrom(0n, 1)),
    told: "breachOfProtocol",
  },
  "is on another network": {
    disguise: { status: (theirs) => ({ ...theirs, networkId: 1n }) },
    when: "open",
    act: () => undefined,
    told: "subprotocolTriggered",
  },
  "has another genesis block": {
    disguise: { status: (theirs) => ({ ...theirs, genesisHash: hashOf("another genesis") }) },
    when: "open",
    act: () => undefined,
    told: "subprotocolTriggered",
  },
  "sends a Status that cannot be read": {
    disguise: { status: () => undefined },
    when: "open",
    act: (peer) => peer.send(ETH, Uint8Array.of(0xc1, 0x44)),
    told: "subprotocolTriggered",
  },
  "answers what nobody asked": {
    when: "greeted",
    act: (peer) => peer.say({ kind: "blockHeaders", requestId: 77n, headers: [] }),
    told: "breachOfProtocol",
  },
  "asks for ten thousand transactions at once": {
    when: "greeted",
    act: (peer) =>
      peer.say({ kind: "getPooledTransactions", requestId: 1n, hashes: manyHashes(10_000, "asked") }),
    told: "breachOfProtocol",
  },
  "announces ten thousand transactions at once": {
    when: "greeted",
    act: (peer) => peer.say(announcing(10_000, "at once")),
    told: "breachOfProtocol",
  },
  "sends what is no transaction": {
    when: "greeted",
    act: (peer) => peer.send(ETH + CODES.transactions, encodeRlpList([encodeRlpString(Buffer.from([9]))])),
    told: "breachOfProtocol",
  },
  "sends a block that is none": {
    when: "greeted",
    act: (peer) => peer.send(ETH + CODES.newBlock, Uint8Array.of(0xc2, 0xc0, 0x01)),
    told: "breachOfProtocol",
  },
  "sends consensus messages that cannot be read": {
    when: "greeted",
    act: (peer) => repeat(50, (index) => peer.send(IBF + (index % 4), Buffer.from(`nonsense ${index}`))),
    told: "uselessPeer",
  },
  "sends consensus messages of its own, being no validator": {
    when: "greeted",
    async act(peer) {
      const height = BigInt(await headNumber()) + 1n;
      repeat(50, (round) => peer.send(...prepareBy(newStranger(), height, round)));
    },
    told: "uselessPeer",
  },
  "asks more than it waits for": {
    when: "greeted",
    act: (peer) => repeat(2000, () => peer.say(headersFrom(0n, 512))),
    told: "uselessPeer",
  },
};

describe("a peer is told why, when it", () => {
  it.each(Object.entries(OFFENCES))("%s", async (_, { disguise, when, act, told }) => {
    const own = newStranger();
    const peer = callAsHostile(target, own, disguise);
    await (when === "open" ? peer.isOpen : peer.isGreeted);
    await act(peer);
    expect(await peer.dismissal).toBe(told);
    const again = callAsHostile(target, own);
    // Who broke the protocol is not let in again; who was of no use has to wait.
    if (told !== "subprotocolTriggered") expect(await again.dismissal).toBe("unknown");
    again.socket.destroy();
  });
});

const headNumber = async (): Promise<number> => Number(await node.rpc("eth_blockNumber"));

const hashOf = (text: string): Status["genesisHash"] => keccak256(Buffer.from(text));

function manyHashes(count: number, seed: string): Status["genesisHash"][] {
  return Array.from({ length: count }, (_, index) => hashOf(`${seed} ${index}`));
}

function announcing(count: number, seed: string): Parameters<HostilePeer["say"]>[0] {
  const announcements = manyHashes(count, seed).map((hash) => ({ type: 0, size: 100, hash }));
  return { kind: "newPooledTransactionHashes", announcements };
}

function headersFrom(number: bigint, max: number): Parameters<HostilePeer["say"]>[0] {
  return {
    kind: "getBlockHeaders",
    requestId: 1n,
    query: { start: { number }, max, skip: 0, isReverse: false },
  };
}

/** A message of consensus, well made; its digest is of nothing. */
function prepareBy({ privateKey }: Identity, height: bigint, round: number): [number, Uint8Array] {
  const rules = { sign: (hash: Uint8Array) => sign(hash, privateKey) };
  const signed = signPayload(rules as never, {
    kind: "prepare",
    height,
    round,
    digest: hashOf("a digest") as never,
  });
  const { code, payload } = encodeIbft({ kind: "prepare", signed } as never);
  return [IBF + code, payload];
}

function repeat(count: number, act: (index: number) => void): void {
  for (let index = 0; index < count; index++) act(index);
}
void [
  HTTP,
  MIB,
  toHex,
  hexToBytes,
  concatBytes,
  encodeRlpIndex,
  MESSAGE_CODES,
  decodeExtraData,
  aTransaction,
  account,
  callAsStranger,
  strangersHello,
  encodeHello,
  liveMemoryOf,
  pause,
  friendKey!,
];

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asHash } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { curve } from "../../src/primitives/secp256k1.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import type { Identity } from "../network/identities.ts";
import { parseExposition, sampleValue } from "../observability/exposition.ts";
import { IN_REAL_TIME } from "../realTime.ts";
import { itIfThorough } from "../thorough.ts";
import { ATTACKS, type Attack } from "./attacks.ts";
import { type Battlefield, newStranger } from "./hostileMessages.ts";
import { callAsHostile } from "./hostilePeer.ts";
import { liveMemoryOf, MEASURABLE, residentMbOf } from "./liveMemory.ts";
import { type NodeProcess, pause, until } from "./nodeProcess.ts";
import { OFFENCES, SLOW_OFFENCES } from "./protocolViolations.ts";
import { prepareNetwork, type ValidatorNetwork } from "./validatorNetwork.ts";

/*
 * Two validators, both needed for every block, and strangers that attack the first of them over TCP. Whatever these do,
 * blocks come each second in round 0, the other validator stays connected, and memory stays where it was.
 */

/** Seconds of each attack by itself; without it, some of all attacks at once. */
const EACH_SECONDS = Number(process.env["IBEX_HOSTILE"] ?? 0);
const TOGETHER_SECONDS = Math.max(4, EACH_SECONDS);

let network: ValidatorNetwork;
let node: NodeProcess;
let field: Battlefield;
/** Address of the one that is not attacked. */
let otherValidator: string;

beforeAll(async () => {
  network = await prepareNetwork({
    validators: 2,
    // A round lost to a busy machine would say nothing.
    requestTimeoutSeconds: 4,
    options: ["--metrics-enabled", "--metrics-port=0"],
    ...MEASURABLE,
  });
  await network.startAll();
  const [member, other] = network.members;
  if (member?.node === undefined || other === undefined) throw new Error("there are two nodes");
  node = member.node;
  otherValidator = toHex(other.key.address);
  const targetKey = identityOf(member.key.privateKey);
  const large = aTransaction({ chainId: 7999n, data: new Uint8Array(100_000).fill(7), gasLimit: 5_000_000n });
  const hash = await node.rpc("eth_sendRawTransaction", [toHex(large.raw)]);
  const receipt = await until(
    async () =>
      (await node.rpc<{ blockHash: string } | null>("eth_getTransactionReceipt", [hash])) ?? undefined,
    30_000,
    "a large block",
  );
  field = {
    targetKey,
    target: { nodeId: targetKey.nodeId, host: "127.0.0.1", tcpPort: member.peerPort },
    validatorKey: identityOf(other.key.privateKey),
    headNumber: async () => Number(await node.rpc("eth_blockNumber")),
    largeBlock: asHash(hexToBytes(receipt.blockHash)),
  };
}, 60_000);

afterAll(() => network.stopAll());

const identityOf = (privateKey: Uint8Array): Identity => ({
  privateKey,
  nodeId: curve.publicKey(privateKey),
});

describe("a peer is told why, and remembered, when it", () => {
  const offences = [...Object.entries(OFFENCES), ...(EACH_SECONDS > 0 ? Object.entries(SLOW_OFFENCES) : [])];
  it.concurrent.each(offences)(
    "%s",
    async (_, { disguise, when, act, told, isRemembered }) => {
      const own = newStranger();
      const peer = callAsHostile(field.target, own, disguise?.(field));
      await { open: peer.isOpen, introduced: peer.isIntroduced, greeted: peer.isGreeted }[when];
      await act?.(peer, field);
      expect(await peer.dismissal).toBe(told);
      if (isRemembered === undefined) return;
      const again = callAsHostile(field.target, own);
      if (isRemembered) expect(await again.dismissal).toBe("unknown");
      else expect(await again.isGreeted).toBe(true);
      again.socket.destroy();
    },
    40_000,
  );

  it("calls with the node's own key", async () => {
    expect(await callAsHostile(field.target, field.targetKey).dismissal).toBe("self");
  });
});

describe("blocks keep their second, and memory its size, under", IN_REAL_TIME, () => {
  const alone = EACH_SECONDS > 0 ? Object.entries(ATTACKS) : [];
  it.each(alone)("%s", (_, attack) => withstand([attack], EACH_SECONDS), 60_000 + EACH_SECONDS * 1000);

  itIfThorough(
    "all of that at once",
    () => withstand(Object.values(ATTACKS), TOGETHER_SECONDS),
    60_000 + TOGETHER_SECONDS * 1000,
  );

  async function withstand(attacks: readonly Attack[], seconds: number): Promise<void> {
    const before = await liveMemoryOf(node);
    const first = await field.headNumber();
    const said = node.output().length;
    const endMs = Date.now() + seconds * 1000;
    const isOver = (): boolean => Date.now() > endMs;
    const [worstMb] = await Promise.all([
      highestResidentMb(isOver),
      ...attacks.map((attack) => attack(field, isOver)),
    ]);
    const last = await field.headNumber();
    const blocks = await Promise.all(
      Array.from({ length: last - first + 1 }, (_, index) => roundAndTimeOf(first + index)),
    );
    expect(blocks.length).toBeGreaterThanOrEqual(seconds - 1);
    expect(new Set(blocks.map(({ round }) => round))).toEqual(new Set([0]));
    const gaps = blocks.slice(1).map(({ timestamp }, index) => timestamp - (blocks[index]?.timestamp ?? 0));
    expect(Math.max(...gaps), `seconds between blocks: ${gaps.join()}`).toBeLessThanOrEqual(2);
    const losses = node
      .output()
      .slice(said)
      .split("\n")
      .filter((line) => line.includes("peer disconnected"));
    expect(losses.filter((line) => line.includes(otherValidator))).toEqual([]);
    const after = await liveMemoryOf(node);
    expect(after.heapMb - before.heapMb).toBeLessThan(16);
    if (before.residentMb === undefined || after.residentMb === undefined) return;
    expect(worstMb - before.residentMb).toBeLessThan(256);
    expect(after.residentMb - before.residentMb).toBeLessThan(160);
  }
});

itIfThorough("counts for its operator what became of them", async () => {
  const { metrics } = await node.rpc<{ metrics: { host: string; port: string } }>("net_services");
  const text = await (await fetch(`http://${metrics.host}:${metrics.port}/metrics`)).text();
  const families = parseExposition(text);
  const count = (name: string, labels: Readonly<Record<string, string>>): number =>
    sampleValue(families, name, labels) ?? 0;
  const parted = (disconnectReason: string): number =>
    count("besu_peers_disconnected_total", { initiator: "local", disconnectReason });
  expect(parted("BREACH_OF_PROTOCOL")).toBeGreaterThan(5);
  expect(parted("USELESS_PEER")).toBeGreaterThan(1);
  expect(parted("SUBPROTOCOL_TRIGGERED")).toBeGreaterThan(2);
  const refused = (reason: string): number => count("p2p_inbound_refused_total", { reason });
  expect(refused("denied")).toBeGreaterThan(5);
  expect(refused("handshake")).toBeGreaterThan(0);
  expect(refused("rate") + refused("sockets") + refused("crowded")).toBeGreaterThan(0);
  for (const fate of ["malformed", "unwelcomeAuthor"])
    expect(count("bft_messages_judged_total", { fate }), fate).toBeGreaterThan(0);
  const passed = (direction: string, protocol: string, name: string, code: string): number =>
    count(`besu_network_p2p_messages_${direction}_total`, { protocol, name, code });
  expect(passed("inbound", "IBF/1", "Commit", "2")).toBeGreaterThan(0);
  expect(passed("outbound", "eth/68", "Status", "0")).toBeGreaterThan(0);
  expect(passed("inbound", "eth/68", "GetBlockHeaders", "3")).toBeGreaterThan(0);
  expect(passed("inbound", "Wire", "Hello", "0")).toBeGreaterThan(0);
  const type = "commit";
  expect(count("bft_messages_received_total", { type, validator: otherValidator })).toBeGreaterThan(0);
  expect(count("bft_validator_last_seen_seconds", { validator: otherValidator })).toBeLessThan(10);
});

async function highestResidentMb(isOver: () => boolean): Promise<number> {
  let highest = 0;
  while (!isOver()) {
    highest = Math.max(highest, residentMbOf(node) ?? 0);
    await pause(100);
  }
  return highest;
}

async function roundAndTimeOf(
  number: number,
): Promise<{ readonly round: number; readonly timestamp: number }> {
  const block = await node.rpc<{ extraData: string; timestamp: string }>("eth_getBlockByNumber", [
    `0x${number.toString(16)}`,
    false,
  ]);
  const extra = decodeExtraData(hexToBytes(block.extraData));
  if (!extra.ok) throw new Error(extra.error.message);
  return { round: extra.value.round, timestamp: Number(block.timestamp) };
}

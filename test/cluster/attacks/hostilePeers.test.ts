import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asHash } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { decodeExtraData } from "../../../src/types/extraData.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import type { Identity } from "../../network/identities.ts";
import { parseExposition, sampleValue } from "../../observability/exposition.ts";
import { itIfThorough } from "../../thorough.ts";
import { ATTACKS, type Attack } from "../harness/attacks.ts";
import { type AttackContext, newIdentity } from "../harness/hostileMessages.ts";
import { callAsHostile, type HostilePeer } from "../harness/hostilePeer.ts";
import { liveMemoryOf, MEASURABLE, residentMbOf } from "../harness/liveMemory.ts";
import { type NodeProcess, pause, until } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";
import { SLOW_VIOLATIONS, VIOLATIONS } from "../harness/protocolViolations.ts";
import { prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/*
 * Two validators, both needed for every block, and untrusted peers that attack the first of them over TCP. Under every
 * attack blocks come each second in round 0, as far as the machine has time for the validators, the other validator stays connected, and memory does not grow.
 */

/** Seconds of each attack alone; when 0, all attacks run together for a few seconds. */
const EACH_SECONDS = Number(process.env["IBEX_HOSTILE"] ?? 0);
const ROUND_SECONDS = 4;
const TOGETHER_SECONDS = Math.max(4, EACH_SECONDS);

let network: ValidatorNetwork;
let node: NodeProcess;
let context: AttackContext;
/** Address of the validator that is not attacked. */
let otherValidator: string;

beforeAll(async () => {
  network = await prepareNetwork({
    validators: 2,
    // So that a busy host does not cost a round.
    requestTimeoutSeconds: ROUND_SECONDS,
    // All violations may be tried at one time.
    options: ["--metrics-enabled", "--metrics-port=0", "--max-peers=100"],
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
    "a large block",
  );
  context = {
    targetKey,
    target: { nodeId: targetKey.nodeId, host: "127.0.0.1", tcpPort: member.peerPort },
    validatorKey: identityOf(other.key.privateKey),
    headNumber: async () => Number(await node.rpc("eth_blockNumber")),
    largeBlock: asHash(hexToBytes(receipt.blockHash)),
  };
});

afterAll(() => network.stopAll());

const identityOf = (privateKey: Uint8Array): Identity => ({
  privateKey,
  nodeId: curve.publicKey(privateKey),
});

type Stage = "open" | "introduced" | "greeted";

/**
 * A peer that has come to a stage of its connection, or was told before that why not. The node hangs up on one whose handshake takes
 * longer than its limit, as it may where both processes have little of a processor.
 */
async function heardOut(stage: Stage, reason: string, call: () => HostilePeer): Promise<HostilePeer> {
  for (;;) {
    const peer = call();
    const { isOpen: open, isIntroduced: introduced, isGreeted: greeted } = peer;
    if (await { open, introduced, greeted }[stage]) return peer;
    if (reason === "hung up" || (await peer.dismissal) !== "hung up") return peer;
  }
}

describe("a peer is disconnected with the reason, and banned or not, when it", () => {
  const violations = [
    ...Object.entries(VIOLATIONS),
    ...(EACH_SECONDS > 0 ? Object.entries(SLOW_VIOLATIONS) : []),
  ];
  it.concurrent.each(violations)("%s", async (_, { disguise, when, act, reason, isBanned }) => {
    let own: Identity;
    let dismissal: string;
    // The reason is lost to a peer that still writes when the node closes the connection 2 s later, as one does that had no processor.
    do {
      const identity = newIdentity();
      own = identity;
      const peer = await heardOut(when, reason, () =>
        callAsHostile(context.target, identity, disguise?.(context)),
      );
      await act?.(peer, context);
      dismissal = await peer.dismissal;
    } while (dismissal === "hung up" && reason !== "hung up");
    expect(dismissal).toBe(reason);
    if (isBanned === undefined) return;
    if (isBanned) {
      const answer = await until(async () => {
        const again = callAsHostile(context.target, own);
        const dismissal = await again.dismissal;
        again.socket.destroy();
        return dismissal === "hung up" ? undefined : dismissal;
      }, "a reason for the peer that is banned");
      expect(answer).toBe("unknown");
      return;
    }
    // At first the node may not have seen the end of the last connection.
    await until(async () => {
      const again = callAsHostile(context.target, own);
      const isGreeted = await again.isGreeted;
      again.socket.destroy();
      return isGreeted || undefined;
    }, "a greeting for the peer that is not banned");
  });

  it("connects with the node's own key", async () => {
    expect(await callAsHostile(context.target, context.targetKey).dismissal).toBe("self");
  });
});

it("what those peers did is counted in the metrics, by reason", async () => {
  const families = parseExposition(await metricsText());
  const refused = (reason: string): number =>
    sampleValue(families, "p2p_input_refused_total", { reason }) ?? 0;
  for (const reason of ["badFrame", "malformed", "unsolicitedResponse"])
    expect(refused(reason), reason).toBeGreaterThan(0);
});

describe("blocks keep their period, and memory its size, under", () => {
  const alone = EACH_SECONDS > 0 ? Object.entries(ATTACKS) : [];
  it.each(alone)("%s", (_, attack) => withstand([attack], EACH_SECONDS), TEST_HANG_MS + EACH_SECONDS * 1000);

  itIfThorough(
    "all attacks at once",
    () => withstand(Object.values(ATTACKS), TOGETHER_SECONDS),
    TEST_HANG_MS + TOGETHER_SECONDS * 1000,
  );

  async function withstand(attacks: readonly Attack[], seconds: number): Promise<void> {
    const before = await liveMemoryOf(node);
    const first = await context.headNumber();
    const outputBefore = node.output().length;
    const own = new OwnTime(...network.members.flatMap((member) => member.node ?? []));
    const endMs = Date.now() + seconds * 1000;
    const isOver = (): boolean => Date.now() > endMs;
    const [worstMb] = await Promise.all([
      highestResidentMb(isOver),
      ...attacks.map((attack) => attack(context, isOver)),
    ]);
    const least = own.leastBlocks();
    const last = await context.headNumber();
    const blocks = await Promise.all(
      Array.from({ length: last - first + 1 }, (_, index) => roundAndTimeOf(first + index)),
    );
    expect(last - first).toBeGreaterThanOrEqual(least);
    const waitedSeconds = own.waitedMs / 1000;
    const roundsLost = blocks.reduce((sum, { round }) => sum + round, 0);
    expect(roundsLost * ROUND_SECONDS).toBeLessThanOrEqual(waitedSeconds);
    const gaps = blocks.slice(1).map(({ timestamp }, index) => timestamp - (blocks[index]?.timestamp ?? 0));
    expect(Math.max(...gaps), `seconds between blocks: ${gaps.join()}`).toBeLessThanOrEqual(
      2 + waitedSeconds,
    );
    const losses = node
      .output()
      .slice(outputBefore)
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

itIfThorough("disconnects, refusals and messages are counted in the metrics", async () => {
  const families = parseExposition(await metricsText());
  const count = (name: string, labels: Readonly<Record<string, string>>): number =>
    sampleValue(families, name, labels) ?? 0;
  const disconnected = (disconnectReason: string): number =>
    count("besu_peers_disconnected_total", { initiator: "local", disconnectReason });
  expect(disconnected("BREACH_OF_PROTOCOL")).toBeGreaterThan(5);
  expect(disconnected("USELESS_PEER")).toBeGreaterThan(1);
  expect(disconnected("SUBPROTOCOL_TRIGGERED")).toBeGreaterThan(2);
  const refused = (reason: string): number => count("p2p_inbound_refused_total", { reason });
  expect(refused("denied")).toBeGreaterThan(5);
  expect(refused("handshake")).toBeGreaterThan(0);
  expect(refused("rate") + refused("sockets") + refused("crowded")).toBeGreaterThan(0);
  for (const result of ["malformed", "unwelcomeAuthor"])
    expect(count("bft_messages_validated_total", { result }), result).toBeGreaterThan(0);
  const transferred = (direction: string, protocol: string, name: string, code: string): number =>
    count(`besu_network_p2p_messages_${direction}_total`, { protocol, name, code });
  expect(transferred("inbound", "IBF/1", "Commit", "2")).toBeGreaterThan(0);
  expect(transferred("outbound", "eth/68", "Status", "0")).toBeGreaterThan(0);
  expect(transferred("inbound", "eth/68", "GetBlockHeaders", "3")).toBeGreaterThan(0);
  expect(transferred("inbound", "Wire", "Hello", "0")).toBeGreaterThan(0);
  const type = "commit";
  expect(count("bft_messages_received_total", { type, validator: otherValidator })).toBeGreaterThan(0);
  expect(count("bft_validator_last_seen_seconds", { validator: otherValidator })).toBeLessThan(10);
});

async function metricsText(): Promise<string> {
  const { metrics } = await node.rpc<{ metrics: { host: string; port: string } }>("net_services");
  return (await fetch(`http://${metrics.host}:${metrics.port}/metrics`)).text();
}

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

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asHash } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { curve } from "../../src/primitives/secp256k1.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import type { Identity } from "../network/identities.ts";
import { ATTACKS } from "./attacks.ts";
import { type Battlefield, newStranger } from "./battlefield.ts";
import { callAsHostile } from "./hostilePeer.ts";
import { liveMemoryOf, MEASURABLE } from "./liveMemory.ts";
import { type NodeProcess, until } from "./nodeProcess.ts";
import { OFFENCES, SLOW_OFFENCES } from "./offences.ts";
import { prepareNetwork, type ValidatorNetwork } from "./validatorNetwork.ts";

/*
 * Two validators, both needed for every block, and strangers that attack the first of them over TCP. Whatever these do,
 * blocks come each second in round 0, the other validator stays connected, and memory stays where it was.
 */

/** Seconds of each attack by itself; without it, some of all attacks at once. */
const EACH_SECONDS = Number(process.env["IBEX_HOSTILE"] ?? 0);
const TOGETHER_SECONDS = Math.max(4, EACH_SECONDS);
const MIB = 1024 ** 2;

let network: ValidatorNetwork;
let node: NodeProcess;
let field: Battlefield;

beforeAll(async () => {
  network = await prepareNetwork({
    validators: 2,
    options: ["--metrics-enabled", "--metrics-port=0"],
    ...MEASURABLE,
  });
  await network.startAll();
  const [member, other] = network.members;
  if (member?.node === undefined || other === undefined) throw new Error("there are two nodes");
  node = member.node;
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
      await (when === "open" ? peer.isOpen : peer.isGreeted);
      await act?.(peer, field);
      expect(await peer.dismissal).toBe(told);
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

describe("blocks keep their second, and memory its size, under", () => {
  const alone = EACH_SECONDS > 0 ? Object.entries(ATTACKS) : [];
  it.each(alone)(
    "%s",
    (name, attack) => withstand(name, [attack], EACH_SECONDS),
    60_000 + EACH_SECONDS * 1000,
  );

  it(
    "all of that at once",
    () => withstand("all at once", Object.values(ATTACKS), TOGETHER_SECONDS),
    60_000 + TOGETHER_SECONDS * 1000,
  );

  async function withstand(
    name: string,
    attacks: readonly (typeof ATTACKS)[string][],
    seconds: number,
  ): Promise<void> {
    const before = await liveMemoryOf(node);
    const first = await field.headNumber();
    const startMs = Date.now();
    let worstMb = 0;
    const isOver = (): boolean => Date.now() - startMs > seconds * 1000;
    const watching = (async () => {
      while (!isOver()) worstMb = Math.max(worstMb, await residentMb());
    })();
    await Promise.all(attacks.map((attack) => attack(field, isOver)));
    await watching;
    const last = await field.headNumber();
    const after = await liveMemoryOf(node);
    const made = await Promise.all(
      Array.from({ length: last - first + 1 }, (_, index) => roundAndTimeOf(first + index)),
    );
    console.log(
      name,
      JSON.stringify({
        seconds: (Date.now() - startMs) / 1000,
        worstMb,
        rounds: made.map(({ round }) => round).join(""),
        gaps: made.map(({ timestamp }, i) => timestamp - (made[i - 1]?.timestamp ?? timestamp)).join(""),
        before,
        after,
      }),
    );
    void MIB;
  }
});

async function residentMb(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  const { readFileSync } = await import("node:fs");
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${node.child.pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1024;
}

async function roundAndTimeOf(
  number: number,
): Promise<{ readonly round: number; readonly timestamp: number }> {
  const block = await node.rpc<{ extraData: string; timestamp: string }>("eth_getBlockByNumber", [
    `0x${number.toString(16)}`,
    false,
  ]);
  const extra = decodeExtraData(hexToBytes(block.extraData));
  if (!extra.ok) throw new Error(extra.rejection.message);
  return { round: extra.value.round, timestamp: Number(block.timestamp) };
}

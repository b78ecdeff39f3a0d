import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { agreedBlocks, hashesOf, heightOf, reach, surprises, turnsOf } from "../harness/chainReading.ts";
import { type LogLine, logOf, type NodeProcess, until } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";
import { CHAIN_ID, type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/** Four in the daily run, so that each validator is a proposer; more in the long one (`npm run test:long`). */
const DOWN_BLOCKS = Number(process.env["IBEX_DOWN_BLOCKS"] ?? 4);
/** Long enough for a proposal and its votes on a busy host, where all of these processes and others share two cores. */
const ROUND_MS = 4_000;

/** The members of ibft_status that these tests read. */
interface Status {
  readonly height: Hex;
  readonly round: Hex;
  readonly missing: readonly Hex[];
  readonly validators: readonly { readonly address: Hex }[];
  readonly timers: { readonly roundEndsInMs: number };
  readonly votes: { readonly roundChanges: readonly { readonly address: Hex; readonly round: Hex }[] };
}

/** One network for all tests: each starts with the state that the previous one left. */
describe("four validators, processes of their own", () => {
  let network: ValidatorNetwork;
  let running: NodeProcess[] = [];
  let addresses: readonly Hex[] = [];
  let stalledAt = 0;
  const nodeAt = (index: number): NodeProcess => nodeOf(network.members[index]);

  beforeAll(async () => {
    network = await prepareNetwork({
      validators: 4,
      followers: 1,
      requestTimeoutSeconds: ROUND_MS / 1000,
    });
    addresses = network.members.slice(0, 4).map(({ key }) => toHex(key.address));
    running = [...(await network.startAll())];
    await reach(running, 1);
  });
  afterAll(() => network.stopAll());

  it("propose the same chain in turn, and mine a transaction sent to a follower", async () => {
    const [first, follower] = [nodeAt(0), nodeAt(4)];
    const nonce = await first.rpc<Hex>("eth_getTransactionCount", [toHex(account(0).address), "latest"]);
    const sent = aTransaction({
      chainId: CHAIN_ID,
      nonce: BigInt(nonce),
      type: 2,
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      gasLimit: 21_000n,
      to: account(1).address,
      value: 7n,
    });
    // Sent to the node that produces no blocks, so it can be mined only through peers.
    await follower.rpc("eth_sendRawTransaction", [toHex(sent.raw)]);
    const receipt = await until(
      async () =>
        (await first.rpc<{ blockNumber: string } | null>("eth_getTransactionReceipt", [toHex(sent.hash)])) ??
        undefined,
      "the transaction in a block",
    );
    const height = Math.max(Number(receipt.blockNumber), 3);
    await reach(running, height);
    const blocks = await agreedBlocks(first, 1, height);
    for (const node of running)
      expect(await hashesOf(node, 1, height)).toEqual(blocks.map(({ hash }) => hash));
    expect(new Set(blocks.map(({ proposer }) => proposer)).size).toBeGreaterThan(1);
    expect(await follower.rpc("eth_getBalance", [toHex(account(1).address), "latest"])).toBe(
      toQuantity(7n * (BigInt(nonce) + 1n)),
    );
    await until(
      async () => ((await follower.rpc("net_peerCount")) === "0x4" ? true : undefined),
      "a follower connected to all",
    );
    expect(await follower.rpc("eth_protocolVersion")).toBe("0x44");
    await until(
      async () => ((await follower.rpc("eth_syncing")) === false ? true : undefined),
      "a follower that is not behind",
    );
    const block = blocks[height - 1];
    for (const node of [first, follower]) {
      const line = await until(async () => linesOf(node, `ed #${height}`)[0], "the line of the block");
      expect(line).toMatchObject({ level: "INFO", number: height, hash: block?.hash, round: block?.round });
      expect(line).toMatchObject({ transactions: expect.any(Number), gasUsed: expect.any(Number) });
      expect(line).toMatchObject({ proposer: block?.proposer, tookMs: expect.any(Number) });
    }
    // On a busy host one of them may be late, and seem missing for a moment.
    const status = await until(async () => {
      const now = await statusOf(first);
      return now.missing.length === 0 ? now : undefined;
    }, "a status without missing validators");
    expect(status).toMatchObject({
      mode: "validating",
      height: expect.stringMatching(/^0x/),
      round: expect.stringMatching(/^0x/),
      proposer: expect.stringMatching(/^0x/),
      timers: { roundAgeMs: expect.any(Number), roundEndsInMs: expect.any(Number) },
      votes: { prepares: expect.any(Array), commits: expect.any(Array), roundChanges: expect.any(Array) },
      quorum: "0x3",
      lastBlock: { round: expect.stringMatching(/^0x/) },
    });
    expect(status.validators.map(({ address }) => address)).toEqual(addresses);
    expect(status.validators.slice(1)).toEqual(
      addresses
        .slice(1)
        .map(() => expect.objectContaining({ isHeard: true, peers: expect.stringMatching(/^0x[12]$/) })),
    );
    expect(await follower.rpc("ibft_status")).toMatchObject({
      mode: "following",
      round: null,
      missing: null,
    });
  });

  itIfThorough(
    `go on without one for ${DOWN_BLOCKS} blocks, and lose a round only when it is the proposer`,
    {
      timeout: TEST_HANG_MS + DOWN_BLOCKS * 4_000,
    },
    async () => {
      const down = addresses[3] as Hex;
      running = [0, 1, 2].map(nodeAt);
      await nodeAt(4).kill();
      const ownTime = new OwnTime(...running);
      await nodeAt(3).kill();
      // It may have proposed the next block but one: it alone may have the seals of the next one.
      const proposedAt = Math.max(...(await Promise.all(running.map(heightOf)))) + 2;
      await reach(running, proposedAt + DOWN_BLOCKS);
      const blocks = await until(async () => {
        const decided = await agreedBlocks(nodeAt(0), proposedAt, await heightOf(nodeAt(0)));
        return turnsOf(down, decided).length > 0 ? decided : undefined;
      }, "a block of a height at which it is the proposer");
      const turns = turnsOf(down, blocks);
      expect(turns.filter(({ round }) => round === 0)).toEqual([]);
      // Others lose a round only where the machine keeps the nodes from its processors for as long.
      const late = surprises(blocks, [down]);
      expect(late.length * ROUND_MS, JSON.stringify(late.map(({ number }) => number))).toBeLessThanOrEqual(
        ownTime.waitedMs,
      );
      const warning = await until(
        async () => linesOf(nodeAt(0), `round 0 of height ${turns[0]?.number} failed`)[0],
        "a warning of the failed round",
      );
      expect(warning.level).toBe("WARN");
      expect(warning.message).toMatch(
        new RegExp(
          `failed, (its ([4-9]|\\d\\d).* s are over|others moved on): the proposer was ${down}, and no proposal came, so there were no votes; (not heard recently: ${down}|all validators were heard recently)$`,
        ),
      );
    },
  );

  it("stall without two, and name both within ten seconds, in the log and in ibft_status", async () => {
    running = [0, 1].map(nodeAt);
    for (const down of [2, 3, 4]) await nodeAt(down).kill();
    const missing = addresses.slice(2).join();
    await Promise.all(
      running.map((node) =>
        until(
          async () => ((await statusOf(node)).missing.join() === missing ? true : undefined),
          "a status that names both",
        ),
      ),
    );
    const warning = await until(
      async () => linesOf(nodeAt(0), "2 of 4 validators heard, quorum 3; waiting for ")[0],
      "a warning that names both",
    );
    for (const address of addresses.slice(2))
      expect(warning.message).toMatch(new RegExp(`${address} \\((last|never) heard `));
    expect(warning.message).toContain("not connected)");
    stalledAt = await until(async () => {
      const [first, second] = (await Promise.all(running.map(statusOf))) as [Status, Status];
      const asking = first.votes.roundChanges.map(({ address }) => address);
      const areBoth = addresses.slice(0, 2).every((address) => asking.includes(address));
      return areBoth && first.height === second.height ? Number(first.height) - 1 : undefined;
    }, "both asking for the next round of one height");
    for (const node of running) expect(await heightOf(node)).toBe(stalledAt);
  });

  itIfThorough("resume in the round after the pending one when one restarts", async () => {
    const back = await network.start(network.members[3] as Member);
    running = [...running, back];
    const ownTime = new OwnTime(...running);
    const connected = await until(
      async () => linesOf(back, "peer connected").map(timeOf)[1],
      "a connection with both others",
    );
    await reach(running, stalledAt + 1);
    // The round that was pending fails, and the next one decides, where the machine leaves the nodes its processors.
    for (const node of running.slice(0, 2)) {
      const failed = linesOf(node, "round ").filter(
        (line) => line.message.includes(` of height ${stalledAt + 1} failed`) && timeOf(line) > connected,
      );
      expect((failed.length - 1) * ROUND_MS).toBeLessThanOrEqual(ownTime.waitedMs);
    }
  });

  itIfThorough("get seals and proposals again from the one that was down", async () => {
    const address = addresses[3] as Hex;
    const last = await until(async () => {
      const blocks = await agreedBlocks(nodeAt(0), stalledAt + 1, await heightOf(nodeAt(0)));
      return blocks.slice(1).find(({ proposer }) => proposer === address)?.number;
    }, "a block that it proposed");
    await reach(running, last);
    const blocks = await agreedBlocks(nodeAt(0), stalledAt + 1, last);
    for (const { sealers } of blocks) expect(sealers).toContain(address);
    const hashes = await Promise.all(running.map((node) => hashesOf(node, 1, last)));
    for (const chain of hashes) expect(chain).toEqual(hashes[0]);
  });
});

function statusOf(node: NodeProcess): Promise<Status> {
  return node.rpc<Status>("ibft_status");
}

function linesOf(node: NodeProcess, text: string): readonly LogLine[] {
  return logOf(node).filter(({ message }) => message.includes(text));
}

function timeOf({ timestamp }: LogLine): number {
  return Date.parse(timestamp);
}

function nodeOf(member: Member | undefined): NodeProcess {
  if (member?.node === undefined) throw new Error("that node is not running");
  return member.node;
}

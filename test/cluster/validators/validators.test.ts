import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { agreedBlocks, hashesOf, heightOf, reach, surprises } from "../harness/chainReading.ts";
import { type LogLine, logOf, type NodeProcess, until } from "../harness/nodeProcess.ts";
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
    expect(await follower.rpc("eth_syncing")).toBe(false);
    const block = blocks[height - 1];
    for (const node of [first, follower]) {
      const [line] = linesOf(node, `ed #${height}`);
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

  it(`go on without one for ${DOWN_BLOCKS} blocks, and lose a round only when it is the proposer`, {
    timeout: TEST_HANG_MS + DOWN_BLOCKS * 4_000,
  }, async () => {
    await nodeAt(4).kill();
    await nodeAt(3).kill();
    running = [0, 1, 2].map(nodeAt);
    const killedAt = Math.max(...(await Promise.all(running.map(heightOf))));
    await reach(running, killedAt + DOWN_BLOCKS);
    const blocks = await agreedBlocks(nodeAt(0), killedAt + 1, killedAt + DOWN_BLOCKS);
    expect(surprises(blocks, addresses.slice(3))).toEqual([]);
    expect(blocks.filter(({ round }) => round > 0).length).toBeGreaterThan(0);
    const warning = await until(
      // A round in which it had proposed may have failed before, or because of its end.
      async () =>
        linesOf(nodeAt(0), "no proposal came").find(
          ({ message, proposer }) => message.startsWith("round 0 of ") && proposer === addresses[3],
        ),
      "a warning of the failed round",
    );
    expect(warning.level).toBe("WARN");
    expect(warning.message).toMatch(
      new RegExp(
        `^round 0 of height \\d+ failed, (its [2-9].* s are over|others moved on): the proposer was ${addresses[3]}, and no proposal came, so there were no votes; (not heard recently: ${addresses[3]}|all validators were heard recently)$`,
      ),
    );
  });

  it("stall without two, and name both within ten seconds, in the log and in ibft_status", async () => {
    await nodeAt(2).kill();
    running = running.slice(0, 2);
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
    const [first, second] = await Promise.all(running.map(statusOf));
    expect(first?.votes.roundChanges.map(({ address }) => address)).toEqual(
      expect.arrayContaining(addresses.slice(0, 2)),
    );
    stalledAt = Number(first?.height) - 1;
    expect([Number(second?.height) - 1, await heightOf(nodeAt(0))]).toEqual([stalledAt, stalledAt]);
  });

  it("resume in the round after the pending one when one restarts", async () => {
    const back = await network.start(network.members[3] as Member);
    running = [...running, back];
    const connected = await until(
      async () => linesOf(back, "peer connected").map(timeOf)[1],
      "a connection with both others",
    );
    await reach(running, stalledAt + 1);
    // The round that was pending fails, and the next one decides.
    for (const node of running.slice(0, 2)) {
      const failed = linesOf(node, "round ").filter(
        (line) => line.message.includes(` of height ${stalledAt + 1} failed`) && timeOf(line) > connected,
      );
      expect(failed.length).toBeLessThanOrEqual(1);
    }
  });

  it("get seals and proposals again from the one that was down", async () => {
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

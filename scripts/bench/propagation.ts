import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { startValidators, type ValidatorProcesses } from "./network.ts";
import { pause } from "./pause.ts";
import { atQuantile } from "./report.ts";
import { accounts, signDraft } from "./workload.ts";

const HOPS = 3;
const VALIDATORS = 4;
const RECIPIENT = "0x00000000000000000000000000000000c0ffee00";

/**
 * How far and how fast things travel on one computer: blocks from a validator along a line of followers, each of which knows
 * its neighbours alone, and transactions from a follower into a block of four validators.
 */
export async function measurePropagation(seconds: number, perSecond: number): Promise<void> {
  await measureLine(seconds, 0);
  await measureLine(seconds, perSecond);
  await measureInclusion(seconds);
}

/** Prints, for each hop, the time from the validator's durable block to the follower's. */
async function measureLine(seconds: number, perSecond: number): Promise<void> {
  const network = await startValidators(1, {
    followers: HOPS,
    areLinked: (one, other) => Math.abs(one - other) === 1,
  });
  const client = clientOf(network, 0);
  try {
    const first = Number(await client.call<string>("eth_blockNumber")) + 1;
    await sendFor(client, seconds, perSecond);
    await pause(2000);
    console.log(`\nblocks from a validator along ${HOPS} followers, ${perSecond} transfers a second`);
    const made = new Map(network.blocks(0).map(({ number, atMs }) => [number, atMs]));
    const last = Math.max(...made.keys()) - 1;
    for (let hop = 1; hop <= HOPS; hop++) {
      const blocks = network.blocks(hop).filter(({ number }) => number >= first && number <= last);
      const times = blocks.map(({ number, atMs }) => atMs - (made.get(number) ?? Number.NaN));
      const missing = last - first + 1 - blocks.length;
      console.log(`hop ${hop}: ${quantiles(times, "ms")}, ${missing} not logged one by one`);
    }
  } finally {
    client.close();
    await network.stop();
  }
}

async function sendFor(client: RpcClient, seconds: number, perSecond: number): Promise<void> {
  const [sender] = accounts;
  if (sender === undefined) throw new Error("no account");
  const beganAtMs = Date.now();
  let sent = 0;
  while (Date.now() < beganAtMs + seconds * 1000) {
    const due = Math.floor(((Date.now() - beganAtMs) / 1000) * perSecond) - sent;
    const calls = Array.from({ length: due }, () => transfer(sent++, sender.privateKey));
    if (calls.length > 0) await client.batch(calls);
    await pause(100);
  }
}

/** Prints how many blocks after the follower's head at the time of sending a transaction was included. */
async function measureInclusion(seconds: number): Promise<void> {
  const network = await startValidators(VALIDATORS, { followers: 1 });
  const client = clientOf(network, VALIDATORS);
  const [sender] = accounts;
  if (sender === undefined) throw new Error("no account");
  try {
    const sent: { readonly hash: string; readonly head: number; readonly atMs: number }[] = [];
    const endAtMs = Date.now() + seconds * 1000;
    while (Date.now() < endAtMs) {
      const head = Number(await client.call<string>("eth_blockNumber"));
      const [hash = ""] = await client.batch<string>([transfer(sent.length, sender.privateKey)]);
      sent.push({ hash, head, atMs: Date.now() });
      // Not in step with the blocks.
      await pause(137);
    }
    await pause(4000);
    const atMs = new Map(network.blocks(VALIDATORS).map((block) => [block.number, block.atMs]));
    const distances = new Map<number, number>();
    const waits: number[] = [];
    for (const one of sent) {
      const receipt = await client.call<{ readonly blockNumber: string } | null>(
        "eth_getTransactionReceipt",
        [one.hash],
      );
      const number = receipt === null ? Number.NaN : Number(receipt.blockNumber);
      distances.set(number - one.head, (distances.get(number - one.head) ?? 0) + 1);
      waits.push((atMs.get(number) ?? Number.NaN) - one.atMs);
    }
    const shown = [...distances]
      .toSorted(([a], [b]) => a - b)
      .map(([blocks, count]) => `+${blocks}: ${count}`);
    console.log(
      `\n${sent.length} transactions through a follower of ${VALIDATORS} validators, seven a second`,
    );
    console.log(`block of inclusion after the follower's head: ${shown.join(", ")}`);
    console.log(`from the answer to the follower's block: ${quantiles(waits, "ms")}`);
  } finally {
    client.close();
    await network.stop();
  }
}

function transfer(nonce: number, privateKey: Uint8Array): readonly [string, readonly unknown[]] {
  const draft = { to: RECIPIENT, value: 1n, gasLimit: 21_000n } as const;
  return ["eth_sendRawTransaction", [signDraft(draft, nonce, privateKey)]];
}

function clientOf({ nodes }: ValidatorProcesses, index: number): RpcClient {
  const node = nodes[index];
  if (node === undefined) throw new Error("no such node");
  return createRpcClient(node.port, 2);
}

function quantiles(samples: readonly number[], unit: string): string {
  const [p50, p95, max] = [atQuantile(samples, 0.5), atQuantile(samples, 0.95), Math.max(...samples)];
  return `p50 ${p50.toFixed(0)} ${unit}, p95 ${p95.toFixed(0)} ${unit}, most ${max.toFixed(0)} ${unit}, of ${samples.length}`;
}

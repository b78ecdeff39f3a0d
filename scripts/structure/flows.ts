import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { toHex } from "../../src/primitives/hex.ts";
import { aTransaction } from "../../test/builders/aTransaction.ts";
import type { NodeProcess } from "../../test/cluster/harness/nodeProcess.ts";
import { CHAIN_ID, type Member, prepareNetwork } from "../../test/cluster/harness/validatorNetwork.ts";
import { BundledSources } from "./bundledSources.ts";

/** How many files of `src` have a function that ran, by flow. */
export type Flows = Readonly<Record<string, number>>;

/** Each flow is seen so often, and only files that ran each time count: timers run beside it, now and then. */
const TIMES = 3;
/** By then all threads of a node have written, from which it is known which there are, milliseconds. */
const FIRST_WRITING_MS = 2_000;
/** Longer than the time between two blocks, milliseconds. */
const BLOCK_MS = 1_400;
/** Counts down from a million: a call that is too long for the thread that answers. */
const LONG_CODE = "0x620f42405b600190038060045700";

/**
 * Runs the built program of this checkout as a network of four validators and a follower, and counts for each flow the files
 * whose functions ran on any thread of one node.
 */
export async function traceFlows(): Promise<Flows> {
  const network = await prepareNetwork({ validators: 4, followers: 1, program: resolve("dist/main.js") });
  const [validator, ...others] = network.members as [Member, ...Member[]];
  const follower = others.at(-1) as Member;
  const hook = pathToFileURL(resolve("scripts/structure/coverageHook.mjs"));
  const folders = [validator, follower].map(() => mkdtempSync(join(tmpdir(), "ibex-structure-")));
  const [ofValidator = "", ofFollower = ""] = folders;
  const startTraced = async (member: Member, folder: string): Promise<TracedNode> => {
    process.env["IBEX_COVERAGE"] = folder;
    return new TracedNode(await network.start(member, [`--import=${hook}`]), folder);
  };
  try {
    const traced = await startTraced(validator, ofValidator);
    for (const member of others.slice(0, -1)) await network.start(member);
    const following = await startTraced(follower, ofFollower);
    await traced.untilBlock(4n);
    const proposer = toHex(validator.key.address);
    return {
      ...(await transactionFlows(traced)),
      "another validator's proposal to the head": await seen(() => ofOthersBlock(traced, proposer)),
      ...(await callFlows(traced)),
      "a peer's block to the head of a follower": await seen(() => following.ran(() => pause(BLOCK_MS))),
    };
  } finally {
    await network.stopAll();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

async function transactionFlows(traced: TracedNode): Promise<Flows> {
  let nonce = 0n;
  const toAnswer: ReadonlySet<string>[] = [];
  const toBlock: ReadonlySet<string>[] = [];
  for (let time = 0; time < TIMES; time++) {
    const { raw } = aTransaction({ chainId: CHAIN_ID, nonce: nonce++ });
    await traced.untilNextBlock();
    const answering = await traced.ran(() => traced.node.rpc("eth_sendRawTransaction", [toHex(raw)]));
    const rest = await traced.ran(() => pause(BLOCK_MS));
    toAnswer.push(answering);
    toBlock.push(new Set([...answering, ...rest]));
  }
  return {
    "raw transaction to its answer": common(toAnswer).size,
    "raw transaction to its block": common(toBlock).size,
  };
}

async function callFlows(traced: TracedNode): Promise<Flows> {
  const call = (data?: string) => async () => {
    await traced.untilNextBlock();
    const block = "0x1";
    const request = data === undefined ? { to: `0x${"11".repeat(20)}` } : { data };
    return traced.ran(() => traced.node.rpc("eth_call", [request, block]));
  };
  return {
    "eth_call at an old block": await seen(call()),
    "eth_call at an old block, long": await seen(call(LONG_CODE)),
  };
}

/** What ran while the head moved, unless to a block of this validator's own. */
async function ofOthersBlock(traced: TracedNode, self: string): Promise<ReadonlySet<string>> {
  for (;;) {
    const first = await traced.untilNextBlock();
    const ran = await traced.ran(() => pause(BLOCK_MS));
    const last = await traced.head();
    const miners: string[] = [];
    for (let number = first + 1n; number <= last; number++) miners.push(await traced.minerOf(number));
    if (miners.length > 0 && !miners.includes(self)) return ran;
  }
}

async function seen(once: () => Promise<ReadonlySet<string>>): Promise<number> {
  const times: ReadonlySet<string>[] = [];
  while (times.length < TIMES) times.push(await once());
  return common(times).size;
}

function common(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const [first = new Set<string>(), ...others] = sets;
  return new Set([...first].filter((file) => others.every((set) => set.has(file))));
}

const sources = new BundledSources();

/** A node that was started with coverageHook.mjs. */
class TracedNode {
  readonly node: NodeProcess;
  private readonly folder: string;
  private signals = 0;
  /** The numbers of the threads; undefined before all have written once. */
  private threads: readonly string[] | undefined;

  constructor(node: NodeProcess, folder: string) {
    this.node = node;
    this.folder = folder;
  }

  /** The files of `src` with a function that ran while `work` went on, on any thread. */
  async ran(work: () => Promise<unknown>): Promise<ReadonlySet<string>> {
    await this.written();
    await work();
    return this.written();
  }

  async head(): Promise<bigint> {
    return BigInt(await this.node.rpc<string>("eth_blockNumber"));
  }

  async minerOf(number: bigint): Promise<string> {
    const block = await this.node.rpc<{ readonly miner: string }>("eth_getBlockByNumber", [
      `0x${number.toString(16)}`,
      false,
    ]);
    return block.miner;
  }

  async untilBlock(number: bigint): Promise<bigint> {
    for (;;) {
      const head = await this.head();
      if (head >= number) return head;
      await pause(10);
    }
  }

  async untilNextBlock(): Promise<bigint> {
    return this.untilBlock((await this.head()) + 1n);
  }

  /** Has the threads write what ran since the last time. Resolves soon after, so that little else is in what runs next. */
  private async written(): Promise<ReadonlySet<string>> {
    this.signals += 1;
    const prefix = `${this.signals}-`;
    this.node.child.kill("SIGUSR2");
    if (this.threads === undefined) await pause(FIRST_WRITING_MS);
    const names = (): readonly string[] => readdirSync(this.folder).filter((name) => name.startsWith(prefix));
    while (this.threads?.some((thread) => !names().includes(prefix + thread)) === true) await pause(2);
    this.threads ??= names().map((name) => name.slice(prefix.length));
    const files = new Set<string>();
    for (const name of names()) {
      const ran = JSON.parse(readFileSync(join(this.folder, name), "utf8")) as readonly [string, number[]][];
      for (const [url, offsets] of ran)
        for (const offset of offsets) {
          const file = sources.fileAt(url, offset);
          if (file !== undefined) files.add(file);
        }
    }
    return files;
  }
}

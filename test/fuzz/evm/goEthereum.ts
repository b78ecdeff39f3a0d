import { type ChildProcessByStdio, execFile, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { isAtLeast } from "../../../src/chainspec/forks.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { encodeRlpList } from "../../../src/primitives/rlp.ts";
import { forkOfVector } from "../../conformance/suites/vectorForks.ts";
import type { StateTestProgram } from "./stateTestProgram.ts";

/** The release that the fuzz is about; another one is used and named. */
export const GO_ETHEREUM_VERSION = "1.16.7";
const COMMAND = process.env["GO_EVM"] ?? "evm";

/** What go-ethereum says about one case of a state test. */
export interface CaseResult {
  readonly pass: boolean;
  readonly stateRoot?: string;
  readonly error?: string;
}

/** A line of a trace: a step, the end of a frame, or the state root. */
export interface TraceLine {
  readonly pc?: number;
  readonly op: number;
  readonly gas: string;
  readonly depth: number;
  readonly memSize: number;
  readonly stack: readonly string[];
  readonly output?: string;
  readonly error?: string;
}

/** go-ethereum's `evm statetest`: one process that takes one file of state tests after another. */
export interface GoEthereum {
  /** The results of state tests, by name, each in the order of its cases. */
  check(tests: Readonly<Record<string, object>>): Promise<ReadonlyMap<string, readonly CaseResult[]>>;
  /** The steps of a state test with one case, in the JSON of EIP-3155. */
  trace(test: object): readonly TraceLine[];
  /** Applies transactions, as a block body has them, one after another to the state of a program (`evm t8n`). */
  transit(program: StateTestProgram, bodies: readonly Uint8Array[]): Promise<BlockResult>;
  close(): void;
}

/** What came of the transactions of a block. */
export interface BlockResult {
  readonly root: string;
  readonly receipts: readonly BlockReceipt[];
  /** Numbers of the transactions that were refused. */
  readonly rejected: readonly number[];
}

export interface BlockReceipt {
  readonly gasUsed: bigint;
  readonly hasSucceeded: boolean;
  readonly logs: string;
}

/** The version of the command that GO_EVM names, else of `evm`; undefined when there is none. */
export function goEthereumVersion(): string | undefined {
  const { status, stdout } = spawnSync(COMMAND, ["--version"], { encoding: "utf8" });
  return status === 0 ? /version (\S+)/.exec(stdout)?.[1] : undefined;
}

type Evm = ChildProcessByStdio<Writable, Readable, Readable>;
const KEPT_CHARACTERS = 2000;

export function openGoEthereum(): GoEthereum {
  const folder = mkdtempSync(join(tmpdir(), "ibex-fuzz-evm-"));
  const evm = spawn(COMMAND, ["statetest"], { stdio: ["pipe", "pipe", "pipe"] });
  const answers = listen(evm);
  let files = 0;
  return {
    async check(tests) {
      const file = join(folder, `${files++ % 8}.json`);
      writeFileSync(file, JSON.stringify(tests));
      const answered = answers.next();
      evm.stdin.write(`${file}\n`);
      const results = new Map<string, CaseResult[]>();
      for (const { name, ...result } of JSON.parse(await answered) as (CaseResult & { name: string })[]) {
        const known = results.get(name);
        if (known === undefined) results.set(name, [result]);
        else known.push(result);
      }
      return results;
    },
    trace(test) {
      const file = join(folder, "traced.json");
      writeFileSync(file, JSON.stringify({ test }));
      const options = ["--trace", "--trace.nomemory", "--trace.noreturndata"];
      const { stderr } = spawnSync(COMMAND, ["statetest", ...options, file], {
        encoding: "utf8",
        maxBuffer: 2 ** 30,
      });
      return stderr
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as TraceLine);
    },
    transit: (program, bodies) => transit(folder, program, bodies),
    close() {
      evm.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Its answers in turn: each is a JSON list whose end is alone on a line. */
function listen(evm: Evm): { next(): Promise<string> } {
  const waiting: { resolve(text: string): void; reject(error: Error): void }[] = [];
  let said = "";
  let lines: string[] = [];
  // What it says of each case besides is not of interest, but must be read.
  evm.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-KEPT_CHARACTERS);
  });
  createInterface({ input: evm.stdout }).on("line", (line) => {
    lines.push(line);
    if (line !== "]") return;
    waiting.shift()?.resolve(lines.join("\n"));
    lines = [];
  });
  let failure: Error | undefined;
  const end = (why: string) => (): void => {
    failure ??= new Error(`${COMMAND} ${why}: ${said}`);
    for (const { reject } of waiting.splice(0)) reject(failure);
  };
  evm.on("error", end("did not start"));
  evm.on("exit", end("ended"));
  evm.stdin.on("error", end("took no more"));
  return {
    next: () =>
      failure === undefined
        ? new Promise((resolve, reject) => waiting.push({ resolve, reject }))
        : Promise.reject(failure),
  };
}

/** Hashes of earlier blocks as state tests have them. */
const BLOCK_HASHES = 256;
const ZERO_HASH = `0x${"0".repeat(64)}`;

async function transit(
  folder: string,
  { fork, env, pre }: StateTestProgram,
  bodies: readonly Uint8Array[],
): Promise<BlockResult> {
  const number = Number(env["currentNumber"]);
  const blockHashes: Record<string, string> = {};
  for (let earlier = Math.max(0, number - BLOCK_HASHES); earlier < number; earlier++)
    blockHashes[`0x${earlier.toString(16)}`] = toHex(keccak256(new TextEncoder().encode(String(earlier))));
  const isAfter = (other: string): boolean => isAtLeast(forkOfVector(fork), forkOfVector(other));
  const files = {
    "alloc.json": pre,
    "env.json": {
      ...env,
      blockHashes,
      ...(isAfter("Shanghai") && { withdrawals: [] }),
      ...(isAfter("Cancun") && { parentBeaconBlockRoot: ZERO_HASH }),
    },
    "txs.rlp": toHex(encodeRlpList(bodies)),
  };
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(content));
  const options = [
    ["--input.alloc", "alloc.json", "--input.env", "env.json", "--input.txs", "txs.rlp"],
    ["--output.result", "result.json", "--output.alloc", ""],
    // No reward: one of zero would still create an account in the early forks.
    ["--state.fork", fork, "--state.reward", "-1"],
  ];
  await promisify(execFile)(COMMAND, ["t8n", ...options.flat()], { cwd: folder });
  const result = JSON.parse(readFileSync(join(folder, "result.json"), "utf8")) as TransitionResult;
  return {
    root: result.stateRoot,
    receipts: (result.receipts ?? []).map(({ gasUsed, status, logs }) => ({
      gasUsed: BigInt(gasUsed),
      hasSucceeded: status === "0x1",
      logs: (logs ?? []).map(({ address, topics, data }) => [address, ...topics, data].join(" ")).join("\n"),
    })),
    rejected: (result.rejected ?? []).map(({ index }) => index),
  };
}

interface TransitionResult {
  readonly stateRoot: string;
  readonly receipts:
    | readonly {
        readonly gasUsed: string;
        readonly status: string;
        readonly logs:
          | readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[]
          | null;
      }[]
    | null;
  readonly rejected?: readonly { readonly index: number }[];
}
